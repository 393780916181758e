/* cudaccl - checkccl: crops, on the CPU and on a device, against a plain reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"

#include <cudaccl/crop.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A frame in planes; chroma is interleaved with step 2. */
typedef struct Frame
{
  uint32_t width, height, step; /* step 0: no chroma */
  TestImage planes[3];          /* of [2], only pixels beside those of [1], with step 2 */
} Frame;

static uint32_t
half (uint32_t n)
{
  return (n + 1) / 2;
}

static Frame
frame_new (Mt19937 *rng, uint32_t width, uint32_t height, uint32_t step)
{
  Frame frame = { .width = width, .height = height, .step = step };

  frame.planes[0] = test_image_new (width, height);
  for (int i = 1; i < 3; i++)
    frame.planes[i] = test_image_new (half (width) * (step ? step : 1), half (height));
  for (int i = 0; i < 3; i++) {
    TestImage *image = &frame.planes[i];

    for (size_t k = 0; k < (size_t) image->width * image->height; k++)
      image->pixels[k] = (uint8_t) mt19937_next (rng);
  }
  return frame;
}

static void
frame_clear (Frame *frame)
{
  for (int i = 0; i < 3; i++)
    test_image_clear (&frame->planes[i]);
}

static uint32_t
frame_get (const Frame *frame, unsigned plane, uint32_t x, uint32_t y)
{
  if (plane == 0)
    return frame->planes[0].pixels[(size_t) y * frame->width + x];
  if (frame->step == 2)
    return frame->planes[1].pixels[(size_t) y * frame->planes[1].width + 2 * x + plane - 1];
  return frame->planes[plane].pixels[(size_t) y * frame->planes[plane].width + x];
}

/* The weight of sample @s, @sub pixels wide, in sample @i of the picture; @total: of all. */
static int64_t
weight_of (int64_t s, int64_t i, int64_t from, int64_t size, int64_t to, int64_t sub,
           int64_t samples, int64_t *total)
{
  const int64_t width = sub * to;
  int64_t start = from * to + i * size, end = start + size, centre, distance;

  if (size >= width) {
    int64_t left = start > s * width ? start : s * width;
    int64_t right = end < (s + 1) * width ? end : (s + 1) * width;

    *total = size;
    return right > left ? right - left : 0;
  }
  *total = 2 * width;
  centre = start + end;
  if (centre < width)
    centre = width;
  if (centre > (2 * samples - 1) * width)
    centre = (2 * samples - 1) * width;
  distance = llabs ((2 * s + 1) * width - centre);
  return distance < 2 * width ? 2 * width - distance : 0;
}

static uint32_t
mean_of (const Frame *frame, unsigned plane, const CclCrop *crop, uint32_t u, uint32_t v)
{
  const uint32_t sub = plane == 0 ? 1 : 2;
  const uint32_t columns = plane == 0 ? frame->width : half (frame->width);
  const uint32_t rows = plane == 0 ? frame->height : half (frame->height);
  int64_t sum = 0, total_x = 1, total_y = 1;

  for (uint32_t y = 0; y < rows; y++) {
    int64_t weight = weight_of (y, v, crop->y, crop->height, crop->to_height, sub, rows, &total_y);

    for (uint32_t x = 0; weight > 0 && x < columns; x++)
      sum += weight *
             weight_of (x, u, crop->x, crop->width, crop->to_width, sub, columns, &total_x) *
             frame_get (frame, plane, x, y);
  }
  return (uint32_t) ((2 * sum + total_x * total_y) / (2 * total_x * total_y));
}

