/* cudaccl - CPU backend: crops
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row of the picture first sums rows of the frame, sample by sample, which vectors do quickly,
 * then columns of these sums. */

#include "engine/cpu/crop.h"

#include <stdlib.h>
#include <string.h>

/* One plane of a crop. */
typedef struct Plane
{
  const CclCropTaps *taps; /* [to_width] */
  CclCropAxis y;
  const uint8_t *samples; /* the first that is needed of a row */
  size_t stride, bytes;   /* bytes: of a row that are needed */
  uint32_t step, first;   /* first: column */
  uint32_t *sums;         /* [bytes] */
  uint32_t total;
  uint64_t reciprocal;
  uint32_t shift; /* CclCropPlane */
} Plane;

static CclStatus
allocate (CclCpuCropper *self, CclAccount *account, const CclCropTask *task)
{
  /* Samples of chroma may be twice as far apart, but are half as many. */
  size_t n_sums = 3 * ((size_t) task->width + 1) * task->planes[0].step;

  if (!self->taps)
    self->taps = ccl_account_malloc (account, 2 * CCL_MAX_CROP_PICTURE, sizeof *self->taps,
                                     "the columns of a crop");
  if (!self->taps)
    return CCL_ERROR_NO_MEMORY;
  if (n_sums <= self->n_sums)
    return CCL_OK;
  free (self->sums);
  self->n_sums = 0;
  self->sums = ccl_account_malloc (account, n_sums, sizeof *self->sums, "the rows of a crop");
  if (!self->sums)
    return CCL_ERROR_NO_MEMORY;
  self->n_sums = n_sums;
  return CCL_OK;
}

static void
find_taps (const CclCropAxis *axis, CclCropTaps *taps)
{
  for (uint32_t i = 0; i < axis->to; i++)
    taps[i] = ccl_crop_taps (axis, i);
}

static Plane
make_plane (const CclCropTask *task, const CclCrop *crop, unsigned index, const CclCropTaps *taps,
            uint32_t *sums)
{
  const CclCropPlane *from = &task->planes[index];
  const CclCropAxis x = ccl_crop_axis_x (task, crop, index);
  const CclCropTaps *last = &taps[x.to - 1];
  Plane plane = {
    .taps = taps,
    .y = ccl_crop_axis_y (task, crop, index),
    .samples = from->samples + (size_t) taps[0].first * from->step,
    .stride = from->stride,
    .bytes = (size_t) (last->first + last->n - 1 - taps[0].first) * from->step + 1,
    .step = from->step,
    .first = taps[0].first,
    .sums = sums,
  };

  plane.shift = from->shift;
  plane.total = ccl_crop_total (&x) * ccl_crop_total (&plane.y);
  plane.reciprocal = ccl_crop_reciprocal (plane.total);
  return plane;
}

static void
add_row (uint32_t *restrict sums, const uint8_t *restrict row, size_t n)
{
  for (size_t i = 0; i < n; i++)
    sums[i] += row[i];
}

/* Sums the rows of row @i of the picture, of samples of 16 bits. */
static void
sum_samples (const Plane *plane, uint32_t i)
{
  const CclCropTaps taps = ccl_crop_taps (&plane->y, i);
  const uint8_t *row = plane->samples + taps.first * plane->stride;

  memset (plane->sums, 0, plane->bytes * sizeof *plane->sums);
  for (uint32_t k = 0; k < taps.n; k++, row += plane->stride) {
    const uint32_t weight = ccl_crop_weight (&taps, k);

    for (size_t x = 0; x < plane->bytes; x += plane->step)
      plane->sums[x] += weight * ccl_crop_sample (row + x, plane->shift);
  }
}

/* Sums the rows of row @i of the picture. */
static void
sum_rows (const Plane *plane, uint32_t i)
{
  const CclCropTaps taps = ccl_crop_taps (&plane->y, i);
  const uint8_t *first = plane->samples + taps.first * plane->stride;
  const uint8_t *last = first + (taps.n - 1) * plane->stride;
  uint32_t *restrict sums = plane->sums;

  if (plane->shift) {
    sum_samples (plane, i);
    return;
  }
  memset (sums, 0, plane->bytes * sizeof *sums);
  for (uint32_t k = 1; k + 1 < taps.n; k++)
    add_row (sums, first + k * plane->stride, plane->bytes);
  for (size_t x = 0; x < plane->bytes; x++)
    sums[x] = sums[x] * taps.body + first[x] * taps.head + last[x] * taps.tail;
}

/* Returns column @i of the sums. */
static uint32_t
sum_columns (const Plane *plane, uint32_t i)
{
  const CclCropTaps *taps = &plane->taps[i];
  const uint32_t *sums = plane->sums + (size_t) (taps->first - plane->first) * plane->step;
  uint64_t sum = 0;

  for (uint32_t k = 1; k + 1 < taps->n; k++)
    sum += sums[k * plane->step];
  sum = sum * taps->body + (uint64_t) sums[0] * taps->head +
        (uint64_t) sums[(taps->n - 1) * plane->step] * taps->tail;
  return ccl_crop_mean (sum, plane->total, plane->reciprocal);
}

static void
draw_crop (const CclCpuCropper *self, const CclCropTask *task, const CclCrop *crop, uint32_t width,
           uint32_t height, uint8_t *picture)
{
  const bool colors = task->planes[1].samples;
  const size_t size = (size_t) width * height;
  CclCropTaps *taps[] = { self->taps, self->taps + CCL_MAX_CROP_PICTURE };
  const CclCropAxis x[] = { ccl_crop_axis_x (task, crop, 0), ccl_crop_axis_x (task, crop, 1) };
  Plane planes[3];

  for (unsigned i = 0; i < (colors ? 2 : 1); i++)
    find_taps (&x[i], taps[i]);
  for (unsigned i = 0; i < (colors ? 3 : 1); i++)
    planes[i] = make_plane (task, crop, i, taps[i > 0], self->sums + i * (self->n_sums / 3));

  for (uint32_t v = 0; v < crop->to_height; v++) {
    uint8_t *to = picture + (size_t) (crop->to_y + v) * width + crop->to_x;

    for (unsigned i = 0; i < (colors ? 3 : 1); i++)
      sum_rows (&planes[i], v);
    for (uint32_t u = 0; u < crop->to_width; u++) {
      uint32_t values[3] = { sum_columns (&planes[0], u) };
      uint8_t rgb[3];

      for (unsigned i = 1; i < 3; i++)
        values[i] = colors ? sum_columns (&planes[i], u) : values[0];
      ccl_crop_convert (task, values, rgb);
      for (unsigned k = 0; k < 3; k++)
        to[k * size + u] = rgb[k];
    }
  }
}

CclStatus
ccl_cpu_cropper_draw (CclCpuCropper *self, CclAccount *account, const CclCropTask *task,
                      uint32_t width, uint32_t height, uint8_t *picture)
{
  CclStatus status = allocate (self, account, task);

  for (uint32_t i = 0; i < task->n && status == CCL_OK; i++)
    draw_crop (self, task, &task->crops[i], width, height, picture);
  return status;
}

void
ccl_cpu_cropper_clear (CclCpuCropper *self)
{
  free (self->sums);
  free (self->taps);
}
