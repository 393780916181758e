/* cudaccl - tests: calls of files that fail
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A library that stands before the C library: calls that concern files below a folder are counted,
 * and fail when it is told. A program gets it by LD_PRELOAD, and what fails from a file that
 * IO_FAULT names, which others may change while it runs; a test links it. */

#ifndef TESTS_LIB_IO_FAULT_H
#define TESTS_LIB_IO_FAULT_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

/* Kinds of calls. */
#define IO_FAULT_KINDS(X) \
  X (OPEN, open)          \
  X (WRITE, write)        \
  X (PWRITE, pwrite)      \
  X (WRITEV, writev)      \
  X (SYNC, fsync)         \
  X (RENAME, rename)      \
  X (TRUNCATE, ftruncate) \
  X (ALLOCATE, fallocate) \
  X (MAP, mmap)           \
  X (READ, read)

#define IO_FAULT_KIND(kind, name) IO_FAULT_##kind,
typedef enum
{
  IO_FAULT_KINDS (IO_FAULT_KIND) IO_FAULT_N_KINDS
} IoFaultKind;
#undef IO_FAULT_KIND

#define IO_FAULT_ALL ((1u << IO_FAULT_N_KINDS) - 1)
#define IO_FAULT_READS (1u << IO_FAULT_READ)
#define IO_FAULT_WRITES (1u << IO_FAULT_WRITE | 1u << IO_FAULT_PWRITE | 1u << IO_FAULT_WRITEV)

#define IO_FAULT_TRACE 32768

/* In memory that processes share. */
typedef struct
{
  char folder[PATH_MAX]; /* absolute; empty: nothing is counted */
  unsigned kinds;        /* bits of kinds that count */
  unsigned failing;      /* bits of those that may fail; 0: all */
  int error;             /* errno of those that fail; 0: they only write less */
  int partial;           /* the first writes half before it fails, as on a disk that gets full */
  _Atomic int64_t fail_at, fail_end; /* calls [fail_at, fail_end) fail */
  _Atomic int64_t calls, failed;
  _Atomic int64_t space; /* free bytes that the file system has; 0: as many as it has */
  char first[256];       /* the first that failed: its kind and the file */
  struct
  {
    uint8_t kind, file; /* `file`: a hash of the end of the file's name */
  } trace[IO_FAULT_TRACE];
} IoFault;

/* The `file` of a trace for a path. */
uint8_t io_fault_hash (const char *path);

/* NULL: all calls go through. */
extern IoFault *io_fault;

/* Called before each call that counts, in its thread; or NULL. */
extern void (*io_fault_hook) (IoFaultKind kind, const char *path);

#endif /* TESTS_LIB_IO_FAULT_H */
