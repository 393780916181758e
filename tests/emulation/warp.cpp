/* cudaccl - emulation: warps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The lanes of a mask meet in a function and go on together. Between such functions they run apart,
 * as they may since compute capability 7.0. */

#include "tests/emulation/emulation.h"

static Thread *
lane_of (const Thread *thread, uint32_t lane)
{
  return &thread->block->threads[thread->warp * LANES + lane];
}

const char *
warp_operation_name (EmulatedWarpOperation operation)
{
  static const char *const names[] = {
    "__syncwarp",        "__ballot_sync",     "__match_any_sync", "__shfl_sync",
    "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",  "__reduce_add_sync",
    "__reduce_min_sync", "__reduce_max_sync", "__reduce_or_sync", "__reduce_and_sync",
  };

  return names[operation];
}

/* The value of another lane; of one that does not take part it is undefined. */
static uint64_t
value_of (const Thread *thread, uint32_t lane, uint32_t lanes)
{
  return lanes >> lane & 1 ? lane_of (thread, lane)->value
                           : (uint64_t) random_next () << 32 | random_next ();
}

static uint64_t
shuffle (const Thread *thread, uint32_t lanes)
{
  uint32_t lane = thread->lane, first = lane & ~(thread->width - 1), argument = thread->argument;
  uint32_t last = first + thread->width - 1, from;

  switch (thread->operation) {
  case EMULATED_SHUFFLE:
    from = first + argument % thread->width;
    break;
  case EMULATED_SHUFFLE_UP:
    from = lane - first >= argument ? lane - argument : lane;
    break;
  case EMULATED_SHUFFLE_DOWN:
    from = last - lane >= argument ? lane + argument : lane;
    break;
  default:
    from = (lane ^ argument) <= last ? lane ^ argument : lane;
    break;
  }
  return value_of (thread, from, lanes);
}

static uint64_t
combine (EmulatedWarpOperation operation, uint64_t a, uint64_t b)
{
  switch (operation) {
  case EMULATED_REDUCE_ADD:
    return (uint32_t) (a + b);
  case EMULATED_REDUCE_MIN:
    return a < b ? a : b;
  case EMULATED_REDUCE_MAX:
    return a > b ? a : b;
  case EMULATED_REDUCE_OR:
    return a | b;
  default:
    return a & b;
  }
}

/* @lanes: those that take part. */
static uint64_t
result_of (const Thread *thread, uint32_t lanes)
{
  uint64_t result = 0;
  bool first = true;

  switch (thread->operation) {
  case EMULATED_SYNCWARP:
    return 0;
  case EMULATED_BALLOT:
  case EMULATED_MATCH:
    for (uint32_t i = 0; i < LANES; i++) {
      if (lanes >> i & 1)
        result |= (uint64_t) (thread->operation == EMULATED_BALLOT
                                  ? lane_of (thread, i)->value != 0
                                  : lane_of (thread, i)->value == thread->value)
                  << i;
    }
    return result;
  case EMULATED_SHUFFLE:
  case EMULATED_SHUFFLE_UP:
  case EMULATED_SHUFFLE_DOWN:
  case EMULATED_SHUFFLE_XOR:
    return shuffle (thread, lanes);
  default:
    for (uint32_t i = 0; i < LANES; i++) {
      if (!(lanes >> i & 1))
        continue;
      result = first ? lane_of (thread, i)->value
                     : combine (thread->operation, result, lane_of (thread, i)->value);
      first = false;
    }
    return result;
  }
}

/* Gives each lane its result. */
static void
finish_operation (Thread *thread, uint32_t lanes)
{
  EmulatedWarpOperation operation = thread->operation;
  bool own = operation == EMULATED_MATCH ||
             (operation >= EMULATED_SHUFFLE && operation <= EMULATED_SHUFFLE_XOR);
  uint64_t common = own ? 0 : result_of (thread, lanes);

  for (uint32_t left = lanes; left; left &= left - 1) {
    Thread *lane = lane_of (thread, (uint32_t) __builtin_ctz (left));

    lane->result = own ? result_of (lane, lanes) : common;
  }
}

