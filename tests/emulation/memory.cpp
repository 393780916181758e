/* cudaccl - emulation: device and page-locked memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of it is in one range of addresses, with as many shadow bytes behind it: one for each byte,
 * which says whether it may be accessed and whether it has been written. Between allocations are
 * inaccessible pages, so that the host's code, too, crashes outside. Addresses are used again as
 * late as possible. */

#include "tests/emulation/emulation.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t) 1 << 36)

enum
{
  OUTSIDE = 0,
  ALLOCATED = 1,
  INITIALISED = 3,
};

struct Allocation
{
  size_t size, pages; /* in bytes */
  bool host;
  uint32_t number;
};

static char *arena;
static uint8_t *shadow;
static std::map<char *, Allocation> allocations;
static size_t cursor, used;
static uint32_t n_allocations;

static void
reserve (void)
{
  if (arena)
    return;
  arena = (char *) mmap (NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0);
  shadow = (uint8_t *) mmap (NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED || shadow == MAP_FAILED) {
    fprintf (stderr, "emulation: no address space for device memory\n");
    abort ();
  }
}

/* The first free range behind the last one, with a page before and behind it. */
static char *
find_room (size_t pages, size_t page)
{
  for (int round = 0; round < 2; round++) {
    auto next = allocations.lower_bound (arena + cursor);

    while (cursor + pages + page <= ARENA_BYTES) {
      if (next == allocations.end () || arena + cursor + pages + page <= next->first) {
        char *room = arena + cursor + page;

        cursor += pages + page;
        return room;
      }
      cursor = (size_t) (next->first - arena) + next->second.pages;
      ++next;
    }
    cursor = 0;
  }
  return NULL;
}

size_t
memory_available (void)
{
  return options_get ()->memory - used;
}

void *
memory_allocate (size_t size, bool host)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE), pages = (size + page - 1) / page * page;
  char *room;

  reserve ();
  if (size == 0 || (!host && size > memory_available ()) || pages > ARENA_BYTES / 4)
    return NULL;
  room = find_room (pages, page);
  if (!room || mprotect (room, pages, PROT_READ | PROT_WRITE) != 0)
    return NULL;
  /* Writes of the host into its own memory cannot be seen. */
  memset (shadow + (room - arena), host ? INITIALISED : ALLOCATED, size);
  allocations[room] = { size, pages, host, ++n_allocations };
  if (!host)
    used += size;
  return room;
}

bool
memory_free (void *pointer, bool host)
{
  auto found = allocations.find ((char *) pointer);

  if (found == allocations.end () || found->second.host != host)
    return false;
  if (!host)
    used -= found->second.size;
  madvise (pointer, found->second.pages, MADV_DONTNEED);
  mprotect (pointer, found->second.pages, PROT_NONE);
  memset (shadow + ((char *) pointer - arena), OUTSIDE, found->second.size);
  allocations.erase (found);
  return true;
}

bool
memory_owns (const void *address)
{
  return (size_t) ((const char *) address - arena) < ARENA_BYTES && arena;
}

/* The allocation at or before an address. */
static const std::pair<char *const, Allocation> *
allocation_before (const void *address)
{
  auto next = allocations.upper_bound ((char *) address);

  return next == allocations.begin () ? NULL : &*--next;
}

bool
memory_find (const void *address, size_t size, bool *host)
{
  const auto *found = allocation_before (address);

  if (!found || (const char *) address + size > found->first + found->second.size)
    return false;
  if (host)
    *host = found->second.host;
  return true;
}

/* Checks */

[[noreturn]] static void
report_outside (const void *address, size_t size, bool write, const void *where)
{
  const auto *found = allocation_before (address);
  const char *kind = write ? "write" : "read";

  if (!found)
    report (where, "%s of %zu bytes at %p, which is in no allocation", kind, size, address);
  report (where, "%s of %zu bytes at %p, %zu bytes into allocation %u of %zu bytes%s", kind, size,
          address, (size_t) ((const char *) address - found->first), found->second.number,
          found->second.size, found->second.host ? " (page-locked)" : "");
}

[[noreturn]] static void
report_uninitialised (const void *address, size_t size, const void *where)
{
  const auto *found = allocation_before (address);

  report (where,
          "read of %zu bytes at %p, %zu bytes into allocation %u of %zu bytes, that nothing "
          "has written",
          size, address, (size_t) ((const char *) address - found->first), found->second.number,
          found->second.size);
}

void
memory_check (const void *address, size_t size, bool write, const void *where)
{
  uint8_t *state = shadow + ((const char *) address - arena), all = INITIALISED;

  for (size_t i = 0; i < size; i++)
    all &= state[i];
  if (all == INITIALISED)
    return;
  if (!(all & ALLOCATED))
    report_outside (address, size, write, where);
  if (write)
    memset (state, INITIALISED, size);
  else if (options_get ()->find_uninitialised)
    report_uninitialised (address, size, where);
}

void
memory_set_initialised (void *address, size_t size)
{
  if (memory_owns (address))
    memset (shadow + ((char *) address - arena), INITIALISED, size);
}

void
memory_copy_initialised (void *to, const void *from, size_t size, const char *what)
{
  const uint8_t *state = shadow + ((const char *) from - arena);
  bool host;

  if (!memory_owns (from)) {
    memory_set_initialised (to, size);
    return;
  }
  if (memory_owns (to) && memory_find (to, size, &host) && !host) {
    memcpy (shadow + ((char *) to - arena), state, size);
    return;
  }
  if (!options_get ()->find_uninitialised)
    return;
  for (size_t i = 0; i < size; i++) {
    if (state[i] != INITIALISED)
      report (NULL, "%s transfers %zu bytes to the host, of which byte %zu has not been written",
              what, size, i);
  }
}
