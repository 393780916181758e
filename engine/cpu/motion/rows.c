/* cudaccl - CPU backend: rows of frames on their way through a background model
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/motion/state.h"

/* The mean of the samples of the frame that are sample @x, @y of the model: fewer at the edges. */
static uint8_t
mean_at (const Ring *ring, uint32_t x, uint32_t y, unsigned scale)
{
  const CclImage *image = ring->image;
  uint32_t top = y * scale, bottom = ring->lines - top < scale ? ring->lines : top + scale;
  uint32_t left = x * scale, right = ring->samples - left < scale ? ring->samples : left + scale;
  unsigned sum = 0, n = (bottom - top) * (right - left);

  for (uint32_t v = top; v < bottom; v++) {
    for (uint32_t u = left; u < right; u++)
      sum += image->data[v * image->stride + (size_t) u * ring->step];
  }
  return (uint8_t) ((sum + n / 2) / n);
}

static void
read_scaled_row (uint8_t *row, const Ring *ring, uint32_t y, const CclMotionFunctions *functions)
{
  const CclImage *image = ring->image;
  const unsigned scale = ring->scale;
  uint32_t top = y * scale;
  uint32_t whole = ring->lines - top < scale ? 0 : ring->samples / scale;

  functions->shrink_row (row, image->data + top * image->stride, image->stride, whole, scale,
                         ring->step);
  for (uint32_t x = whole; x < ring->width; x++)
    row[x] = mean_at (ring, x, y, scale);
}

/* Whether rows can be blurred right where they are. */
static bool
is_plain (const Ring *ring)
{
  return ring->step == 1 && ring->scale == 1 && !ring->factors;
}

static const uint8_t *
frame_row (const Ring *ring, uint32_t y)
{
  return is_plain (ring) ? ring->image->data + y * ring->image->stride : raw_row (ring, y);
}

/* Repeats the first and last samples outside. */
static void
pad_row (uint8_t *row, uint32_t width)
{
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
}

/* Divides a row by its gain. @samples may be @row. */
static void
remove_flicker (uint8_t *row, const uint8_t *samples, const Ring *ring, uint32_t y)
{
  const int factor =
      ccl_flicker_factor (ring->factors, ring->chroma ? 2 * y : y, ring->model_height);

  for (uint32_t x = 0; ring->chroma && x < ring->width; x++)
    row[x] = (uint8_t) ccl_flicker_chroma (samples[x], factor);
  for (uint32_t x = 0; !ring->chroma && x < ring->width; x++)
    row[x] = (uint8_t) ccl_flicker_luma (samples[x], factor);
}

const uint8_t *
ccl_cpu_ring_read (const Ring *ring, uint32_t y, const CclMotionFunctions *functions, uint8_t *row)
{
  const CclImage *image = ring->image;
  const uint32_t next = clamp_row ((int64_t) y + AHEAD, ring->height);
  const uint8_t *samples = row;

  if (is_plain (ring))
    return frame_row (ring, y);
  if (ring->scale == 1 && ring->step == 1)
    samples = image->data + y * image->stride;
  else if (ring->scale == 1)
    functions->take_alternate (row, image->data + y * image->stride,
                               image->data + next * image->stride, ring->width);
  else
    read_scaled_row (row, ring, y, functions);
  if (ring->factors)
    remove_flicker (row, samples, ring, y);
  return row;
}

void
ccl_cpu_ring_advance (Ring *ring, uint32_t y, const CclMotionFunctions *functions, uint8_t *columns)
{
  for (; ring->blurred <= y && ring->blurred < ring->height; ring->blurred++) {
    uint32_t above = clamp_row ((int64_t) ring->blurred - 1, ring->height);
    uint32_t below = clamp_row ((int64_t) ring->blurred + 1, ring->height);
    /* reading has fetched rows that are not plain */
    uint32_t next = is_plain (ring) ? clamp_row ((int64_t) below + AHEAD, ring->height) : below;

    for (; !is_plain (ring) && ring->raw <= below; ring->raw++)
      ccl_cpu_ring_read (ring, ring->raw, functions, raw_row (ring, ring->raw));
    functions->blur_row (blurred_row (ring, ring->blurred), columns, frame_row (ring, above),
                         frame_row (ring, ring->blurred), frame_row (ring, below),
                         frame_row (ring, next), ring->width);
    pad_row (blurred_row (ring, ring->blurred), ring->width);
  }
}

Ring
ccl_cpu_ring (const Job *job, uint8_t *rows, unsigned plane, int64_t y)
{
  const CclCpuModel *self = job->model;
  const CclChroma *chroma = job->image->chroma;
  bool luma = plane == 0;
  Ring ring = {
    .image = luma ? job->image : &chroma->planes[plane - 1],
    .step = luma ? 1 : chroma->step,
    .width = luma ? self->base->width : self->chroma_width,
    .height = luma ? self->base->height : self->chroma_height,
    .samples = luma ? job->width : ccl_model_half (job->width),
    .lines = luma ? job->height : ccl_model_half (job->height),
    .scale = job->scale,
    .blocks = luma ? self->blocks : self->chroma_blocks,
    .raw_rows = rows,
    .factors = job->factors,
    .model_height = self->base->height,
    .chroma = !luma,
  };

  ring.blurred_rows = rows + RAW_ROWS * row_samples (ring.blocks);
  ring.blurred = clamp_row (y, ring.height);
  ring.raw = clamp_row ((int64_t) ring.blurred - 1, ring.height);
  return ring;
}