/* Lets the lanes of @thread's mask go on if all are there. */
static bool
try_operation (Thread *thread)
{
  Warp *warp = &thread->block->warps[thread->warp];
  uint32_t lanes = thread->mask & warp->live;

  if ((warp->waiting & lanes) != lanes)
    return false;
  for (uint32_t i = 0; i < LANES && !warp->uniform; i++) {
    const Thread *other = lane_of (thread, i);

    if (lanes >> i & 1 && (other->operation != thread->operation || other->mask != thread->mask))
      return false;
  }
  finish_operation (thread, lanes);
  if (thread->operation == EMULATED_SYNCWARP) {
    for (uint32_t i = 0; i < LANES; i++) {
      if (lanes >> i & 1)
        stores_publish_in_block (lane_of (thread, i));
    }
    races_sync_warp (lane_of (thread, 0), lanes);
  }
  warp->turn += lanes == warp->live;
  warp->waiting &= ~lanes;
  for (uint32_t i = 0; i < LANES; i++) {
    Thread *other = lane_of (thread, i);

    if (lanes >> i & 1 && other != current)
      scheduler_wake (other);
  }
  return true;
}

/* Lanes that wait for each other must call the same function with the same mask. */
static void
check_lanes (const Thread *thread, Warp *warp)
{
  uint32_t waiting = warp->waiting;

  if (!waiting) {
    warp->operation = thread->operation;
    warp->mask = thread->mask;
    warp->uniform = true;
  }
  warp->uniform &= warp->operation == thread->operation && warp->mask == thread->mask;
  if (warp->uniform)
    return;
  for (uint32_t i = 0; i < LANES; i++) {
    const Thread *other;

    if (!((waiting & thread->mask) >> i & 1) || i == thread->lane)
      continue;
    other = lane_of (thread, i);
    if (!(other->mask >> thread->lane & 1))
      continue;
    if (other->operation != thread->operation)
      report (thread->where, "lane %u calls %s while lane %u of its mask 0x%08x is in %s (%s)",
              thread->lane, warp_operation_name (thread->operation), i, thread->mask,
              warp_operation_name (other->operation), report_name (other->where, false));
    if (other->mask != thread->mask)
      report (thread->where, "lane %u calls %s with mask 0x%08x, lane %u with mask 0x%08x",
              thread->lane, warp_operation_name (thread->operation), thread->mask, i, other->mask);
  }
}

uint64_t
emulated_warp (EmulatedWarpOperation operation, uint32_t mask, uint64_t value, uint32_t argument,
               uint32_t width)
{
  Thread *self = current;
  Warp *warp = &self->block->warps[self->warp];

  self->where = __builtin_return_address (0);
  self->operation = operation;
  self->mask = mask;
  self->value = value;
  self->argument = argument;
  self->width = width;
  if (!(mask >> self->lane & 1))
    report (self->where, "lane %u calls %s with mask 0x%08x, which it is not in", self->lane,
            warp_operation_name (operation), mask);
  check_lanes (self, warp);
  warp->waiting |= 1u << self->lane;
  if (try_operation (self)) {
    scheduler_progress ();
    scheduler_may_switch (self->block->grid->switch_mask);
  } else {
    scheduler_wait (WAITS_FOR_WARP);
  }
  return self->result;
}

void
warp_thread_ended (Thread *thread)
{
  Warp *warp = &thread->block->warps[thread->warp];

  warp->live &= ~(1u << thread->lane);
  if (!(warp->waiting & warp->live))
    return;
  for (uint32_t i = 0; i < LANES; i++) {
    if ((warp->waiting & warp->live) >> i & 1)
      try_operation (lane_of (thread, i));
  }
}
