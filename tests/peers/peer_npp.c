/* cudaccl - ccl-bench: the peer NPP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Three steps: label markers by union-find, which numbers every region of equal pixels, the
 * background's too; compression of the numbers; boxes and areas of all regions, without
 * centroids. NPP's header calls the counts of contour pixels optional, but NPP 13.0 fails
 * without them. It also fails if the list of regions is too short, and the number it finds in an
 * image varies between runs, so there is room for one region per pixel. */

#include "tests/peers/peers.h"

#include <cuda_runtime_api.h>
#include <nppi_filtering_functions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct State
{
  NppiSize size;
  NppiNorm norm;
  NppStreamContext context;
  cudaEvent_t start, end;
  Npp8u *image, *buffer, *compress_buffer;
  Npp32u *labels;
  const uint8_t *pixels; /* on the host */
  int regions;           /* of the last run */
  NppiCompressedMarkerLabelsInfo *infos;
  NppiContourTotalsInfo contours;
  Npp32u *contour_counts, *contour_counts_host; /* [pixels] */
} State;

static void
npp_close (void *data)
{
  State *self = data;

  cudaFree (self->image);
  cudaFree (self->buffer);
  cudaFree (self->compress_buffer);
  cudaFree (self->labels);
  cudaFree (self->infos);
  cudaFree (self->contour_counts);
  cudaFreeHost (self->contour_counts_host);
  if (self->start)
    cudaEventDestroy (self->start);
  if (self->end)
    cudaEventDestroy (self->end);
  cudaGetLastError ();
  free (self);
}

/* The context of the default stream. */
static bool
fill_context (NppStreamContext *context)
{
  struct cudaDeviceProp device;

  if (cudaGetDevice (&context->nCudaDeviceId) != cudaSuccess ||
      cudaGetDeviceProperties (&device, context->nCudaDeviceId) != cudaSuccess)
    return false;
  context->nMultiProcessorCount = device.multiProcessorCount;
  context->nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
  context->nMaxThreadsPerBlock = device.maxThreadsPerBlock;
  context->nSharedMemPerBlock = device.sharedMemPerBlock;
  context->nCudaDevAttrComputeCapabilityMajor = device.major;
  context->nCudaDevAttrComputeCapabilityMinor = device.minor;
  return true;
}

static void *
npp_open (uint32_t width, uint32_t height, unsigned connectivity)
{
  State *self = calloc (1, sizeof *self);
  size_t pixels = (size_t) width * height;
  int buffer = 0, compress_buffer = 0;
  unsigned infos = 0;

  if (!self)
    return NULL;
  self->size = (NppiSize){ (int) width, (int) height };
  self->norm = connectivity == 8 ? nppiNormInf : nppiNormL1;
  if (pixels > INT32_MAX || !fill_context (&self->context) ||
      nppiLabelMarkersUFGetBufferSize_32u_C1R (self->size, &buffer) != NPP_SUCCESS ||
      nppiCompressMarkerLabelsGetBufferSize_32u_C1R ((int) pixels, &compress_buffer) !=
          NPP_SUCCESS ||
      nppiCompressedMarkerLabelsUFGetInfoListSize_32u_C1R ((unsigned) pixels, &infos) !=
          NPP_SUCCESS ||
      cudaMalloc ((void **) &self->image, pixels) != cudaSuccess ||
      cudaMalloc ((void **) &self->infos, infos) != cudaSuccess ||
      cudaMalloc ((void **) &self->contour_counts, pixels * sizeof (Npp32u)) != cudaSuccess ||
      cudaMallocHost ((void **) &self->contour_counts_host, pixels * sizeof (Npp32u)) !=
          cudaSuccess ||
      cudaMalloc ((void **) &self->labels, pixels * sizeof *self->labels) != cudaSuccess ||
      cudaMalloc ((void **) &self->buffer, (size_t) buffer) != cudaSuccess ||
      cudaMalloc ((void **) &self->compress_buffer, (size_t) compress_buffer) != cudaSuccess ||
      cudaEventCreate (&self->start) != cudaSuccess ||
      cudaEventCreate (&self->end) != cudaSuccess) {
    npp_close (self);
    return NULL;
  }
  return self;
}

static bool
check (NppStatus status, const char *what)
{
  /* Negative values are errors, positive ones warnings. */
  if (status < NPP_SUCCESS)
    fprintf (stderr, "NPP: %s: status %d\n", what, (int) status);
  return status >= NPP_SUCCESS;
}

static bool
label (State *self)
{
  int step = self->size.width * (int) sizeof *self->labels;

  return check (nppiLabelMarkersUF_8u32u_C1R_Ctx (self->image, self->size.width, self->labels, step,
                                                  self->size, self->norm, self->buffer,
                                                  self->context),
                "LabelMarkersUF") &&
         check (nppiCompressMarkerLabelsUF_32u_C1IR_Ctx (
                    self->labels, step, self->size, self->size.width * self->size.height,
                    &self->regions, self->compress_buffer, self->context),
                "CompressMarkerLabelsUF");
}

static bool
npp_load (void *data, const uint8_t *pixels)
{
  State *self = data;

  self->pixels = pixels;
  return cudaMemcpy (self->image, pixels, (size_t) self->size.width * (size_t) self->size.height,
                     cudaMemcpyHostToDevice) == cudaSuccess;
}

static bool
npp_run (void *data, uint64_t *ns)
{
  State *self = data;
  int step = self->size.width * (int) sizeof *self->labels;
  float milliseconds;

  cudaEventRecord (self->start, NULL);
  if (!label (self) ||
      !check (nppiCompressedMarkerLabelsUFInfo_32u_C1R_Ctx (
                  self->labels, step, self->size, (unsigned) self->regions, self->infos, NULL, 0,
                  NULL, 0, &self->contours, self->contour_counts, self->contour_counts_host, NULL,
                  NULL, self->context),
              "CompressedMarkerLabelsUFInfo"))
    return false;
  cudaEventRecord (self->end, NULL);
  if (cudaEventSynchronize (self->end) != cudaSuccess ||
      cudaEventElapsedTime (&milliseconds, self->start, self->end) != cudaSuccess)
    return false;
  *ns = (uint64_t) ((double) milliseconds * 1e6);
  return true;
}

/* The number of labels of the foreground; the background's do not count. */
static bool
npp_result (void *data, PeerResult *result)
{
  State *self = data;
  size_t pixels = (size_t) self->size.width * (size_t) self->size.height;
  Npp32u *labels = malloc (pixels * sizeof *labels);
  uint8_t *seen = calloc (pixels + 1, 1);
  bool ok = labels && seen &&
            cudaMemcpy (labels, self->labels, pixels * sizeof *labels, cudaMemcpyDeviceToHost) ==
                cudaSuccess;

  *result = (PeerResult){ 0, 0 };
  for (size_t i = 0; ok && i < pixels; i++) {
    if (!self->pixels[i])
      continue;
    result->area++;
    ok = labels[i] <= pixels;
    if (ok && !seen[labels[i]]) {
      seen[labels[i]] = 1;
      result->found++;
    }
  }
  free (labels);
  free (seen);
  return ok;
}

const Peer peer_npp = {
  .name = "npp",
  .description = "NPP, nppiLabelMarkersUF, CompressMarkerLabelsUF and CompressedMarkerLabelsUFInfo",
  .connectivity = 4 | 8,
  .on_device = true,
  .open = npp_open,
  .load = npp_load,
  .run = npp_run,
  .result = npp_result,
  .close = npp_close,
};