static uint8_t
clamp (double value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

static void
reference (const Frame *frame, const CclCrop *crop, uint32_t u, uint32_t v, uint8_t rgb[3])
{
  uint32_t luma = mean_of (frame, 0, crop, u, v);
  double y, b, r;

  rgb[0] = rgb[1] = rgb[2] = (uint8_t) luma;
  if (!frame->step)
    return;
  y = 298 * ((double) luma - 16) + 128;
  b = (double) mean_of (frame, 1, crop, u, v) - 128;
  r = (double) mean_of (frame, 2, crop, u, v) - 128;
  rgb[0] = clamp (floor ((y + 459 * r) / 256));
  rgb[1] = clamp (floor ((y - 55 * b - 136 * r) / 256));
  rgb[2] = clamp (floor ((y + 541 * b) / 256));
}

/* The frame in memory of one kind; @memories: to be freed. */
static CclImage
place (const Frame *frame, CclMemory memory, CclChroma *chroma, void *memories[3])
{
  CclImage images[3];

  for (int i = 0; i < 3; i++) {
    const TestImage *image = &frame->planes[i];
    size_t size = (size_t) image->width * image->height;

    memories[i] = NULL;
    images[i] = test_image_view (image);
    images[i].memory = memory;
    if (memory == CCL_MEMORY_ARRAY) {
      memories[i] =
          test_device_array_new (image->pixels, image->width, image->width, image->height);
      images[i].data = memories[i];
    } else if (memory == CCL_MEMORY_DEVICE) {
      memories[i] = test_device_alloc (memory, size);
      test_device_upload (memories[i], image->pixels, size);
      images[i].data = memories[i];
    }
  }
  *chroma = (CclChroma){ .planes = { images[1], images[2] }, .step = frame->step };
  if (frame->step == 2) {
    chroma->planes[1] = chroma->planes[0];
    chroma->planes[1].data += memory != CCL_MEMORY_ARRAY;
  }
  images[0].chroma = frame->step ? chroma : NULL;
  return images[0];
}

static void
release (CclMemory memory, void *memories[3])
{
  for (int i = 0; i < 3; i++) {
    if (memory == CCL_MEMORY_ARRAY)
      test_device_array_free (memories[i]);
    else if (memory == CCL_MEMORY_DEVICE)
      test_device_free (memory, memories[i]);
  }
}

static CclCrop
random_crop (Mt19937 *rng, const Frame *frame, uint32_t width, uint32_t height)
{
  CclCrop crop = { .x = mt19937_below (rng, frame->width),
                   .y = mt19937_below (rng, frame->height),
                   .to_x = mt19937_below (rng, width),
                   .to_y = mt19937_below (rng, height) };

  crop.width = 1 + mt19937_below (rng, frame->width - crop.x);
  crop.height = 1 + mt19937_below (rng, frame->height - crop.y);
  crop.to_width = 1 + mt19937_below (rng, width - crop.to_x);
  crop.to_height = 1 + mt19937_below (rng, height - crop.to_y);
  return crop;
}

static void
draw_expected (const Frame *frame, const CclCrop *crops, uint32_t n, uint32_t width,
               uint32_t height, uint8_t *expected)
{
  memset (expected, 114, 3 * (size_t) width * height);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t v = 0; v < crops[i].to_height; v++)
      for (uint32_t u = 0; u < crops[i].to_width; u++) {
        uint8_t rgb[3];

        reference (frame, &crops[i], u, v, rgb);
        for (unsigned k = 0; k < 3; k++)
          expected[(k * height + crops[i].to_y + v) * width + crops[i].to_x + u] = rgb[k];
      }
}

static void
check_crops (Check *check, const Frame *frame, const CclCrop *crops, uint32_t n, uint32_t width,
             uint32_t height)
{
  static const CclMemory kinds[] = { CCL_MEMORY_HOST, CCL_MEMORY_DEVICE, CCL_MEMORY_ARRAY };
  const size_t size = 3 * (size_t) width * height;
  uint8_t *expected = test_alloc (size);
  CclCropperConfig config;
  CclCropper *cropper;

  draw_expected (frame, crops, n, width, height, expected);
  ccl_cropper_config_init (&config, width, height);
  if (!check_that (check, ccl_cropper_new (&config, &cropper) == CCL_OK, "%s", ccl_last_error ())) {
    free (expected);
    return;
  }
  for (int i = 0; i < (test_device_available () ? 3 : 1); i++) {
    const uint8_t *got = NULL;
    void *memories[3];
    CclChroma chroma;
    CclImage image = place (frame, kinds[i], &chroma, memories);
    uint64_t before;
    CclStatus status = ccl_cropper_draw (cropper, &image, frame->width, frame->height,
                                         CCL_COLORS_BT709, crops, n, &got);

    check_that (check, status == CCL_OK && memcmp (got, expected, size) == 0,
                "%u crops of %ux%u, step %u, in %ux%u, memory %d: %s", n, frame->width,
                frame->height, frame->step, width, height, (int) kinds[i],
                status == CCL_OK ? "wrong" : ccl_last_error ());
    before = ccl_cropper_allocations (cropper);
    status = ccl_cropper_draw (cropper, &image, frame->width, frame->height, CCL_COLORS_BT709,
                               crops, n, &got);
    check_that (check, status == CCL_OK && ccl_cropper_allocations (cropper) == before,
                "a second picture allocates");
    release (kinds[i], memories);
  }
  ccl_cropper_free (cropper);
  free (expected);
}

