/* cudaccl - emulation: shared memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Dynamic shared memory has an address of its own in each block. Static shared memory is a section
 * of the program: what a block has touched of it is exchanged when another block runs. Both are
 * watched in lines: which bytes have been written, and the last accesses to each word. */

#include "tests/emulation/emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE_BYTES 256
#define WORD_BYTES 4
#define DYNAMIC_BYTES ((size_t) 256 * 1024) /* of a block, at most */
#define MOST_BLOCKS 4096

/* The section's ends, from the linker. */
extern char section_begin[] __asm__("__start_emulated_shared") __attribute__ ((weak));
extern char section_end[] __asm__("__stop_emulated_shared") __attribute__ ((weak));

struct Word
{
  Access write, reads[2];
  bool written, read[2];
  uint32_t strong; /* the last round with atomics or volatile accesses, plus one */
};

struct SharedLine
{
  char *address; /* of static memory, else NULL */
  char saved[LINE_BYTES];
  uint8_t initialised[LINE_BYTES];
  Word words[LINE_BYTES / WORD_BYTES];
};

static char *dynamic_arena;
static std::vector<char *> free_dynamic;
static std::vector<SharedLine *> free_lines;
static size_t n_dynamic;

static size_t
section_size (void)
{
  return (size_t) (section_end - section_begin);
}

static size_t
lines_of (size_t bytes)
{
  return (bytes + LINE_BYTES - 1) / LINE_BYTES;
}

void
shared_begin (Block *block)
{
  if (free_dynamic.empty ()) {
    if (!dynamic_arena)
      dynamic_arena = (char *) mmap (NULL, DYNAMIC_BYTES * MOST_BLOCKS, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (dynamic_arena == MAP_FAILED || n_dynamic == MOST_BLOCKS) {
      fprintf (stderr, "emulation: no room for shared memory\n");
      abort ();
    }
    free_dynamic.push_back (dynamic_arena + n_dynamic++ * DYNAMIC_BYTES);
  }
  block->dynamic = free_dynamic.back ();
  free_dynamic.pop_back ();
  block->touched.clear ();
  block->lines.assign (lines_of (section_size ()) + lines_of (block->grid->shared), NULL);
}

void
shared_end (Block *block)
{
  for (SharedLine *line : block->lines) {
    if (line)
      free_lines.push_back (line);
  }
  free_dynamic.push_back (block->dynamic);
}

static void
exchange (Block *block)
{
  char other[LINE_BYTES];

  for (SharedLine *line : block->touched) {
    size_t size = (size_t) (section_end - line->address);

    size = size < LINE_BYTES ? size : LINE_BYTES;
    memcpy (other, line->address, size);
    memcpy (line->address, line->saved, size);
    memcpy (line->saved, other, size);
  }
}

void
shared_enter (Block *block)
{
  exchange (block);
}

void
shared_leave (Block *block)
{
  exchange (block);
}

/* A line when it is touched for the first time. */
static SharedLine *
line_new (Block *block, size_t index)
{
  SharedLine *line;

  if (free_lines.empty ())
    free_lines.push_back (new SharedLine ());
  line = free_lines.back ();
  free_lines.pop_back ();
  line->address = NULL;
  memset (line->initialised, 0, sizeof line->initialised);
  memset (line->words, 0, sizeof line->words);
  if (index < lines_of (section_size ())) {
    /* What another block left is in place, and may have to be there again. */
    line->address = section_begin + index * LINE_BYTES;
    memset (line->saved, 0xcd, sizeof line->saved);
    block->touched.push_back (line);
  }
  block->lines[index] = line;
  return line;
}

[[noreturn]] static void
report_race (const void *address, const Access *before, bool wrote, bool writes, const void *where)
{
  report (where,
          "race in shared memory at %p: this thread %s what thread %u has %s, without a "
          "barrier between them",
          address, writes ? "writes" : "reads", before->thread, wrote ? "written" : "read");
}

/* Lanes of a warp may store to one place at once, where one of them wins. */
static bool
is_same_store (const Access *a, const Access *b)
{
  return a->where == b->where && a->thread / LANES == b->thread / LANES;
}

static void
check_write (Word *word, const Access *access, const void *address, const void *where)
{
  if (word->written && word->write.bytes & access->bytes &&
      !races_is_before (&word->write, current) && !is_same_store (&word->write, access))
    report_race (address, &word->write, true, true, where);
  for (int i = 0; i < 2; i++) {
    if (word->read[i] && word->reads[i].bytes & access->bytes &&
        !races_is_before (&word->reads[i], current))
      report_race (address, &word->reads[i], false, true, where);
  }
  word->write = *access;
  word->written = true;
  word->read[0] = word->read[1] = false;
}

static void
check_read (Word *word, const Access *access, const void *address, const void *where)
{
  if (word->written && word->write.bytes & access->bytes &&
      !races_is_before (&word->write, current))
    report_race (address, &word->write, true, false, where);
  if (word->read[0] && word->reads[0].thread != access->thread) {
    word->reads[1] = word->reads[0];
    word->read[1] = true;
  }
  word->reads[0] = *access;
  word->read[0] = true;
}

static void
check_word (Word *word, const void *address, size_t offset, size_t size, SharedAccess kind,
            const void *where)
{
  Access access = races_access (current, (uint8_t) (((1u << size) - 1) << offset), where);

  /* Atomics and volatile accesses race on purpose, until the next barrier with plain ones, too. */
  if (word->strong == current->block->round + 1)
    return;
  if (kind == SHARED_STRONG)
    word->strong = current->block->round + 1;
  if (kind == SHARED_WRITE)
    check_write (word, &access, address, where);
  else
    check_read (word, &access, address, where);
}

bool
shared_check (const void *address, size_t size, SharedAccess kind, bool write, const void *where)
{
  Block *block = current->block;
  const char *at = (const char *) address;
  size_t offset, first = 0;

  if (at >= section_begin && at < section_end) {
    offset = (size_t) (at - section_begin);
  } else if (dynamic_arena && (size_t) (at - dynamic_arena) < DYNAMIC_BYTES * MOST_BLOCKS) {
    offset = (size_t) (at - block->dynamic);
    first = lines_of (section_size ());
    if (at < block->dynamic || offset + size > block->grid->shared)
      report (where, "%s of %zu bytes, %td bytes into %zu bytes of dynamic shared memory",
              write ? "write" : "read", size, at - block->dynamic, block->grid->shared);
  } else {
    return false;
  }
  while (size > 0) {
    size_t index = first + offset / LINE_BYTES, in_line = offset % LINE_BYTES;
    size_t n = WORD_BYTES - in_line % WORD_BYTES;
    SharedLine *line = block->lines[index] ? block->lines[index] : line_new (block, index);

    n = n < size ? n : size;
    if (write) {
      memset (line->initialised + in_line, 1, n);
    } else if (options_get ()->find_uninitialised) {
      for (size_t i = 0; i < n; i++) {
        if (!line->initialised[in_line + i])
          report (where, "read of shared memory at %p that nothing has written", at + i);
      }
    }
    if (options_get ()->find_races)
      check_word (&line->words[in_line / WORD_BYTES], at, in_line % WORD_BYTES, n, kind, where);
    offset += n;
    size -= n;
    at += n;
  }
  return true;
}
