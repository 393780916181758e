/* cudaccl - masks: one bit a pixel
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Binary images of one bit per pixel, operations that clean them before the analysis (morphology),
 * and polygons that become masks (regions). An analyzer takes a mask as a CclImage, see
 * ccl_mask_image(), and cleans it itself, see CclConfig.operations and CclConfig.region; all of it
 * can also be used on its own. Functions here work on host memory (CCL_MEMORY_HOST,
 * CCL_MEMORY_PINNED). */

#ifndef CCL_MASK_H
#define CCL_MASK_H

#include <cudaccl/ccl.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mask. Pixel (x, y) is bit x % 64 of words[y * pitch + x / 64], 1 for foreground. Bits past the
 * width in a row's last word are 0: functions that write masks make sure of that, those that read
 * them may rely on it. Words between a row's last and the next row are neither read nor written. */
struct CclMask
{
  uint64_t *words;        /* the first row */
  size_t pitch;           /* words from row to row, at least ccl_mask_words() */
  uint32_t width, height; /* pixels */
  CclMemory memory;       /* where the words are; not CCL_MEMORY_ARRAY */
};

/* The words of a row of @width pixels. */
static inline size_t
ccl_mask_words (uint32_t width)
{
  return width / 64 + (width % 64 != 0);
}

/* The bits of a row's last word that are pixels. */
static inline uint64_t
ccl_mask_last_bits (uint32_t width)
{
  return ~UINT64_C (0) >> (63 - (width - 1) % 64);
}

/* The mask as an image of CCL_FORMAT_BITS, valid as long as the mask; @mask is not copied. */
static inline CclImage
ccl_mask_image (const CclMask *mask)
{
  CclImage image = {
    (const uint8_t *) mask->words,     /* data */
    mask->pitch * sizeof *mask->words, /* stride */
    mask->memory,
    NULL,
    CCL_FORMAT_BITS, /* memory, stream, format */
    NULL             /* chroma */
  };

  return image;
}

/* Allocates a mask in CCL_MEMORY_HOST, all background. Rows start at multiples of 64 bytes. Free it
 * with ccl_mask_free(). Errors: CCL_ERROR_INVALID (NULL, no pixels, or 2^32 or more),
 * CCL_ERROR_NO_MEMORY. */
CCL_API CclStatus ccl_mask_alloc (uint32_t width, uint32_t height, CclMask *mask);

/* Frees the words of a mask that ccl_mask_alloc() or ccl_mask_read_pbm() made, and clears @mask.
 * Ignores NULL and masks without words. */
CCL_API void ccl_mask_free (CclMask *mask);

/* Turns bytes into bits with the best instruction set of this CPU: a pixel is foreground if its
 * value > @threshold, or, with @invert, if not. @pixels has the rows of @mask, one byte per pixel
 * and @stride bytes apart; nothing past a row's last pixel is read. Errors:
 * CCL_ERROR_INVALID (NULL, @stride less than the width, a bad mask), CCL_ERROR_UNSUPPORTED (the
 * mask is in device memory). */
CCL_API CclStatus ccl_mask_pack (CclMask *mask, const uint8_t *pixels, size_t stride,
                                 uint8_t threshold, bool invert);

/* Turns bits into bytes: @value for foreground, 0 for background. Nothing past the width is
 * written. Errors: as ccl_mask_pack(). */
CCL_API CclStatus ccl_mask_unpack (const CclMask *mask, uint8_t *pixels, size_t stride,
                                   uint8_t value);

/* Reads a binary PBM file (P4; 1, black, is foreground) from the current position of @file into a
 * new mask, to be freed with ccl_mask_free(). Leaves @file behind the last row. Errors:
 * CCL_ERROR_INVALID (no PBM file, or it ends too early; ccl_last_error() names the byte, counted
 * from 0), CCL_ERROR_NO_MEMORY; @mask is then cleared. */
CCL_API CclStatus ccl_mask_read_pbm (FILE *file, CclMask *mask);

/* Writes a mask as a binary PBM file. Errors: CCL_ERROR_INVALID (NULL, a bad mask, or @file cannot
 * be written), CCL_ERROR_UNSUPPORTED (device memory). */
CCL_API CclStatus ccl_mask_write_pbm (const CclMask *mask, FILE *file);

typedef enum CclOperationKind
{
  CCL_OPERATION_MEDIAN = 0, /* the majority of a square of @width, 3 or 5; the pixels at the
                             * frame's border are repeated outside */
  CCL_OPERATION_ERODE,      /* foreground where the whole rectangle around the pixel is */
  CCL_OPERATION_DILATE,     /* foreground where any pixel of the rectangle is */
  CCL_OPERATION_OPEN,       /* erode, then dilate: removes what the rectangle does not fit into */
  CCL_OPERATION_CLOSE,      /* dilate, then erode: closes gaps that it does not fit into */
  CCL_OPERATION_FILL,       /* fills holes of at most @size pixels, with 0 all holes. A hole is a
                             * component of the background without a pixel at the frame's border;
                             * its connectivity is 4 if the foreground's is 8, and vice versa */
  CCL_OPERATION_DROP,       /* removes components of fewer than @size pixels */
} CclOperationKind;

