/* cudaccl - checkccl: how the host waits for a device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* On a fake of CUDA: for a value that a stream writes, for an event if it cannot write, and for
 * neither of them if the device has failed. */

#include "tests/engine/checkccl.h"

#ifdef HAVE_CUDA

#include "engine/cpu/clock.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/completion.h"
#include "tests/lib/cudafake.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

#define UNFINISHED_POLLS 3

/* The behaviour of the fake's stream. */
typedef enum Write
{
  WRITE_AT_ONCE,
  WRITE_LATE, /* between two polls */
  WRITE_NEVER,
  WRITE_REFUSED,
  WRITE_MISSING, /* an old driver */
  WRITE_FAILS,
} Write;

static struct
{
  Write write;
  cudaError_t answer;       /* to queries, after UNFINISHED_POLLS */
  uint32_t *address, value; /* written last */
  cudaStream_t queried;
  unsigned polls, writes, records;
} fake;

static cudaError_t
answer_query (void)
{
  if (++fake.polls <= UNFINISHED_POLLS)
    return cudaErrorNotReady;
  if (fake.write != WRITE_LATE)
    return fake.answer;
  *fake.address = fake.value;
  return cudaErrorNotReady;
}

static cudaError_t
query_stream (cudaStream_t stream)
{
  fake.queried = stream;
  return answer_query ();
}

static cudaError_t
query_event (cudaEvent_t event)
{
  return answer_query ();
}

static cudaError_t
synchronize_event (cudaEvent_t event)
{
  return fake.answer;
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
  if (fake.write == WRITE_REFUSED)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (fake.write == WRITE_FAILS)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  fake.address = (uint32_t *) (uintptr_t) address;
  fake.value = value;
  if (fake.write == WRITE_AT_ONCE)
    *fake.address = value;
  return CUDA_SUCCESS;
}

typedef struct Row
{
  const char *name;
  Write write;
  cudaError_t answer;
  cudaError_t recorded, waited; /* the errors expected */
  unsigned writes, records;     /* the calls expected for two frames */
} Row;

static const Row rows[] = {
  { "value", WRITE_AT_ONCE, cudaErrorUnknown /* to no query */, cudaSuccess, cudaSuccess, 2, 0 },
  { "late value", WRITE_LATE, cudaSuccess, cudaSuccess, cudaSuccess, 2, 0 },
  { "lost value", WRITE_NEVER, cudaSuccess, cudaSuccess, cudaSuccess, 2, 0 },
  { "failed device", WRITE_NEVER, cudaErrorIllegalAddress, cudaSuccess, cudaErrorIllegalAddress, 2,
    0 },
  { "writes refused", WRITE_REFUSED, cudaSuccess, cudaSuccess, cudaSuccess, 1, 2 },
  { "refused, failed", WRITE_REFUSED, cudaErrorLaunchFailure, cudaSuccess, cudaErrorLaunchFailure,
    1, 2 },
  { "old driver", WRITE_MISSING, cudaSuccess, cudaSuccess, cudaSuccess, 0, 2 },
  { "failing write", WRITE_FAILS, cudaSuccess, cudaErrorIllegalAddress, cudaSuccess, 2, 0 },
};

static void
run_row (Check *check, const Row *row, CclSync sync)
{
  CclCudaCompletion completion = { .expected = 0 };
  CclAccount account = { 0 };
  CclCudaMemory memory = { .account = &account };
  cudaStream_t streams[2] = { NULL, NULL };
  bool blocks = sync == CCL_SYNC_BLOCK;

  fake.write = row->write;
  fake.answer = row->answer;
  fake.writes = fake.records = 0;
  ccl_cuda_api.cuStreamWriteValue32_v2 = row->write == WRITE_MISSING ? NULL : write_value;
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
    check_that (check, error == (blocks ? row->answer : row->waited),
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

/* Who sleeps before polling: only CCL_SYNC_AUTO, if the last frame was long ago. */
static const struct
{
  CclSync sync;
  uint64_t idle; /* ns since the last wait */
  Write write;
  uint64_t naps;
} pauses[] = {
  { CCL_SYNC_AUTO, 10000000, WRITE_LATE, 1 },    { CCL_SYNC_AUTO, 10000000, WRITE_MISSING, 1 },
  { CCL_SYNC_AUTO, 10000000, WRITE_AT_ONCE, 0 }, { CCL_SYNC_AUTO, 1000, WRITE_LATE, 0 },
  { CCL_SYNC_SPIN, 10000000, WRITE_LATE, 0 },    { CCL_SYNC_YIELD, 10000000, WRITE_LATE, 0 },
  { CCL_SYNC_BLOCK, 10000000, WRITE_LATE, 0 },
};

static void
run_pause (Check *check, size_t i)
{
  CclCudaCompletion completion = { .expected = 0 };
  CclAccount account = { 0 };
  CclCudaMemory memory = { .account = &account };
  cudaStream_t stream = NULL;

  fake.write = pauses[i].write;
  fake.answer = cudaSuccess;
  fake.polls = 0;
  ccl_cuda_api.cuStreamWriteValue32_v2 = fake.write == WRITE_MISSING ? NULL : write_value;
  ccl_cuda_api.cudaStreamCreateWithFlags (&stream, 0);
  check_that (check,
              ccl_cuda_completion_open (&completion, pauses[i].sync, &memory) == CCL_OK &&
                  ccl_cuda_completion_record (&completion, stream) == cudaSuccess,
              "pause %zu: %s", i, ccl_last_error ());
  completion.ended = ccl_cpu_now () - pauses[i].idle;
  check_that (
      check,
      ccl_cuda_completion_wait (&completion) == cudaSuccess && completion.naps == pauses[i].naps,
      "pause %zu: %u naps instead of %u", i, (unsigned) completion.naps, (unsigned) pauses[i].naps);
  ccl_cuda_completion_close (&completion);
  ccl_cuda_memory_free (&memory);
  ccl_cuda_api.cudaStreamDestroy (stream);
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
  for (size_t i = 0; i < COUNT (pauses); i++)
    run_pause (check, i);
  ccl_cuda_api = api;
}

#endif

const Test completion_tests[] = {
#ifdef HAVE_CUDA
  { "completions", test_completions },
#endif
  { NULL, NULL },
};