static void
test_crops (Check *check)
{
  static const uint32_t sizes[][4] = {
    { 1, 1, 1, 1 },     { 1, 1, 7, 5 },     { 2, 3, 1, 1 },      { 17, 9, 17, 9 },
    { 64, 48, 32, 24 }, { 33, 21, 48, 40 }, { 121, 67, 40, 31 }, { 16, 90, 64, 8 },
  };
  unsigned rounds = check->options.effort <= EFFORT_SMALL ? 1 : 4;

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (uint32_t step = 0; step < 3; step++)
      for (unsigned k = 0; k < rounds; k++) {
        const uint32_t *s = sizes[i];
        Frame frame = frame_new (&check->rng, s[0], s[1], step);
        CclCrop crops[3] = { { 0, 0, s[0], s[1], 0, 0, s[2], s[3] } };

        crops[1] = random_crop (&check->rng, &frame, s[2], s[3]);
        crops[2] = random_crop (&check->rng, &frame, s[2], s[3]);
        check_crops (check, &frame, crops, k % 4 == 0 ? 3 : k - 1, s[2], s[3]);
        check_crops (check, &frame, crops + 1, 2, s[2], s[3]);
        frame_clear (&frame);
      }
}

/* Draws an interleaved frame from host and device memory. */
static void
check_interleaved (Check *check, CclFormat format, const TestImage *bytes, uint32_t width,
                   const CclCrop *crop, uint32_t to_width, uint32_t to_height,
                   const uint8_t *expected)
{
  const size_t size = 3 * (size_t) to_width * to_height;
  CclCropperConfig config;
  CclCropper *cropper;

  ccl_cropper_config_init (&config, to_width, to_height);
  if (ccl_cropper_new (&config, &cropper) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  for (int i = 0; i < (test_device_available () ? 2 : 1); i++) {
    CclImage image = test_image_view (bytes);
    void *memory = NULL;
    const uint8_t *got;
    CclStatus status;

    image.format = format;
    if (i == 1) {
      memory = test_device_alloc (CCL_MEMORY_DEVICE, (size_t) bytes->width * bytes->height);
      test_device_upload (memory, bytes->pixels, (size_t) bytes->width * bytes->height);
      image.memory = CCL_MEMORY_DEVICE;
      image.data = memory;
    }
    status = ccl_cropper_draw (cropper, &image, width, bytes->height, CCL_COLORS_BT601_FULL, crop,
                               1, &got);
    check_that (check, status == CCL_OK && memcmp (got, expected, size) == 0,
                "format %d, in %s memory: %s", (int) format, i ? "device" : "host",
                status == CCL_OK ? "wrong" : ccl_last_error ());
    if (memory)
      test_device_free (CCL_MEMORY_DEVICE, memory);
  }
  ccl_cropper_free (cropper);
}

/* Each colour is cropped as a grey frame is. */
static void
test_interleaved (Check *check)
{
  static const struct
  {
    CclFormat format;
    uint32_t bytes, offsets[3];
  } formats[] = {
    { CCL_FORMAT_RGB, 3, { 0, 1, 2 } },       { CCL_FORMAT_BGR, 3, { 2, 1, 0 } },
    { CCL_FORMAT_RGBX, 4, { 0, 1, 2 } },      { CCL_FORMAT_BGRX, 4, { 2, 1, 0 } },
    { CCL_FORMAT_XRGB, 4, { 1, 2, 3 } },      { CCL_FORMAT_XBGR, 4, { 3, 2, 1 } },
    { CCL_FORMAT_GRAY16_LE, 2, { 1, 1, 1 } }, { CCL_FORMAT_GRAY16_BE, 2, { 0, 0, 0 } },
  };
  const uint32_t width = 37, height = 23, to_width = 16, to_height = 32;
  const CclCrop crop = { 3, 2, 31, 19, 1, 2, 14, 29 };
  uint8_t *expected = test_alloc (3 * (size_t) to_width * to_height);

  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    Frame whole = frame_new (&check->rng, width * formats[i].bytes, height, 0);

    memset (expected, 114, 3 * (size_t) to_width * to_height);
    for (uint32_t k = 0; k < 3; k++) {
      Frame grey = frame_new (&check->rng, width, height, 0);

      for (size_t p = 0; p < (size_t) width * height; p++)
        grey.planes[0].pixels[p] =
            whole.planes[0].pixels[p * formats[i].bytes + formats[i].offsets[k]];
      for (uint32_t v = 0; v < crop.to_height; v++)
        for (uint32_t u = 0; u < crop.to_width; u++)
          expected[(k * to_height + crop.to_y + v) * to_width + crop.to_x + u] =
              (uint8_t) mean_of (&grey, 0, &crop, u, v);
      frame_clear (&grey);
    }
    check_interleaved (check, formats[i].format, &whole.planes[0], width, &crop, to_width,
                       to_height, expected);
    frame_clear (&whole);
  }
  free (expected);
}

