/* cudaccl - CPU backend: functions on one row of pixels, once for each instruction set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_FUNCTIONS_H
#define CCL_CPU_FUNCTIONS_H

#include "engine/shared/cut.h"

#include <cudaccl/mask.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries past the last edge of a row that CclFindRuns may write. */
#define CCL_ROW_SLACK 16

/* The edges of a word, bits that differ from the bit before, and the number of edges in the words
 * before it. So the edges in front of a pixel are counted without a search. */
typedef struct CclRowEdges
{
  uint64_t changes;
  uint32_t before;
} CclRowEdges;

/* The bits of one row of pixels, pixel x being bit x % 64 of word x / 64, those past the width 0,
 * and its runs: pixels edges[2 i] to edges[2 i + 1] - 1 have label labels[i]. */
typedef struct CclRow
{
  uint64_t *bits;     /* [width / 64 + 1] */
  CclRowEdges *words; /* [width / 64 + 1] */
  uint32_t *edges;
  uint32_t *labels;
  uint32_t count;
} CclRow;

/* The features of a label; only those of roots are complete. Small, since noise has many labels and
 * writes little else; fields that are cleared come first. */
typedef struct CclRunsLabel
{
  uint64_t sum_x, sum_y;
  uint32_t area;          /* frames have less than 2^32 pixels */
  uint32_t right, bottom; /* of the bounding box, past the last pixel */
  uint32_t left;
  uint32_t first_x, y; /* of the first pixel in raster order */
} CclRunsLabel;

/* Second-order sums of a label, kept apart because few ask for them. */
typedef struct CclRunsMoments
{
  uint64_t sum_xx, sum_yy, sum_xy;
} CclRunsMoments;

/* All labels of a frame. */
typedef struct CclTable
{
  uint32_t *parents; /* union-find over labels: a root is its own parent, others point lower */
  CclRunsLabel *labels;
  CclRunsMoments *moments; /* NULL unless asked for */
  uint32_t *values;        /* of the pixels; NULL unless these are classes */
} CclTable;

/* A row of classes, native numbers of 1, 2 or 4 bytes at any address. */
typedef struct CclClassRow
{
  const uint8_t *pixels;
  unsigned size;
} CclClassRow;

/* Turns @width pixels into bits, 0 past the last in its word. Reads nothing past the last pixel.
 * Returns whether any bit is set. */
typedef bool (*CclPackRow) (uint64_t *bits, const uint8_t *pixels, uint32_t width,
                            const CclCut *cut);

/* Turns @width bits into bytes: @value where set, else 0. Writes nothing past the last pixel. */
typedef void (*CclUnpackRow) (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value);

/* The rows of bits that a filter reads and writes, without the extra word of CclRow. They may be
 * the same rows only if one call makes all of them. */
typedef struct CclFilter
{
  const uint64_t *from;
  uint64_t *to;
  size_t from_pitch, to_pitch; /* words from row to row */
  uint32_t width, height;      /* pixels of the frame */
  uint64_t *scratch;           /* [rows * ccl_filter_words()], at a multiple of 64 bytes */
} CclFilter;

/* The longest side of a rectangle that one call can do. */
#define CCL_FILTER_SIDE 127

/* Rows of scratch memory: medians need these, rectangles as many as they are high. */
#define CCL_FILTER_ROWS 20

static inline size_t
ccl_filter_words (uint32_t width)
{
  return ((size_t) width / 64 + 8) / 8 * 8;
}

/* Makes rows @y to @bottom - 1 of a median of 3x3 or 5x5 pixels, or of an erosion or dilation by a
 * rectangle with odd sides of at most CCL_FILTER_SIDE; other kinds are chains of these. */
typedef void (*CclFilterRows) (const CclFilter *filter, CclOperationKind kind, unsigned width,
                               unsigned height, uint32_t y, uint32_t bottom);

/* From where the background of a row is reached. */
typedef enum CclFloodFrom
{
  CCL_FLOOD_FROM_ROW,   /* from the row near it; adds to what was reached before */
  CCL_FLOOD_FROM_SIDES, /* from there and both sides; nothing was reached before */
  CCL_FLOOD_FROM_ALL,   /* from everywhere: the row is the frame's first or last */
} CclFloodFrom;

/* Adds to @reached the runs of background, bits that are 0, of @row that touch a pixel reached in
 * the row @near (NULL: none), with @diagonal also at corners. @open is scratch memory. @reached,
 * @near and @open have ccl_filter_words() words, at multiples of 64 bytes. Returns whether anything
 * was added. */
typedef bool (*CclFloodRow) (const uint64_t *row, const uint64_t *near, uint64_t *reached,
                             uint64_t *open, uint32_t width, bool diagonal, CclFloodFrom from);

/* Finds the runs of @row in its bits, and sets all of it but the labels. Up to CCL_ROW_SLACK
 * entries behind the last edge are overwritten. */
typedef void (*CclFindRuns) (CclRow *row, uint32_t width);

