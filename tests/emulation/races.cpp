/* cudaccl - emulation: which accesses to shared memory come before which
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All accesses before a __syncthreads() come before those after it: that is a round. Within a round
 * a thread counts epochs, one for each barrier it passes, and knows up to which epoch the accesses
 * of other threads come before its own: of its warp by __syncwarp(), of others by named barriers.
 */

#include "tests/emulation/emulation.h"

void
races_begin (Thread *thread)
{
  thread->epoch = 1;
  thread->seen_round = 0;
  memset (thread->seen, 0, sizeof thread->seen);
  thread->known = NULL;
}

/* Forgets what is of an earlier round. */
static void
start_round (Thread *thread)
{
  if (thread->seen_round == thread->block->round)
    return;
  thread->seen_round = thread->block->round;
  memset (thread->seen, 0, sizeof thread->seen);
  thread->known = NULL;
}

Access
races_access (const Thread *thread, uint8_t bytes, const void *where)
{
  return { thread->block->round,      thread->epoch, thread->block->warps[thread->warp].turn,
           (uint16_t) thread->number, bytes,         where };
}

bool
races_is_before (const Access *access, const Thread *thread)
{
  uint32_t other = access->thread;

  if (other == thread->number || access->round < thread->block->round)
    return true;
  if (thread->seen_round < thread->block->round)
    return false;
  if (other / LANES == thread->warp && access->epoch <= thread->seen[other % LANES])
    return true;
  return thread->known && access->epoch <= (*thread->known)[other];
}

bool
races_is_read_before (const Access *access, const Thread *thread)
{
  return races_is_before (access, thread) ||
         (access->thread / LANES == thread->warp &&
          access->turn < thread->block->warps[thread->warp].turn);
}

void
races_sync_block (Block *block)
{
  block->round++;
}

/* Adds what a thread knows. */
static void
add_known (std::vector<uint32_t> *known, const Thread *thread)
{
  uint32_t first = thread->warp * LANES;

  for (uint32_t i = 0; i < LANES && first + i < known->size (); i++)
    (*known)[first + i] = max ((*known)[first + i], thread->seen[i]);
  (*known)[thread->number] = max ((*known)[thread->number], thread->epoch);
}

void
races_sync_threads (const std::vector<Thread *> &threads)
{
  Epochs known = std::make_shared<std::vector<uint32_t>> (threads[0]->block->n);
  const std::vector<uint32_t> *last = NULL;

  for (Thread *thread : threads) {
    start_round (thread);
    add_known (&*known, thread);
    if (thread->known && &*thread->known != last) {
      last = &*thread->known;
      for (size_t i = 0; i < last->size (); i++)
        (*known)[i] = max ((*known)[i], (*last)[i]);
    }
  }
  for (Thread *thread : threads) {
    thread->known = known;
    thread->epoch++;
  }
}

void
races_sync_warp (Thread *lanes, uint32_t mask)
{
  uint32_t seen[LANES] = {};
  Epochs known;
  bool differ = false;

  for (uint32_t i = 0; i < LANES; i++) {
    if (!(mask >> i & 1))
      continue;
    start_round (&lanes[i]);
    for (uint32_t k = 0; k < LANES; k++)
      seen[k] = max (seen[k], lanes[i].seen[k]);
    seen[i] = max (seen[i], lanes[i].epoch);
    differ |= known && lanes[i].known && known != lanes[i].known;
    known = known ? known : lanes[i].known;
  }
  if (differ) {
    known = std::make_shared<std::vector<uint32_t>> (*known);
    for (uint32_t i = 0; i < LANES; i++) {
      for (size_t k = 0; mask >> i & 1 && lanes[i].known && k < known->size (); k++)
        (*known)[k] = max ((*known)[k], (*lanes[i].known)[k]);
    }
  }
  for (uint32_t i = 0; i < LANES; i++) {
    if (!(mask >> i & 1))
      continue;
    memcpy (lanes[i].seen, seen, sizeof seen);
    lanes[i].known = known;
    lanes[i].epoch++;
  }
}