/* With half the columns, a pair of pixels becomes one. */
static void
test_pairs (Check *check)
{
  const uint32_t width = 24, height = 9, to = width / 2;
  const CclCrop crop = { 0, 0, width, height, 0, 0, to, height };
  uint8_t *expected = test_alloc (3 * (size_t) to * height);

  for (int uyvy = 0; uyvy < 2; uyvy++) {
    Frame frame = frame_new (&check->rng, width * 2, height, 0);

    for (uint32_t i = 0; i < to * height; i++) {
      const uint8_t *pair = frame.planes[0].pixels + 4 * (size_t) i;
      double y = 256 * ((pair[uyvy] + pair[uyvy + 2] + 1) / 2) + 128;
      double u = pair[1 - uyvy] - 128.0, v = pair[3 - uyvy] - 128.0;

      expected[i] = clamp (floor ((y + 359 * v) / 256));
      expected[to * height + i] = clamp (floor ((y - 88 * u - 183 * v) / 256));
      expected[2 * to * height + i] = clamp (floor ((y + 454 * u) / 256));
    }
    check_interleaved (check, uyvy ? CCL_FORMAT_UYVY : CCL_FORMAT_YUYV, &frame.planes[0], width,
                       &crop, to, height, expected);
    frame_clear (&frame);
  }
  free (expected);
}

/* A flat frame stays what it is, whatever the scale, and the largest sums fit. */
static void
test_large (Check *check)
{
  const uint32_t width = 16384, height = 8192;
  TestImage frame;
  CclImage image;
  CclCropperConfig config;
  CclCropper *cropper = NULL;
  const CclCrop crop = { 0, 0, width, height, 1, 1, 2, 1 };
  const uint8_t *got;
  CclStatus status;

  if (check->options.effort <= EFFORT_SMALL)
    return;
  frame = test_image_new (width, height);
  memset (frame.pixels, 255, (size_t) width * height);
  image = test_image_view (&frame);
  ccl_cropper_config_init (&config, 4, 3);
  status = ccl_cropper_new (&config, &cropper);
  if (status == CCL_OK)
    status = ccl_cropper_draw (cropper, &image, width, height, CCL_COLORS_BT601, &crop, 1, &got);
  check_that (check,
              status == CCL_OK && got[4] == 114 && got[5] == 255 && got[6] == 255 && got[7] == 114,
              "a large white frame is not white");
  ccl_cropper_free (cropper);
  test_image_clear (&frame);
}

static void
refuse (Check *check, CclCropper *cropper, const CclImage *image, uint32_t width,
        const CclCrop *crop, CclStatus expected)
{
  const uint8_t *got;

  check_that (check,
              ccl_cropper_draw (cropper, image, width, 8, CCL_COLORS_BT601, crop, 1, &got) ==
                  expected,
              "a bad crop or frame of width %u: %s", width, ccl_last_error ());
}

