/* cudaccl - CPU backend: label maps, one row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Most runs and gaps are short, and their lengths cannot be predicted: so whole vectors are stored,
 * and what goes too far is written again by the next run or gap, but nothing past the row. */

/* Pixels of pictures may lie at any address. */
typedef uint32_t Label __attribute__ ((aligned (1), may_alias));
typedef uint16_t Value __attribute__ ((aligned (1), may_alias));
typedef uint32_t Labels __attribute__ ((vector_size (STORE_BYTES), aligned (1), may_alias));
typedef uint16_t Values __attribute__ ((vector_size (STORE_BYTES), aligned (1), may_alias));

/* Bytes stored at once. Vectors of this size would pass through memory where registers are
 * smaller. */
#define BLOCK_BYTES 64

/* Defines @write, which writes a row of pixels of type @Number, and @fill, which writes pixels @x
 * to @end - 1. Only the last runs, where a block can reach past the row, need its checks. */
#define DEFINE_WRITE_ROW(write, fill, fill_block, Number, Vector)                              \
  INLINE void fill_block (Number *pixels, Vector values)                                       \
  {                                                                                            \
    const uint32_t lanes = sizeof (Vector) / sizeof (Number);                                  \
                                                                                               \
    for (unsigned i = 0; i < BLOCK_BYTES / sizeof (Vector); i++)                               \
      *(Vector *) (pixels + i * lanes) = values;                                               \
  }                                                                                            \
                                                                                               \
  static inline void fill (Number *pixels, uint32_t x, uint32_t end, uint32_t width,           \
                           uint32_t value)                                                     \
  {                                                                                            \
    const uint32_t block = BLOCK_BYTES / sizeof (Number);                                      \
                                                                                               \
    for (; x < end && width - x >= block; x += block)                                          \
      fill_block (pixels + x, (Number) value - (Vector){ 0 });                                 \
    for (; x < end; x++)                                                                       \
      pixels[x] = (Number) value;                                                              \
  }                                                                                            \
                                                                                               \
  static void write (void *row, uint32_t width, const uint32_t *edges, const uint32_t *labels, \
                     uint32_t n, const uint32_t *values, uint32_t background)                  \
  {                                                                                            \
    const uint32_t block = BLOCK_BYTES / sizeof (Number);                                      \
    const Vector gap = (Number) background - (Vector){ 0 };                                    \
    Number *pixels = row;                                                                      \
    uint32_t x = 0, run = 0;                                                                   \
                                                                                               \
    for (; run < n && width - edges[2 * (size_t) run + 1] >= block; run++) {                   \
      uint32_t start = edges[2 * (size_t) run], end = edges[2 * (size_t) run + 1];             \
      Vector own = (Number) values[labels[run]] - (Vector){ 0 };                               \
                                                                                               \
      fill_block (pixels + x, gap);                                                            \
      for (x += block; x < start; x += block)                                                  \
        fill_block (pixels + x, gap);                                                          \
      fill_block (pixels + start, own);                                                        \
      for (x = start + block; x < end; x += block)                                             \
        fill_block (pixels + x, own);                                                          \
      x = end;                                                                                 \
    }                                                                                          \
    for (; run < n; run++) {                                                                   \
      uint32_t start = edges[2 * (size_t) run], end = edges[2 * (size_t) run + 1];             \
                                                                                               \
      fill (pixels, x, start, width, background);                                              \
      fill (pixels, start, end, width, values[labels[run]]);                                   \
      x = end;                                                                                 \
    }                                                                                          \
    fill (pixels, x, width, width, background);                                                \
  }

DEFINE_WRITE_ROW (write_labels, fill_labels, fill_label_block, Label, Labels)
DEFINE_WRITE_ROW (write_values, fill_values, fill_value_block, Value, Values)

/* Strictly upwards, as the CPU prefetches: memcpy() writes the end of a row first, which takes a
 * third longer where it is not in a cache. */
static void
repeat_pixels (uint8_t *row, size_t stride, size_t bytes, uint32_t rows)
{
  for (; rows > 0; rows--, row += stride) {
    size_t at = 0;

    for (; bytes - at >= STORE_BYTES; at += STORE_BYTES)
      *(Labels *) (row + stride + at) = *(const Labels *) (row + at);
    memcpy (row + stride + at, row + at, bytes - at);
  }
}
