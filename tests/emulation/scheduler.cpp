/* cudaccl - emulation: the order in which threads run
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device's threads are fibres of one host thread, so one of them runs at a time, and random
 * numbers decide when it is another's turn and whose. Each launch draws how often. */

#define EMULATED_CONSTANT /* here they change */

#include "tests/emulation/emulation.h"
#include "tests/emulation/fibre.h"

#include <stdio.h>
#include <stdlib.h>

/* Switches without progress after which a kernel hangs. */
#define MOST_IDLE_SWITCHES 3000000

Thread *current;

uint3 threadIdx, blockIdx, blockDim, gridDim;

static std::vector<Block *> blocks, free_blocks; /* resident */
static std::vector<Grid> *running;
static Block *entered; /* whose stores are in place */
static void *host_context;
static uint32_t quantum;
static bool in_order; /* the next thread in the order of the ready ones */
static uint64_t idle_switches;

static void
make_ready (Thread *thread)
{
  Block *block = thread->block;

  thread->place = (uint32_t) block->ready.size ();
  thread->waiting = RUNS;
  block->ready.push_back (thread);
}

static void
remove_ready (Thread *thread)
{
  std::vector<Thread *> &ready = thread->block->ready;

  ready[thread->place] = ready.back ();
  ready[thread->place]->place = thread->place;
  ready.pop_back ();
}

/* A block with threads that can run, other than @except if possible. */
static Block *
pick_block (Block *except)
{
  size_t n = blocks.size (), first = n ? random_below ((uint32_t) n) : 0;

  for (size_t i = 0; i < n; i++) {
    Block *block = blocks[(first + i) % n];

    if (block != except && !block->ready.empty ())
      return block;
  }
  return except && !except->ready.empty () ? except : NULL;
}

/* The next thread; NULL: the scheduler has to do something first. */
static Thread *
pick (void)
{
  Block *block = current ? current->block : NULL;
  uint32_t n;

  /* Its place may be another's. */
  if (block && block->live == 0)
    return NULL;
  if (!block || block->ready.empty () || quantum == 0) {
    quantum = 1u << random_below (9);
    block = pick_block (random_below (4) ? block : NULL);
    if (!block)
      return NULL;
  }
  quantum--;
  n = (uint32_t) block->ready.size ();
  if (in_order && current && current->block == block && current->waiting == RUNS)
    return block->ready[(current->place + 1) % n];
  return block->ready[in_order ? 0 : random_below (n)];
}

static void
enter_block (Block *block)
{
  if (block == entered)
    return;
  if (entered)
    stores_leave_block (entered);
  entered = block;
  if (block) {
    stores_enter_block (block);
    blockIdx = block->index;
  }
}

static void
enter_thread (Thread *thread)
{
  enter_block (thread->block);
  current = thread;
  threadIdx = thread->index;
  blockDim = { thread->block->grid->block.x, thread->block->grid->block.y,
               thread->block->grid->block.z };
  gridDim = { thread->block->grid->size.x, thread->block->grid->size.y,
              thread->block->grid->size.z };
  stores_enter_thread (thread);
}

/* Goes on with another thread, or with the scheduler. */
static void
switch_threads (void)
{
  Thread *from = current, *to = pick ();

  if (++idle_switches > MOST_IDLE_SWITCHES)
    report (NULL, "the kernel hangs: its threads wait in loops for what does not come");
  if (to == from)
    return;
  stores_leave_thread (from);
  if (to)
    enter_thread (to);
  else
    current = NULL;
  fibre_switch (&from->context, to ? to->context : host_context);
}

void
scheduler_progress (void)
{
  idle_switches = 0;
}

void
scheduler_may_switch (uint32_t mask)
{
  if ((random_next () & mask) == 0)
    switch_threads ();
}

void
scheduler_wait (Waiting waiting)
{
  Thread *self = current;

  self->waiting = waiting;
  remove_ready (self);
  while (self->waiting == waiting)
    switch_threads ();
}

void
scheduler_wake (Thread *thread)
{
  make_ready (thread);
  scheduler_progress ();
}

static void
run_thread (void)
{
  Thread *self = current;
  Block *block = self->block;

  block->grid->call ();
  stores_thread_ended (self);
  remove_ready (self);
  self->waiting = HAS_ENDED;
  block->live--;
  scheduler_progress ();
  warp_thread_ended (self);
  barriers_thread_ended (self);
  grid_thread_ended (self);
  switch_threads ();
  abort ();
}

/* Blocks */

static void
begin_thread (Block *block, uint32_t i, const dim3 &size)
{
  Thread *thread = &block->threads[i];

  thread->block = block;
  thread->index = { i % size.x, i / size.x % size.y, i / size.x / size.y };
  thread->number = i;
  thread->lane = i % LANES;
  thread->warp = i / LANES;
  thread->stores.clear ();
  thread->stack = fibre_stack_new ();
  thread->context = fibre_begin (thread->stack, run_thread);
  races_begin (thread);
  block->warps[thread->warp].live |= 1u << thread->lane;
  make_ready (thread);
}

