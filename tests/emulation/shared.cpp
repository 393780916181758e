/* cudaccl - emulation: shared memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each block has its own: static variables, with a gap behind each, and dynamic memory. It is
 * watched in lines: which bytes have been written, and the last accesses to each word. */

#include "tests/emulation/emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE_BYTES 256
#define WORD_BYTES 4
#define STATIC_BYTES ((size_t) 64 * 1024) /* of a block, at most */
#define BLOCK_BYTES ((size_t) 320 * 1024)
#define GAP_BYTES 64
#define MOST_BLOCKS 4096

struct Word
{
  Access write, reads[2];
  bool written, read[2];
  uint32_t strong; /* the last round with atomics or volatile accesses, plus one */
};

struct SharedLine
{
  uint8_t initialised[LINE_BYTES];
  Word words[LINE_BYTES / WORD_BYTES];
};

static char *arena;
static std::vector<char *> free_memory;
static std::vector<SharedLine *> free_lines;
static size_t n_memory;

static bool
owns (const void *address)
{
  return arena && (size_t) ((const char *) address - arena) < n_memory * BLOCK_BYTES;
}

void
shared_begin (Block *block)
{
  if (free_memory.empty ()) {
    if (!arena)
      arena = (char *) mmap (NULL, BLOCK_BYTES * MOST_BLOCKS, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED || n_memory == MOST_BLOCKS) {
      fprintf (stderr, "emulation: no room for shared memory\n");
      abort ();
    }
    free_memory.push_back (arena + n_memory++ * BLOCK_BYTES);
  }
  block->memory = free_memory.back ();
  free_memory.pop_back ();
  block->variables.clear ();
  block->lines.assign ((STATIC_BYTES + block->grid->shared + LINE_BYTES - 1) / LINE_BYTES, NULL);
}

void
shared_end (Block *block)
{
  for (SharedLine *line : block->lines) {
    if (line)
      free_lines.push_back (line);
  }
  free_memory.push_back (block->memory);
}

/* A variable gets its place when the block's first thread comes to it. */
void *
emulated_static_memory (const void *key, size_t size)
{
  Block *block = current->block;
  size_t offset = 0;

  for (const SharedVariable &v : block->variables) {
    if (v.key == key)
      return block->memory + v.offset;
    offset = (v.offset + v.size + GAP_BYTES + 15) / 16 * 16;
  }
  if (offset + size > STATIC_BYTES)
    report (__builtin_return_address (0), "static shared memory of more than %zu bytes",
            STATIC_BYTES);
  block->variables.push_back ({ key, offset, size });
  return block->memory + offset;
}

void *
emulated_dynamic_memory (void)
{
  return current->block->memory + STATIC_BYTES;
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
  memset (line, 0, sizeof *line);
  block->lines[index] = line;
  return line;
}

static void
check_inside (const Block *block, size_t offset, size_t size, bool write, const void *where)
{
  const char *kind = write ? "write" : "read";

  if (offset >= STATIC_BYTES) {
    if (offset - STATIC_BYTES + size > block->grid->shared)
      report (where, "%s of %zu bytes at offset %zu of %zu bytes of dynamic shared memory", kind,
              size, offset - STATIC_BYTES, block->grid->shared);
    return;
  }
  for (const SharedVariable &v : block->variables) {
    if (offset >= v.offset && offset + size <= v.offset + v.size)
      return;
  }
  report (where, "%s of %zu bytes outside of the variables in shared memory", kind, size);
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
        !races_is_read_before (&word->reads[i], current))
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
  size_t offset = (size_t) (at - block->memory);

  if (!owns (address))
    return false;
  if (offset >= BLOCK_BYTES)
    report (where, "an access to the shared memory of another block");
  check_inside (block, offset, size, write, where);
  while (size > 0) {
    size_t index = offset / LINE_BYTES, in_line = offset % LINE_BYTES;
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
