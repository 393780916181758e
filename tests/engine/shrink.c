/* cudaccl - checkccl: shrinks failing images
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Delta debugging (A. Zeller, R. Hildebrandt, 2002) over rows, columns and foreground: drop
 * large chunks first, then ever smaller ones, until nothing more can be dropped. */

#include "tests/engine/checkccl.h"

#include "tests/lib/clock.h"

#include <string.h>

typedef struct Shrink
{
  TestImage image; /* the smallest that fails so far */
  uint8_t background;
  bool (*fails) (const TestImage *image, void *data);
  void *data;
  uint64_t deadline;
} Shrink;

/* The image without @count rows from @start on, or, @columns, without columns. */
static TestImage
without (const TestImage *image, bool columns, uint32_t start, uint32_t count)
{
  uint32_t width = image->width - (columns ? count : 0);
  uint32_t height = image->height - (columns ? 0 : count);
  TestImage result = test_image_new (width, height);

  for (uint32_t y = 0; y < height; y++) {
    uint32_t from = !columns && y >= start ? y + count : y;
    const uint8_t *in = image->pixels + (size_t) from * image->width;
    uint8_t *out = result.pixels + (size_t) y * width;

    if (columns) {
      memcpy (out, in, start);
      memcpy (out + start, in + start + count, width - start);
    } else {
      memcpy (out, in, width);
    }
  }
  return result;
}

/* Keeps the candidate if it fails, else the image; frees the other. */
static bool
take_if_failing (Shrink *shrink, TestImage *candidate)
{
  bool fails = shrink->fails (candidate, shrink->data);

  if (fails) {
    test_image_clear (&shrink->image);
    shrink->image = *candidate;
  } else {
    test_image_clear (candidate);
  }
  return fails;
}

static bool
drop_lines (Shrink *shrink, bool columns)
{
  const uint32_t *extent = columns ? &shrink->image.width : &shrink->image.height;
  bool changed = false;

  for (uint32_t chunk = (*extent + 1) / 2; chunk > 0; chunk /= 2) {
    for (uint32_t start = 0; start < *extent && chunk < *extent;) {
      uint32_t count = *extent - start < chunk ? *extent - start : chunk;
      TestImage candidate;

      if (test_now () > shrink->deadline)
        return false;
      candidate = without (&shrink->image, columns, start, count);
      if (take_if_failing (shrink, &candidate))
        changed = true;
      else
        start += count;
    }
  }
  return changed;
}

/* Turns a rectangle to background; false if it was already. */
static bool
wipe (TestImage *image, uint32_t x0, uint32_t y0, uint32_t size, uint8_t background)
{
  bool changed = false;

  for (uint32_t y = y0; y < image->height && y - y0 < size; y++) {
    for (uint32_t x = x0; x < image->width && x - x0 < size; x++) {
      uint8_t *pixel = &image->pixels[(size_t) y * image->width + x];

      changed |= *pixel != background;
      *pixel = background;
    }
  }
  return changed;
}

static bool
clear_pixels (Shrink *shrink)
{
  uint32_t width = shrink->image.width, height = shrink->image.height, size = 1;
  bool changed = false;

  while (size < (width > height ? width : height) / 2)
    size *= 2;
  for (; size > 0; size /= 2) {
    for (uint64_t y = 0; y < height; y += size) {
      for (uint64_t x = 0; x < width; x += size) {
        TestImage candidate;

        if (test_now () > shrink->deadline)
          return false;
        candidate = test_image_copy (&shrink->image);
        if (wipe (&candidate, (uint32_t) x, (uint32_t) y, size, shrink->background))
          changed |= take_if_failing (shrink, &candidate);
        else
          test_image_clear (&candidate);
      }
    }
  }
  return changed;
}

TestImage
shrink_image (const TestImage *image, uint8_t background,
              bool (*fails) (const TestImage *image, void *data), void *data, double seconds)
{
  Shrink shrink = {
    .image = test_image_copy (image),
    .background = background,
    .fails = fails,
    .data = data,
    .deadline = test_now () + (uint64_t) (seconds * 1e9),
  };
  bool changed;

  do {
    changed = drop_lines (&shrink, false);
    changed |= drop_lines (&shrink, true);
    changed |= clear_pixels (&shrink);
  } while (changed);
  return shrink.image;
}