static void
begin_block (Grid *grid)
{
  Block *block;
  uint32_t i = grid->started++;

  if (free_blocks.empty ())
    free_blocks.push_back (new Block ());
  block = free_blocks.back ();
  free_blocks.pop_back ();
  block->grid = grid;
  block->index = { i % grid->size.x, i / grid->size.x % grid->size.y,
                   i / grid->size.x / grid->size.y };
  block->n = block->live = grid->block.x * grid->block.y * grid->block.z;
  block->threads.resize (block->n);
  block->warps.assign ((block->n + LANES - 1) / LANES, Warp ());
  block->ready.clear ();
  block->stores.clear ();
  block->lets_follow = false;
  block->round = 0;
  for (Barrier &barrier : block->barriers)
    barrier = Barrier ();
  shared_begin (block);
  for (uint32_t k = 0; k < block->n; k++)
    begin_thread (block, k, grid->block);
  grid->resident++;
  blocks.push_back (block);
}

static void
end_block (Block *block)
{
  Grid *grid = block->grid;

  enter_block (block);
  stores_block_ended (block);
  shared_end (block);
  entered = NULL;
  for (Thread &thread : block->threads) {
    fibre_stack_free (thread.stack);
    thread.known = NULL;
  }
  grid->resident--;
  if (++grid->ended == grid->n)
    stores_kernel_ended (grid);
  if (!block->lets_follow)
    grid->lets_follow++;
  free_blocks.push_back (block);
}

static void
end_blocks (void)
{
  for (size_t i = 0; i < blocks.size ();) {
    if (blocks[i]->live > 0) {
      i++;
      continue;
    }
    end_block (blocks[i]);
    blocks[i] = blocks.back ();
    blocks.pop_back ();
  }
  for (Grid &grid : *running) {
    if (grid.before && grid.before->ended < grid.before->n)
      continue;
    for (Thread *thread : grid.waiting_for_kernel)
      scheduler_wake (thread);
    grid.waiting_for_kernel.clear ();
  }
}

static bool
may_begin (const Grid *grid)
{
  const Grid *before = grid->before;

  if (grid->started == grid->n || grid->resident == grid->most_resident)
    return false;
  return !before || before->ended == before->n || before->lets_follow == before->n;
}

static void
begin_blocks (void)
{
  for (Grid &grid : *running) {
    while (may_begin (&grid))
      begin_block (&grid);
  }
}

/* Deadlocks */

static const char *
describe_wait (const Thread *thread, char *text, size_t size)
{
  const char *where = report_name (thread->where, false);

  switch (thread->waiting) {
  case WAITS_FOR_WARP:
    snprintf (text, size, "waits in %s with mask 0x%08x for lanes 0x%08x (%s)",
              warp_operation_name (thread->operation), thread->mask,
              thread->mask & thread->block->warps[thread->warp].live &
                  ~thread->block->warps[thread->warp].waiting,
              where);
    break;
  case WAITS_FOR_BLOCK:
    snprintf (text, size, "waits at barrier %u of its block (%s)", thread->barrier, where);
    break;
  case WAITS_FOR_GRID:
    snprintf (text, size, "waits for the other blocks (%s)", where);
    break;
  default:
    snprintf (text, size, "waits for the kernel before (%s)", where);
    break;
  }
  return text;
}

/* Prints threads that wait; those that wait alike only once. */
[[noreturn]] static void
report_deadlock (void)
{
  for (Block *block : blocks) {
    const Thread *before = NULL;

    for (const Thread &thread : block->threads) {
      char text[512];

      if (thread.waiting == HAS_ENDED)
        continue;
      if (!before || before->waiting != thread.waiting || before->where != thread.where ||
          before->warp != thread.warp || before->mask != thread.mask)
        fprintf (stderr, "  block (%u,%u,%u), thread (%u,%u,%u) %s\n", block->index.x,
                 block->index.y, block->index.z, thread.index.x, thread.index.y, thread.index.z,
                 describe_wait (&thread, text, sizeof text));
      before = &thread;
    }
  }
  current = blocks.empty () ? NULL : &blocks[0]->threads[0];
  report (NULL, "deadlock: no thread can go on");
}

/* Kernels */

static bool
all_ended (void)
{
  for (const Grid &grid : *running) {
    if (grid.ended < grid.n)
      return false;
  }
  return true;
}

/* Draws how often threads switch. */
static void
draw_order (Grid *grid)
{
  static const uint32_t masks[] = { 0, 0, 1, 3, 15, 63 };
  static const uint32_t plain_masks[] = { 7, 63, 255, 1023, UINT32_MAX };

  grid->switch_mask = masks[random_below (6)];
  grid->plain_mask = plain_masks[random_below (5)];
  grid->most_resident = grid->cooperative ? UINT32_MAX : 1 + random_below (4);
  in_order = random_below (3) == 0;
}

void
scheduler_run (std::vector<Grid> *grids)
{
  static uint32_t launches;

  random_state = options_get ()->seed * 2654435761u + ++launches * 40503u;
  random_state += random_state == 0;
  running = grids;
  quantum = 0;
  scheduler_progress ();
  for (size_t i = 0; i < grids->size (); i++) {
    Grid *grid = &(*grids)[i];

    grid->before = i > 0 ? &(*grids)[i - 1] : NULL;
    grid->n = grid->size.x * grid->size.y * grid->size.z;
    draw_order (grid);
  }
  while (!all_ended ()) {
    Thread *next;

    begin_blocks ();
    next = pick ();
    if (!next)
      report_deadlock ();
    enter_thread (next);
    fibre_switch (&host_context, next->context);
    end_blocks ();
  }
  enter_block (NULL);
  current = NULL;
}