/* 32768 by 2050 pixels are few enough, but their chroma grows to 2048 rows, in steps of a quarter.
 * Is refused before anything is read. */
static void
refuse_chroma (Check *check)
{
  static const uint8_t nothing[1] = { 0 };
  static const CclCrop crop = { 0, 0, 32768, 2050, 0, 0, 4, 2048 };
  const CclImage plane = { .data = nothing, .stride = 32768 };
  const CclChroma chroma = { { plane, plane }, 1 };
  CclImage image = plane;
  CclCropperConfig config;
  CclCropper *cropper;
  const uint8_t *got;

  image.chroma = &chroma;
  ccl_cropper_config_init (&config, 4, 2048);
  check_that (check, ccl_cropper_new (&config, &cropper) == CCL_OK, "%s", ccl_last_error ());
  check_that (check,
              ccl_cropper_draw (cropper, &image, 32768, 2050, CCL_COLORS_BT601, &crop, 1, &got) ==
                  CCL_ERROR_UNSUPPORTED,
              "chroma with too many weights");
  ccl_cropper_free (cropper);
}

static void
test_errors (Check *check)
{
  static const CclCrop bad[] = {
    { 0, 0, 9, 8, 0, 0, 4, 4 }, { 1, 0, 8, 8, 0, 0, 4, 4 },          { 0, 0, 0, 8, 0, 0, 4, 4 },
    { 0, 0, 8, 8, 0, 0, 5, 4 }, { 0, 0, 8, 8, 1, 0, 4, 4 },          { 0, 0, 8, 8, 0, 0, 4, 0 },
    { 0, 8, 8, 1, 0, 0, 4, 4 }, { UINT32_MAX, 0, 2, 8, 0, 0, 4, 4 },
  };
  static const CclCrop good = { 0, 0, 8, 8, 0, 0, 4, 4 };
  TestImage frame = test_image_new (8, 8);
  CclImage image = test_image_view (&frame);
  CclChroma chroma = { { image, image }, 1 };
  CclCropperConfig config;
  CclCropper *cropper = NULL;

  refuse_chroma (check);
  ccl_cropper_config_init (&config, 0, 4);
  check_that (check, ccl_cropper_new (&config, &cropper) == CCL_ERROR_INVALID, "no width");
  ccl_cropper_config_init (&config, 4, CCL_MAX_CROP_PICTURE + 1);
  check_that (check, ccl_cropper_new (&config, &cropper) == CCL_ERROR_INVALID, "too high");
  ccl_cropper_config_init (&config, 4, 4);
  check_that (check, ccl_cropper_new (&config, &cropper) == CCL_OK, "%s", ccl_last_error ());
  for (size_t i = 0; cropper && i < sizeof bad / sizeof *bad; i++)
    refuse (check, cropper, &image, 8, &bad[i], CCL_ERROR_INVALID);
  if (cropper) {
    refuse (check, cropper, &image, 9, &good, CCL_ERROR_INVALID);
    refuse (check, cropper, &image, 8, &good, CCL_OK);
    image.chroma = &chroma;
    refuse (check, cropper, &image, 8, &good, CCL_OK);
    chroma.planes[1].memory = CCL_MEMORY_DEVICE;
    refuse (check, cropper, &image, 8, &good, CCL_ERROR_UNSUPPORTED);
    image.memory = chroma.planes[0].memory = CCL_MEMORY_DEVICE;
    if (!test_device_available ()) {
      const uint8_t *got;

      check_that (check,
                  ccl_cropper_draw (cropper, &image, 8, 8, CCL_COLORS_BT601, &good, 1, &got) !=
                      CCL_OK,
                  "device memory without a device");
    }
  }
  ccl_cropper_free (cropper);
  ccl_cropper_free (NULL);
  test_image_clear (&frame);
}

const Test crop_tests[] = {
  { "crops", test_crops },        { "crops-interleaved", test_interleaved },
  { "crops-pairs", test_pairs },  { "crops-large", test_large },
  { "crop-errors", test_errors }, { NULL, NULL },
};