#define CCL_MAX_OPERATIONS 16      /* in a chain */
#define CCL_MAX_OPERATION_SIZE 255 /* pixels of a rectangle's side */

/* One step of the cleaning of a mask. Rectangles are centred on the pixel; their pixels outside the
 * frame are ignored. The results are bit-exact with OpenCV's medianBlur(), erode(), dilate() and
 * morphologyEx() with their default borders, and with SciPy's binary_fill_holes() for
 * 8-connectivity. Fields that a kind does not use are 0. */
struct CclOperation
{
  CclOperationKind kind;
  uint32_t width, height; /* pixels. Median: both 3 or both 5; erode, dilate, open, close: odd, 1 to
                           * CCL_MAX_OPERATION_SIZE */
  uint64_t size;          /* pixels; fill: 0 for all; drop: at least 1 */
};

/* CclConfig.auto_operations: sizes are shares of the frame's shorter side. While no object is as
 * large as 1/320 of its square, operations suit far targets: closeNxN with N of .006, at least 3,
 * and dropN with 1/5000 of the square. After 0.3 s with a larger one, or more than 12, in each
 * frame they suit near objects: median3, openWxH with .003 and .03, fill, and dropN with 1/830;
 * until there was none for 10 minutes, or ccl_analyzer_reset(). The same frames get the same
 * operations on all backends. */

/* Parses a chain of operations such as "median5,close5x11,fill,drop50" into @operations, which has
 * room for CCL_MAX_OPERATIONS, and its length into @n. The operations: median3, median5, erodeWxH,
 * dilateWxH, openWxH, closeWxH, fill, fillN, dropN. Blanks around them are ignored; blank text is
 * an empty chain. Errors: CCL_ERROR_INVALID; ccl_last_error() names the position, in bytes from 0.
 */
CCL_API CclStatus ccl_operations_parse (const char *text, CclOperation *operations, uint32_t *n);

/* Checks operations that were not parsed. Errors: CCL_ERROR_INVALID; ccl_last_error() says which
 * and why. */
CCL_API CclStatus ccl_operations_check (const CclOperation *operations, uint32_t n);

/* Writes valid operations in the syntax of ccl_operations_parse() as snprintf() does: at most @size
 * bytes with the 0 at the end; returns the length of the whole text without it. */
CCL_API size_t ccl_operations_format (const CclOperation *operations, uint32_t n, char *text,
                                      size_t size);

/* A chain of operations on the CPU, with the memory that it needs. It belongs to one thread at a
 * time. */
typedef struct CclMorphology CclMorphology;

/* Makes a chain of @n operations for masks of one size. @connectivity, 4 or 8, is that of the
 * foreground. @threads, at most CCL_MAX_THREADS and including the caller's, share the work; 0 is
 * one for each CPU that the process may use. @operations is copied. Free it with
 * ccl_morphology_free(). Errors: CCL_ERROR_INVALID, CCL_ERROR_NO_MEMORY. */
CCL_API CclStatus ccl_morphology_new (uint32_t width, uint32_t height, unsigned connectivity,
                                      const CclOperation *operations, uint32_t n, unsigned threads,
                                      CclMorphology **morphology);

/* Applies the operations in their order, in place. Allocates nothing. Errors: CCL_ERROR_INVALID
 * (NULL, a bad mask or one of another size), CCL_ERROR_UNSUPPORTED (device memory). */
CCL_API CclStatus ccl_morphology_apply (CclMorphology *morphology, CclMask *mask);

/* Frees a chain. NULL is ignored. */
CCL_API void ccl_morphology_free (CclMorphology *morphology);

/* Draws a region: foreground are the pixels in any polygon of @include (all pixels if that is NULL
 * or blank) and in none of @exclude (none if that is NULL or blank). Polygons are written as "x,y
 * x,y x,y; x,y ..." in fractions of the frame, 0 to 1, with at most 9 decimals; each has at least 3
 * corners and may cross itself (even-odd rule). A pixel is in a polygon if its centre is; a centre
 * exactly on an edge belongs to the polygon to the right of it, or below it. @mask is allocated by
 * the caller, in host memory, and overwritten. Errors: CCL_ERROR_INVALID (NULL, a bad mask, bad
 * polygons: ccl_last_error() names the string and the position, in bytes from 0),
 * CCL_ERROR_UNSUPPORTED (device memory), CCL_ERROR_NO_MEMORY. */
CCL_API CclStatus ccl_region_parse (const char *include, const char *exclude, CclMask *mask);

#ifdef __cplusplus
}
#endif

#endif
