/* cudaccl - CUDA backend: how the host waits for the device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccl/cpu/clock.h"
#include "cuda/session.h"

#include <sched.h>
#include <time.h>

/* CCL_SYNC_AUTO busy-polls for as long as an HD frame takes with its transfer. Then it leaves the
 * core to other threads, first between two polls, then for SLEEP_NS at a time: such a long wait
 * means that the device does other work, so SLEEP_NS more makes little difference. */
#define SPIN_NS 150000
#define YIELD_NS 1000000
#define SLEEP_NS 50000

/* Passes some of the time until the next poll. */
static void
pass_time (CclSync sync, uint64_t start)
{
  static const struct timespec nap = { .tv_nsec = SLEEP_NS };
  uint64_t waited = sync == CCL_SYNC_AUTO ? ccl_cpu_now () - start : 0;

  if (sync == CCL_SYNC_SPIN || (sync == CCL_SYNC_AUTO && waited < SPIN_NS))
    ccl_cpu_relax ();
  else if (sync == CCL_SYNC_YIELD || waited < YIELD_NS)
    sched_yield ();
  else
    nanosleep (&nap, NULL);
}

unsigned
ccl_cuda_wait_flags (CclSync sync)
{
  return sync == CCL_SYNC_BLOCK ? cudaEventBlockingSync : cudaEventDefault;
}

cudaError_t
ccl_cuda_wait (cudaEvent_t event, CclSync sync)
{
  uint64_t start;
  cudaError_t error;

  if (sync == CCL_SYNC_BLOCK)
    return CCL_CUDA (cudaEventSynchronize, event);
  start = sync == CCL_SYNC_AUTO ? ccl_cpu_now () : 0;
  while ((error = CCL_CUDA (cudaEventQuery, event)) == cudaErrorNotReady)
    pass_time (sync, start);
  if (error == cudaSuccess)
    ccl_cuda_api.cudaGetLastError (); /* "not ready" is not an error, but some versions keep it as
                                       * the last one
                                       */
  return error;
}
