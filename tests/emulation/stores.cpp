/* cudaccl - emulation: stores that other threads see late
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device may show a thread's plain stores to others in any order until a fence. So some stores to
 * global memory are delayed: first for other threads, from the block's next barrier on for other
 * blocks, at most until the kernel ends. Threads run one at a time, so a delayed store can be in
 * memory while its own thread, or block, runs, and what the others see is put back at each switch.
 */

#include "tests/emulation/emulation.h"

#define MOST_OF_THREAD 8
#define MOST_OF_BLOCK 64

static void
exchange (DelayedStore *store)
{
  uint64_t now = *store->word;

  *store->word = (now & ~store->bytes) | (store->value & store->bytes);
  store->value = now;
}

static void
put_in_place (std::vector<DelayedStore> *stores)
{
  for (size_t i = 0; i < stores->size (); i++)
    exchange (&(*stores)[i]);
}

static void
take_back (std::vector<DelayedStore> *stores)
{
  for (size_t i = stores->size (); i-- > 0;)
    exchange (&(*stores)[i]);
}

void
stores_enter_thread (Thread *thread)
{
  put_in_place (&thread->stores);
}

void
stores_leave_thread (Thread *thread)
{
  take_back (&thread->stores);
}

void
stores_enter_block (Block *block)
{
  put_in_place (&block->stores);
}

void
stores_leave_block (Block *block)
{
  take_back (&block->stores);
}

/* The bytes of a word from @begin up to, without, @end. */
static uint64_t
bytes_between (size_t begin, size_t end)
{
  uint64_t below = end >= 8 ? UINT64_MAX : (1ull << end * 8) - 1;

  return below & ~(begin >= 8 ? UINT64_MAX : (1ull << begin * 8) - 1);
}

/* Lets go of the stores to some bytes: what is in memory stays. */
static void
release_bytes (std::vector<DelayedStore> *stores, uint64_t *word, uint64_t bytes)
{
  for (size_t i = stores->size (); i-- > 0;) {
    DelayedStore *store = &(*stores)[i];

    if (store->word != word)
      continue;
    store->bytes &= ~bytes;
    if (!store->bytes)
      stores->erase (stores->begin () + (ptrdiff_t) i);
  }
}

/* Both are in place: later stores to the same bytes replace the block's. */
static void
release (Thread *thread)
{
  for (DelayedStore &store : thread->stores)
    release_bytes (&thread->block->stores, store.word, store.bytes);
  thread->stores.clear ();
}

static void
delay (Thread *thread, uint64_t *word, uint64_t bytes)
{
  for (DelayedStore &store : thread->stores) {
    if (store.word == word) {
      /* As in memory now, as far as it has not been stored before. */
      store.value = (store.value & store.bytes) | (*word & ~store.bytes);
      store.bytes |= bytes;
      return;
    }
  }
  if (thread->stores.size () < MOST_OF_THREAD)
    thread->stores.push_back ({ word, bytes, *word });
}

void
stores_begin (void *address, size_t size)
{
  size_t offset = (uintptr_t) address % 8;
  uint64_t *word = (uint64_t *) ((char *) address - offset);

  if (!options_get ()->delay_stores || random_next () & 3)
    return;
  for (size_t end = offset + size;; word++, offset = 0, end -= 8) {
    delay (current, word, bytes_between (offset, end));
    if (end <= 8)
      break;
  }
}

void
stores_commit (const void *address, size_t size)
{
  size_t offset = (uintptr_t) address % 8;
  uint64_t *word = (uint64_t *) ((char *) address - offset);

  if (current->stores.empty () && current->block->stores.empty ())
    return;
  for (size_t end = offset + size;; word++, offset = 0, end -= 8) {
    uint64_t bytes = bytes_between (offset, end);

    release_bytes (&current->stores, word, bytes);
    release_bytes (&current->block->stores, word, bytes);
    if (end <= 8)
      break;
  }
}

void
stores_publish_in_block (Thread *thread)
{
  Block *block = thread->block;

  if (thread->stores.empty ())
    return;
  /* The running thread's are in place already. Its own come behind those of others, so take them
   * back first where another thread's are added. */
  if (thread != current) {
    if (current && current->block == block)
      take_back (&current->stores);
    put_in_place (&thread->stores);
  }
  block->stores.insert (block->stores.end (), thread->stores.begin (), thread->stores.end ());
  thread->stores.clear ();
  if (thread != current && current && current->block == block)
    put_in_place (&current->stores);
  /* A block's are few: the oldest are visible by now. */
  while (block->stores.size () > MOST_OF_BLOCK && current && current->stores.empty ()) {
    DelayedStore *oldest = &block->stores.front ();

    release_bytes (&block->stores, oldest->word, UINT64_MAX);
  }
}

void
stores_publish (void)
{
  release (current);
  current->block->stores.clear ();
}

void
stores_thread_ended (Thread *thread)
{
  stores_publish_in_block (thread);
}

/* A store of a block without a fence need not be visible before its kernel has ended. */
void
stores_block_ended (Block *block)
{
  std::vector<DelayedStore> *late = &block->grid->stores;

  if (random_next () & 1) {
    take_back (&block->stores);
    late->insert (late->end (), block->stores.begin (), block->stores.end ());
  }
  block->stores.clear ();
}

void
stores_kernel_ended (Grid *grid)
{
  put_in_place (&grid->stores);
  grid->stores.clear ();
}