/* Labels the runs of rows @y to @bottom - 1, all @row, by the runs that they touch in the row
 * @above, with @diagonal also at corners. New labels start with @next; returns the first unused
 * label, whose entries in @table are overwritten, too. Reads one entry behind @above's last label.
 */
typedef uint32_t (*CclLabelRow) (const CclTable *table, const CclRow *above, CclRow *row,
                                 uint32_t width, uint32_t y, uint32_t bottom, bool diagonal,
                                 uint32_t next);

/* The same for classes: finds the runs of equal values other than 0, and labels them. Only edges,
 * labels and count of @row and @above are used; bits are scratch memory. Overwrites entries as
 * CclFindRuns does. */
typedef uint32_t (*CclLabelClasses) (const CclTable *table, const CclRow *above, CclRow *row,
                                     const CclClassRow *classes, uint32_t width, uint32_t y,
                                     uint32_t bottom, bool diagonal, uint32_t next);

/* Adds rows @y to @bottom - 1, which equal the labelled @row just above them. */
typedef void (*CclRepeatRow) (const CclTable *table, CclRow *row, uint32_t y, uint32_t bottom);

/* Writes a row of a label map or of a picture, at any address: @n runs at @edges have the @values
 * of their @labels, the rest is @background. */
typedef void (*CclWriteLabels) (void *pixels, uint32_t width, const uint32_t *edges,
                                const uint32_t *labels, uint32_t n, const uint32_t *values,
                                uint32_t background);

/* Copies the @bytes of a row of pixels to the @rows below it, at distances of @stride. */
typedef void (*CclRepeatPixels) (uint8_t *row, size_t stride, size_t bytes, uint32_t rows);

/* Joins the @parents of the runs of @row, a row of a slice, and of those of the slice before that
 * they touch, with 6, 18 or 26-connectivity. @above: the row above in its own slice; @lower: those
 * of the slice before, [1] under it, [0] above that and [2] below. Missing rows have no runs. The
 * runs of neighbouring rows in a slice are joined already, or will be. */
typedef void (*CclJoinSlices) (uint32_t *parents, const CclRow *row, const CclRow *above,
                               const CclRow lower[3], uint32_t width, unsigned connectivity);

struct CclColorWeights; /* engine/shared/luma.h */

/* Converts @width pixels to luma. */
typedef void (*CclColorLuma) (uint8_t *to, const uint8_t *from, uint32_t width,
                              const struct CclColorWeights *weights);

/* Converts @pairs times two pixels of each of two rows to samples of chroma, 0: Cb, 1: Cr. */
typedef void (*CclColorChroma) (uint8_t *to, const uint8_t *const rows[2], uint32_t pairs,
                                const struct CclColorWeights *weights, unsigned which);

/* Converts @n samples of 16 bits, @step bytes (2 or 4) from one to the next, to their highest 8
 * bits. */
typedef void (*CclColorSamples) (uint8_t *to, const uint8_t *from, uint32_t n, unsigned step,
                                 const struct CclColorWeights *weights);

/* Rows of bits around a row, without the extra word of CclRow: [0] is the one above, [2] the one
 * below. */
typedef struct CclOutline
{
  const uint64_t *rows[3], *borders[3]; /* foreground, and pixels with a side on its outline */
  const uint64_t *others; /* pixels that are not to be counted as straight, diagonal or turning;
                           * NULL: none */
} CclOutline;

/* Finds the pixels of the row @rows[1] with a side on the outline. */
typedef void (*CclFindBorder) (uint64_t *border, const uint64_t *const rows[3], uint32_t width);

/* Adds a run, pixels @start up to @stop of the middle row, to its component's shape. */
typedef void (*CclAddOutline) (const CclOutline *outline, uint32_t width, uint32_t start,
                               uint32_t stop, CclShape *shape);

/* Adds the values of @n pixels, at least one, to a shape that has its luma_min and luma_max. */
typedef void (*CclAddLuma) (const uint8_t *pixels, uint32_t n, CclShape *shape);

/* The functions of the CPU backend that exist in several versions, one for each instruction set. */
typedef struct CclCpuFunctions
{
  const char *name;
  CclPackRow pack_row;
  CclUnpackRow unpack_row;
  CclFilterRows filter_rows;
  CclFloodRow flood_row;
  CclFindRuns find_runs;
  CclLabelRow label_row;
  CclLabelClasses label_classes;
  CclRepeatRow repeat_row;
  CclWriteLabels write_labels; /* pixels of 32 bits */
  CclWriteLabels write_values; /* of 16 bits */
  CclRepeatPixels repeat_pixels;
  CclJoinSlices join_slices;
  CclColorLuma color_luma;
  CclColorChroma color_chroma;
  CclColorSamples color_samples;
  CclFindBorder find_border;
  CclAddOutline add_outline;
  CclAddLuma add_luma;
  const struct CclMotionFunctions *motion; /* engine/cpu/motion/functions.h */
} CclCpuFunctions;

/* The versions that this CPU can run, the best first; NULL past the last. */
const CclCpuFunctions *ccl_cpu_functions (size_t index);

#endif
