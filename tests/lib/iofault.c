/* cudaccl - tests: calls of files that fail
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* These make other functions of some. */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#undef _FORTIFY_SOURCE

#include "tests/lib/iofault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

/* Programs and libraries must find these. */
#pragma GCC visibility push(default)

IoFault *io_fault;
void (*io_fault_hook) (IoFaultKind kind, const char *path);

static const char *const kind_names[] = {
#define IO_FAULT_KIND_NAME(kind, name) #name,
  IO_FAULT_KINDS (IO_FAULT_KIND_NAME)
#undef IO_FAULT_KIND_NAME
};

/* The function of the C library, or of a sanitizer, that has the name of this one. */
#define REAL(name) static __typeof__ (name) *real
#define FIND(name)                                                    \
  do {                                                                \
    if (!real)                                                        \
      real = (__typeof__ (real)) (intptr_t) dlsym (RTLD_NEXT, #name); \
  } while (0)

__attribute__ ((constructor)) static void
start (void)
{
  const char *path = getenv ("IO_FAULT");
  const int fd = path ? open (path, O_RDWR | O_CLOEXEC) : -1;
  void *memory;

  if (fd < 0)
    return;
  memory = mmap (NULL, sizeof *io_fault, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  if (memory != MAP_FAILED)
    io_fault = memory;
}

typedef enum
{
  PASS,
  FAIL,
  HALF
} Verdict;

static bool
is_below (const char *path)
{
  const size_t length = strlen (io_fault->folder);

  return length && strncmp (path, io_fault->folder, length) == 0 &&
         (path[length] == '/' || !path[length]);
}

/* Files of one kind have the same end, after the last of `.`, `-` and `/`; that of temporary ones
 * follows another, and is random. */
uint8_t
io_fault_hash (const char *path)
{
  const char *end = path + strlen (path);
  unsigned hash = 5381;

  while (end > path && !strchr ("./-", end[-1]))
    end--;
  if (strlen (end) == 6 && end - path > 5 && end[-5] == '.')
    return 0;
  for (; *end; end++)
    hash = hash * 33 + (unsigned char) *end;
  return (uint8_t) hash;
}

static Verdict
count (IoFaultKind kind, const char *path)
{
  IoFault *fault = io_fault;
  int64_t number;

  if (!fault || !(fault->kinds & 1u << kind) || !is_below (path))
    return PASS;
  if (io_fault_hook)
    io_fault_hook (kind, path);
  number = fault->calls++;
  if (number < IO_FAULT_TRACE) {
    fault->trace[number].kind = (uint8_t) kind;
    fault->trace[number].file = io_fault_hash (path);
  }
  if (number < fault->fail_at || number >= fault->fail_end ||
      (fault->failing && !(fault->failing & 1u << kind)))
    return PASS;
  if (fault->failed++ == 0) {
    const size_t length = strlen (fault->folder);

    snprintf (fault->first, sizeof fault->first, "%s %.200s", kind_names[kind], path + length);
    if (fault->partial && 1u << kind & IO_FAULT_WRITES)
      return HALF;
  }
  if (!fault->error)
    return 1u << kind & IO_FAULT_WRITES ? HALF : PASS;
  errno = fault->error;
  return FAIL;
}

/* Sets @path to that of an open file, which has ` (deleted)` behind it if it was removed. */
static bool
get_path (int fd, char path[PATH_MAX])
{
  char link[32];
  const int before = errno;
  ssize_t n;

  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink (link, path, PATH_MAX - 1);
  errno = before;
  if (n < 0)
    return false;
  path[n] = '\0';
  return true;
}

static Verdict
count_fd (IoFaultKind kind, int fd)
{
  char path[PATH_MAX];

  if (!io_fault || !(io_fault->kinds & 1u << kind) || fd < 0 || !get_path (fd, path))
    return PASS;
  return count (kind, path);
}

/* Half of a byte is a byte: a write of none is no progress. */
static size_t
halve (size_t size)
{
  return size > 1 ? size / 2 : size;
}

ssize_t
write (int fd, const void *data, size_t size)
{
  REAL (write);
  const Verdict verdict = count_fd (IO_FAULT_WRITE, fd);

  FIND (write);
  return verdict == FAIL ? -1 : real (fd, data, verdict == HALF ? halve (size) : size);
}

#define PWRITE(name, type)                                                                        \
  ssize_t name (int fd, const void *data, size_t size, type offset)                               \
  {                                                                                               \
    REAL (name);                                                                                  \
    const Verdict verdict = count_fd (IO_FAULT_PWRITE, fd);                                       \
                                                                                                  \
    FIND (name);                                                                                  \
    return verdict == FAIL ? -1 : real (fd, data, verdict == HALF ? halve (size) : size, offset); \
  }

PWRITE (pwrite, off_t)
PWRITE (pwrite64, off64_t)

ssize_t
writev (int fd, const struct iovec *parts, int n)
{
  REAL (writev);
  const Verdict verdict = count_fd (IO_FAULT_WRITEV, fd);

  FIND (writev);
  if (verdict == HALF && n > 0) {
    const struct iovec half = { parts[0].iov_base, halve (parts[0].iov_len) };

    return real (fd, &half, 1);
  }
  return verdict == FAIL ? -1 : real (fd, parts, n);
}

/* A call that fails or not: its kind, result, result if it fails, parameters, arguments and file.
 */
#define CALL(kind, result, failure, name, parameters, arguments, file)          \
  result name parameters                                                        \
  {                                                                             \
    REAL (name);                                                                \
                                                                                \
    FIND (name);                                                                \
    return count_fd (IO_FAULT_##kind, file) == FAIL ? failure : real arguments; \
  }

CALL (SYNC, int, -1, fsync, (int fd), (fd), fd)
CALL (SYNC, int, -1, fdatasync, (int fd), (fd), fd)
CALL (TRUNCATE, int, -1, ftruncate, (int fd, off_t size), (fd, size), fd)
CALL (TRUNCATE, int, -1, ftruncate64, (int fd, off64_t size), (fd, size), fd)
CALL (ALLOCATE, int, -1, fallocate, (int fd, int mode, off_t offset, off_t size),
      (fd, mode, offset, size), fd)
CALL (ALLOCATE, int, -1, fallocate64, (int fd, int mode, off64_t offset, off64_t size),
      (fd, mode, offset, size), fd)
CALL (MAP, void *, MAP_FAILED, mmap,
      (void *address, size_t size, int protection, int flags, int fd, off_t offset),
      (address, size, protection, flags, fd, offset), fd)
CALL (MAP, void *, MAP_FAILED, mmap64,
      (void *address, size_t size, int protection, int flags, int fd, off64_t offset),
      (address, size, protection, flags, fd, offset), fd)
CALL (READ, ssize_t, -1, read, (int fd, void *data, size_t size), (fd, data, size), fd)
CALL (READ, ssize_t, -1, pread, (int fd, void *data, size_t size, off_t offset),
      (fd, data, size, offset), fd)
CALL (READ, ssize_t, -1, pread64, (int fd, void *data, size_t size, off64_t offset),
      (fd, data, size, offset), fd)

int
rename (const char *from, const char *to)
{
  REAL (rename);

  FIND (rename);
  return count (IO_FAULT_RENAME, to) == FAIL ? -1 : real (from, to);
}

#define STATVFS(name, type)                                                \
  int name (const char *path, struct type *space)                          \
  {                                                                        \
    int result;                                                            \
    REAL (name);                                                           \
                                                                           \
    FIND (name);                                                           \
    result = real (path, space);                                           \
    if (io_fault && io_fault->space && is_below (path))                    \
      space->f_bavail = (unsigned long) io_fault->space / space->f_frsize; \
    return result;                                                         \
  }

/* Of a file that is open, which may be removed. */
#define FSTATVFS(name, type)                                                   \
  int name (int fd, struct type *space)                                        \
  {                                                                            \
    char path[PATH_MAX];                                                       \
    int result;                                                                \
    REAL (name);                                                               \
                                                                               \
    FIND (name);                                                               \
    result = real (fd, space);                                                 \
    if (io_fault && io_fault->space && get_path (fd, path) && is_below (path)) \
      space->f_bavail = (unsigned long) io_fault->space / space->f_frsize;     \
    return result;                                                             \
  }

STATVFS (statvfs, statvfs)
STATVFS (statvfs64, statvfs64)
FSTATVFS (fstatvfs, statvfs)
FSTATVFS (fstatvfs64, statvfs64)

/* Only those that make a file, or may, count. */
#define OPEN(name, parameters, arguments)                                                \
  int name parameters                                                                    \
  {                                                                                      \
    REAL (name);                                                                         \
    mode_t mode = 0;                                                                     \
    va_list args;                                                                        \
                                                                                         \
    FIND (name);                                                                         \
    va_start (args, flags);                                                              \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)                             \
      mode = va_arg (args, mode_t);                                                      \
    va_end (args);                                                                       \
    return flags & O_CREAT && count (IO_FAULT_OPEN, path) == FAIL ? -1 : real arguments; \
  }

OPEN (open, (const char *path, int flags, ...), (path, flags, mode))
OPEN (open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN (openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN (openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define FOPEN(name)                                                                          \
  FILE *name (const char *path, const char *mode)                                            \
  {                                                                                          \
    REAL (name);                                                                             \
                                                                                             \
    FIND (name);                                                                             \
    return mode[0] != 'r' && count (IO_FAULT_OPEN, path) == FAIL ? NULL : real (path, mode); \
  }

FOPEN (fopen)
FOPEN (fopen64)

#pragma GCC visibility pop
