/* cudaccl - emulation: barriers of blocks and grids, and kernels that follow each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/emulation/emulation.h"

/* How many threads pass a barrier together. __syncthreads() is barrier 0, for all that have not
 * ended. */
static uint32_t
threads_of (const Block *block, const Barrier *barrier)
{
  return barrier->threads ? barrier->threads : block->live;
}

static void
pass (Block *block, Barrier *barrier)
{
  std::vector<Thread *> threads;

  barrier->result_any = barrier->any;
  barrier->result_count = barrier->count;
  barrier->arrived = barrier->count = 0;
  barrier->any = false;
  threads.swap (barrier->waiting);
  for (Thread *thread : threads)
    stores_publish_in_block (thread);
  if (threads.size () == block->live)
    races_sync_block (block);
  else
    races_sync_threads (threads);
  for (Thread *thread : threads) {
    if (thread != current)
      scheduler_wake (thread);
  }
  threads.clear ();
}

uint32_t
emulated_sync (uint32_t number, uint32_t threads, bool predicate, bool count)
{
  Block *block = current->block;
  Barrier *barrier = &block->barriers[number % BARRIERS];

  current->where = __builtin_return_address (0);
  current->barrier = number;
  if (number >= BARRIERS)
    report (current->where, "there is no barrier %u", number);
  if (threads % LANES || threads > (block->n + LANES - 1) / LANES * LANES)
    report (current->where, "barrier %u is for %u threads, which are no warps of the block", number,
            threads);
  if (barrier->arrived > 0 && barrier->threads != threads)
    report (current->where, "barrier %u is for %u threads here and for %u elsewhere", number,
            threads, barrier->threads);
  barrier->threads = threads;
  barrier->arrived++;
  barrier->count += predicate;
  barrier->any |= predicate;
  barrier->waiting.push_back (current);
  if (barrier->arrived == threads_of (block, barrier)) {
    pass (block, barrier);
    scheduler_progress ();
    scheduler_may_switch (current->block->grid->switch_mask);
  } else {
    scheduler_wait (WAITS_FOR_BLOCK);
  }
  return count ? barrier->result_count : barrier->result_any;
}

void
barriers_thread_ended (Thread *thread)
{
  Block *block = thread->block;
  Barrier *barrier = &block->barriers[0];

  if (barrier->arrived > 0 && barrier->arrived == threads_of (block, barrier))
    pass (block, barrier);
}

/* Grids */

static uint32_t
live_threads (const Grid *grid)
{
  uint32_t live = 0;

  for (const Thread *thread : grid->waiting_for_grid)
    live += thread->number == 0 ? thread->block->live : 0;
  return live;
}

static void
pass_grid (Grid *grid)
{
  std::vector<Thread *> threads;

  threads.swap (grid->waiting_for_grid);
  for (Thread *thread : threads) {
    if (thread->number == 0)
      races_sync_block (thread->block);
  }
  for (Thread *thread : threads) {
    if (thread != current)
      scheduler_wake (thread);
  }
}

void
emulated_sync_grid (void)
{
  Grid *grid = current->block->grid;

  current->where = __builtin_return_address (0);
  if (!grid->cooperative)
    report (current->where, "a grid barrier needs a cooperative launch");
  emulated_fence ();
  grid->waiting_for_grid.push_back (current);
  if (grid->waiting_for_grid.size () == (size_t) grid->n * current->block->n) {
    pass_grid (grid);
    scheduler_progress ();
  } else {
    scheduler_wait (WAITS_FOR_GRID);
  }
}

void
grid_thread_ended (Thread *thread)
{
  Grid *grid = thread->block->grid;

  if (!grid->waiting_for_grid.empty () && live_threads (grid) == 0)
    report (NULL, "a thread has ended while others wait for the grid");
}

/* Fences */

void
emulated_fence (void)
{
  stores_publish ();
  scheduler_may_switch (current->block->grid->switch_mask);
}

void
emulated_release (void)
{
  stores_publish ();
}

/* Programmatic dependent launch */

void
emulated_wait_for_kernel (void)
{
  Grid *grid = current->block->grid;

  current->where = __builtin_return_address (0);
  if (!grid->before || grid->before->ended == grid->before->n)
    return;
  grid->waiting_for_kernel.push_back (current);
  scheduler_wait (WAITS_FOR_KERNEL);
}

void
emulated_let_kernel_follow (void)
{
  Block *block = current->block;

  if (!block->lets_follow)
    block->grid->lets_follow++;
  block->lets_follow = true;
  scheduler_may_switch (block->grid->switch_mask);
}

/* The state of a thread. */

uint32_t
emulated_lane (void)
{
  return current->lane;
}
