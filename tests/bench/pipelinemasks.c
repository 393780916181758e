/* cudaccl - ccl-bench pipeline: masks for the frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/pipeline.h"
#include "tests/lib/mt19937.h"

#include <math.h>
#include <stdio.h>

#define SEED 1
#define BLOBS 14
#define SPECKS 40
#define FOREGROUND 255
#define SHADOW 127 /* as background subtraction marks it */

typedef struct Blob
{
  gdouble x, y, dx, dy; /* centre and motion, in parts of the frame */
  gdouble rx, ry;       /* radii, in parts of its height */
} Blob;

static gdouble
draw (Mt19937 *rng)
{
  return mt19937_below (rng, 10000) / 10000.0;
}

static void
fill_row (guint8 *row, gint from, gint to, gint width, guint8 value)
{
  gint x;

  for (x = MAX (from, 0); x < MIN (to, width); x++)
    row[x] = MAX (row[x], value);
}

/* An ellipse with an edge that is off by up to two pixels in each row, and a shadow to the
 * right. */
static void
draw_blob (guint8 *mask, const PipelineOptions *options, const Blob *blob, guint frame,
           Mt19937 *rng)
{
  gint width = (gint) options->width, height = (gint) options->height, y;
  gdouble cx = fmod (blob->x + blob->dx * frame + 2, 1) * width;
  gdouble cy = fmod (blob->y + blob->dy * frame + 2, 1) * height;
  gdouble rx = blob->rx * height, ry = blob->ry * height;

  for (y = MAX ((gint) (cy - ry), 0); y < MIN ((gint) (cy + ry), height); y++) {
    gdouble part = (y - cy) / ry, half = rx * sqrt (MAX (1 - part * part, 0));
    gint left = (gint) (cx - half) + (gint) mt19937_below (rng, 3);
    gint right = (gint) (cx + half) - (gint) mt19937_below (rng, 3);

    fill_row (mask + (gsize) y * options->width, left, right, width, FOREGROUND);
    fill_row (mask + (gsize) y * options->width, right, right + (gint) (rx / 3), width, SHADOW);
  }
}

static void
draw_speck (guint8 *mask, const PipelineOptions *options, Mt19937 *rng)
{
  gint x = (gint) mt19937_below (rng, options->width), y, h;
  gint w = 1 + (gint) mt19937_below (rng, 3);

  y = (gint) mt19937_below (rng, options->height);
  h = 1 + (gint) mt19937_below (rng, 2);
  for (; h > 0 && y < (gint) options->height; h--, y++)
    fill_row (mask + (gsize) y * options->width, x, x + w, (gint) options->width, FOREGROUND);
}

static void
draw_masks (guint8 *masks, const PipelineOptions *options)
{
  Blob blobs[BLOBS];
  Mt19937 rng;
  guint frame, i;

  mt19937_seed (&rng, SEED);
  for (i = 0; i < BLOBS; i++) {
    blobs[i].x = draw (&rng);
    blobs[i].y = draw (&rng);
    blobs[i].dx = draw (&rng) / 25 - 0.02;
    blobs[i].dy = draw (&rng) / 50 - 0.01;
    blobs[i].rx = 0.01 + draw (&rng) / 20;
    blobs[i].ry = 0.02 + draw (&rng) / 10;
  }
  for (frame = 0; frame < PIPELINE_FRAMES; frame++) {
    guint8 *mask = masks + (gsize) frame * options->width * options->height;

    for (i = 0; i < BLOBS; i++)
      draw_blob (mask, options, &blobs[i], frame, &rng);
    for (i = 0; i < SPECKS; i++)
      draw_speck (mask, options, &rng);
  }
}

/* Frames evenly spread over the file: its beginning is often empty. */
static gboolean
read_masks (guint8 *masks, const PipelineOptions *options, GError **error)
{
  gsize size = (gsize) options->width * options->height, n, i;
  GMappedFile *file = g_mapped_file_new (options->masks, FALSE, error);

  if (!file)
    return FALSE;
  n = g_mapped_file_get_length (file) / size;
  if (n == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "%s has no frame of %ux%u bytes; set --size", options->masks, options->width,
                 options->height);
    g_mapped_file_unref (file);
    return FALSE;
  }
  for (i = 0; i < PIPELINE_FRAMES; i++)
    memcpy (masks + i * size, g_mapped_file_get_contents (file) + i * n / PIPELINE_FRAMES * size,
            size);
  g_mapped_file_unref (file);
  return TRUE;
}

guint8 *
pipeline_camera_new (const PipelineOptions *options, const guint8 *masks)
{
  gsize size = (gsize) options->width * options->height, i, k;
  guint8 *frames = g_malloc (PIPELINE_FRAMES * size);
  Mt19937 rng;

  mt19937_seed (&rng, 2);
  for (i = 0; i < PIPELINE_FRAMES; i++) {
    for (k = 0; k < size; k++) {
      guint x = (guint) (k % options->width), y = (guint) (k / options->width);
      guint value = 80 + (x / 16 * 37 + y / 16 * 91) % 80;

      if (masks[i * size + k] == SHADOW)
        value = value * 3 / 4;
      else if (masks[i * size + k] == FOREGROUND)
        value = 220;
      frames[i * size + k] = (guint8) (value + mt19937_below (&rng, 5));
    }
  }
  return frames;
}

guint8 *
pipeline_masks_new (const PipelineOptions *options, GError **error)
{
  guint8 *masks = g_malloc0 ((gsize) PIPELINE_FRAMES * options->width * options->height);

  if (!options->masks)
    draw_masks (masks, options);
  else if (!read_masks (masks, options, error))
    g_clear_pointer (&masks, g_free);
  return masks;
}
