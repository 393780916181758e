/* cudaccl - checkccl: waits for a device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the host waits, with a fake of CUDA: for a number that a stream writes, for an event if it
 * cannot write, and for neither of them if the device has failed. */

#include "tests/engine/checkccl.h"

#ifdef HAVE_CUDA

#include "cuda/session.h"
#include "tests/lib/cudafake.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

#define UNFINISHED_POLLS 3

/* What the fake's stream does. */
typedef enum Write
{
  WRITES,
  DELAYS, /* the number comes between two polls */
  LOSES,  /* it never comes */
  REFUSES,
  ABSENT, /* an old driver */
  FAILS,
} Write;

static struct
{
  Write write;
  cudaError_t end;         /* that queries return after UNFINISHED_POLLS */
  uint32_t *number, value; /* written last */
  cudaStream_t queried;
  unsigned polls, writes, records;
} fake;

static cudaError_t
poll (void)
{
  if (++fake.polls <= UNFINISHED_POLLS)
    return cudaErrorNotReady;
  if (fake.write != DELAYS)
    return fake.end;
  *fake.number = fake.value;
  return cudaErrorNotReady;
}

static cudaError_t
query_stream (cudaStream_t stream)
{
  fake.queried = stream;
  return poll ();
}

static cudaError_t
query_event (cudaEvent_t event)
{
  return poll ();
}

static cudaError_t
synchronize_event (cudaEvent_t event)
{
  return fake.end;
}

static cudaError_t
record_event (cudaEvent_t event, cudaStream_t stream)
{
  fake.records++;
  return cudaSuccess;
}

static CUresult
write_value (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
  fake.writes++;
  if (fake.write == REFUSES)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (fake.write == FAILS)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  fake.number = (uint32_t *) (uintptr_t) address;
  fake.value = value;
  if (fake.write == WRITES)
    *fake.number = value;
  return CUDA_SUCCESS;
}

typedef struct Row
{
  const char *name;
  Write write;
  cudaError_t end;
  cudaError_t recorded, waited; /* the errors expected */
  unsigned writes, records;     /* the calls expected for two frames */
} Row;

static const Row rows[] = {
  { "number", WRITES, cudaErrorUnknown, cudaSuccess, cudaSuccess, 2, 0 },
  { "late number", DELAYS, cudaSuccess, cudaSuccess, cudaSuccess, 2, 0 },
  { "lost number", LOSES, cudaSuccess, cudaSuccess, cudaSuccess, 2, 0 },
  { "failed device", LOSES, cudaErrorIllegalAddress, cudaSuccess, cudaErrorIllegalAddress, 2, 0 },
  { "writes refused", REFUSES, cudaSuccess, cudaSuccess, cudaSuccess, 1, 2 },
  { "refused, failed", REFUSES, cudaErrorLaunchFailure, cudaSuccess, cudaErrorLaunchFailure, 1, 2 },
  { "old driver", ABSENT, cudaSuccess, cudaSuccess, cudaSuccess, 0, 2 },
  { "failing write", FAILS, cudaSuccess, cudaErrorIllegalAddress, cudaSuccess, 2, 0 },
};

static void
run_row (Check *check, const Row *row, CclSync sync)
{
  CclCudaCompletion completion = { .last = 0 };
  CclAccount account = { 0 };
  CclCudaMemory memory = { .account = &account };
  cudaStream_t streams[2] = { NULL, NULL };
  bool blocks = sync == CCL_SYNC_BLOCK;

  fake.write = row->write;
  fake.end = row->end;
  fake.writes = fake.records = 0;
  ccl_cuda_api.cuStreamWriteValue32_v2 = row->write == ABSENT ? NULL : write_value;
  for (int i = 0; i < 2; i++)
    ccl_cuda_api.cudaStreamCreateWithFlags (&streams[i], 0);
  check_that (check, ccl_cuda_completion_open (&completion, sync, &memory) == CCL_OK, "%s: %s",
              row->name, ccl_last_error ());
  for (int frame = 0; frame < 2; frame++) {
    cudaError_t error = ccl_cuda_completion_record (&completion, streams[frame]);

    check_that (check, error == (blocks ? cudaSuccess : row->recorded),
                "%s, sync %d: recording returns %d", row->name, (int) sync, (int) error);
    if (error != cudaSuccess)
      continue;
    fake.polls = 0;
    fake.queried = NULL;
    error = ccl_cuda_completion_wait (&completion);
    check_that (check, error == (blocks ? row->end : row->waited),
                "%s, sync %d: waiting returns %d", row->name, (int) sync, (int) error);
    check_that (check, !fake.queried || fake.queried == streams[frame],
                "%s, sync %d: another stream was queried", row->name, (int) sync);
  }
  check_that (check, fake.writes == (blocks ? 0 : row->writes), "%s, sync %d: %u writes", row->name,
              (int) sync, fake.writes);
  check_that (check, fake.records == (blocks ? 2 : row->records), "%s, sync %d: %u events recorded",
              row->name, (int) sync, fake.records);
  ccl_cuda_completion_close (&completion);
  ccl_cuda_memory_free (&memory);
  for (int i = 0; i < 2; i++)
    ccl_cuda_api.cudaStreamDestroy (streams[i]);
}

static void
test_completions (Check *check)
{
  CclCudaApi api;

  if (check->options.backend == CCL_BACKEND_CPU)
    return;
  ccl_cuda_api_load ();
  api = ccl_cuda_api;
  ccl_cuda_api = test_cuda_fake;
  ccl_cuda_api.cudaStreamQuery = query_stream;
  ccl_cuda_api.cudaEventQuery = query_event;
  ccl_cuda_api.cudaEventSynchronize = synchronize_event;
  ccl_cuda_api.cudaEventRecord = record_event;
  for (int sync = CCL_SYNC_AUTO; sync <= CCL_SYNC_BLOCK; sync++)
    for (size_t i = 0; i < COUNT (rows); i++)
      run_row (check, &rows[i], (CclSync) sync);
  ccl_cuda_api = api;
}

#endif

const Test completion_tests[] = {
#ifdef HAVE_CUDA
  { "completions", test_completions },
#endif
  { NULL, NULL },
};
