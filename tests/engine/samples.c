/* cudaccl - checkccl: video of more than 8 bits: luma and chroma in samples of 16 bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "engine/cpu/tuning.h"
#include "tests/lib/device.h"

#include <cudaccl/crop.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define FRAMES 4

typedef struct Layout
{
  CclFormat format;
  unsigned step;  /* of chroma */
  unsigned shift; /* from a sample to its highest 8 bits */
  bool big_endian;
} Layout;

static const Layout layouts[] = {
  { CCL_FORMAT_GRAY10_LE, 2, 2, false }, /* I420_10LE */
  { CCL_FORMAT_GRAY10_LE, 4, 2, false }, /* every other sample of Y444_10LE */
  { CCL_FORMAT_GRAY12_LE, 2, 4, false }, { CCL_FORMAT_GRAY16_LE, 4, 8, false }, /* P010_10LE */
  { CCL_FORMAT_GRAY16_BE, 2, 8, true },
};

/* Three planes of bytes, and the same as samples: of one with step 4, every other sample is
 * noise, or, alternating, the other plane's. */
typedef struct Video
{
  uint32_t width, height;
  TestImage bytes[3], samples[3];
  CclChroma byte_chroma, sample_chroma;
  void *device[3];
} Video;

static Video
video_new (const Layout *layout, uint32_t width, uint32_t height)
{
  Video video = { .width = width, .height = height };

  for (int i = 0; i < 3; i++) {
    const uint32_t columns = i ? (width + 1) / 2 : width, rows = i ? (height + 1) / 2 : height;
    const uint32_t row = i ? (columns - 1) * layout->step + 2 : 2 * columns;

    video.bytes[i] = test_image_new (columns, rows);
    video.samples[i] = test_image_new (row, rows);
  }
  return video;
}

static void
video_draw (Video *video, const Layout *layout, uint32_t number, Mt19937 *rng)
{
  for (int i = 0; i < 3; i++) {
    const unsigned step = i ? layout->step : 2;
    TestImage *bytes = &video->bytes[i], *samples = &video->samples[i];

    for (size_t k = 0; number == 0 && k < (size_t) samples->width * samples->height; k++)
      samples->pixels[k] = (uint8_t) mt19937_below (rng, 256);
    for (size_t k = 0; k < (size_t) bytes->width * bytes->height; k++) {
      const size_t x = k % bytes->width, y = k / bytes->width;
      uint8_t *sample = samples->pixels + y * samples->width + x * step;
      unsigned value;

      if (number == 0)
        bytes->pixels[k] = (uint8_t) mt19937_below (rng, 256);
      else if ((x / 24 + y / 5 + number) % 4 == 0)
        bytes->pixels[k] = (uint8_t) (bytes->pixels[k] + 90);
      /* The lower bits, and those that are not used, are noise. */
      value = mt19937_below (rng, 65536);
      value &= ~(255u << layout->shift);
      value |= (unsigned) bytes->pixels[k] << layout->shift;
      sample[layout->big_endian] = (uint8_t) value;
      sample[!layout->big_endian] = (uint8_t) (value >> 8);
    }
  }
}

static CclImage
video_bytes (Video *video, bool chroma)
{
  CclImage image = test_image_view (&video->bytes[0]);

  video->byte_chroma.step = 1;
  for (int i = 0; i < 2; i++)
    video->byte_chroma.planes[i] = test_image_view (&video->bytes[1 + i]);
  image.chroma = chroma ? &video->byte_chroma : NULL;
  return image;
}

/* The samples, in @memory. */
static CclImage
video_samples (Video *video, const Layout *layout, CclMemory memory, bool chroma)
{
  CclImage images[3];

  for (int i = 0; i < 3; i++) {
    const TestImage *image = &video->samples[i];
    const size_t size = (size_t) image->width * image->height;

    images[i] = test_image_view (image);
    images[i].format = layout->format;
    if (memory != CCL_MEMORY_DEVICE)
      continue;
    if (!video->device[i])
      video->device[i] = test_device_alloc (memory, size);
    test_device_upload (video->device[i], image->pixels, size);
    images[i].data = video->device[i];
    images[i].memory = memory;
  }
  video->sample_chroma = (CclChroma){ .planes = { images[1], images[2] }, .step = layout->step };
  images[0].chroma = chroma ? &video->sample_chroma : NULL;
  return images[0];
}

static void
video_clear (Video *video)
{
  for (int i = 0; i < 3; i++) {
    test_image_clear (&video->bytes[i]);
    test_image_clear (&video->samples[i]);
    if (video->device[i])
      test_device_free (CCL_MEMORY_DEVICE, video->device[i]);
  }
}

/* Samples give what their highest bits give as bytes on the CPU. */
static void
check_stream (Check *check, const Layout *layout, CclBackend backend, CclMemory memory,
              const CclMotionConfig *motion, uint32_t width, uint32_t height)
{
  const bool chroma = motion && motion->format == CCL_MOTION_LUMA_420;
  Video video = video_new (layout, width, height);
  CclAnalyzer *analyzers[2] = { NULL, NULL };
  uint64_t allocations = 0;
  CclConfig config;
  CclParams params;

  ccl_config_init (&config, width, height);
  config.motion = motion;
  config.max_components = 4096;
  ccl_params_init (&params);
  config.backend = CCL_BACKEND_CPU;
  check_that (check, ccl_analyzer_new (&config, &analyzers[0]) == CCL_OK, "%s", ccl_last_error ());
  config.backend = backend;
  check_that (check, ccl_analyzer_new (&config, &analyzers[1]) == CCL_OK, "%s", ccl_last_error ());
  for (uint32_t i = 0; analyzers[0] && analyzers[1] && i < FRAMES; i++) {
    CclComponents wanted, got;
    CclImage bytes, samples;
    CclInfo info;

    video_draw (&video, layout, i, &check->rng);
    bytes = video_bytes (&video, chroma);
    samples = video_samples (&video, layout, memory, chroma);
    if (!check_that (check,
                     ccl_analyzer_analyze (analyzers[0], &bytes, &params, &wanted) == CCL_OK &&
                         ccl_analyzer_analyze (analyzers[1], &samples, &params, &got) == CCL_OK,
                     "format %d: %s", (int) layout->format, ccl_last_error ()))
      break;
    check_that (check,
                wanted.count == got.count &&
                    memcmp (wanted.items, got.items, got.count * sizeof *got.items) == 0,
                "format %d, step %u, %ux%u, memory %d, model %d, frame %u: %u components, and %u "
                "of its bytes",
                (int) layout->format, layout->step, width, height, (int) memory,
                motion ? (int) motion->format : -1, i, got.count, wanted.count);
    ccl_analyzer_info (analyzers[1], &info);
    check_that (check, i == 0 || info.allocations == allocations, "frame %u allocated memory", i);
    allocations = info.allocations;
    check->runs++;
  }
  ccl_analyzer_free (analyzers[0]);
  ccl_analyzer_free (analyzers[1]);
  video_clear (&video);
}

static void
check_layout (Check *check, const Layout *layout, CclBackend backend, CclMemory memory)
{
  static const uint32_t sizes[][2] = { { 1, 1 }, { 3, 2 }, { 17, 5 }, { 64, 9 }, { 131, 35 } };
  static const CclMotionConfig models[] = { { CCL_MOTION_LUMA, 1, false },
                                            { CCL_MOTION_LUMA_420, 1, false },
                                            { CCL_MOTION_LUMA_420, 2, false } };

  for (size_t s = 0; s < (check->options.effort == EFFORT_TINY ? 3 : COUNT (sizes)); s++) {
    check_stream (check, layout, backend, memory, NULL, sizes[s][0], sizes[s][1]);
    for (size_t m = 0; m < COUNT (models); m++)
      check_stream (check, layout, backend, memory, &models[m], sizes[s][0], sizes[s][1]);
  }
}

static void
test_samples (Check *check)
{
  for (size_t i = 0; i < COUNT (layouts); i++) {
    const CclCpuFunctions *functions;

    if (check_wants_backend (check, CCL_BACKEND_CUDA)) {
      check_layout (check, &layouts[i], CCL_BACKEND_CUDA, CCL_MEMORY_HOST);
      check_layout (check, &layouts[i], CCL_BACKEND_CUDA, CCL_MEMORY_DEVICE);
    }
    for (size_t k = 0;
         check_wants_backend (check, CCL_BACKEND_CPU) && (functions = ccl_cpu_functions (k)); k++) {
      ccl_cpu_tuning.functions = functions;
      check_layout (check, &layouts[i], CCL_BACKEND_CPU, CCL_MEMORY_HOST);
    }
    ccl_cpu_tuning.functions = NULL;
  }
}

/* Crops of samples are those of their highest bits. */
static void
test_sample_crops (Check *check)
{
  static const uint32_t sizes[][4] = {
    { 1, 1, 7, 5 }, { 17, 9, 17, 9 }, { 33, 21, 48, 40 }, { 121, 67, 40, 31 }
  };

  for (size_t n = 0; n < COUNT (layouts) * COUNT (sizes) * 2; n++) {
    const Layout *layout = &layouts[n / 2 / COUNT (sizes)];
    const uint32_t *s = sizes[n / 2 % COUNT (sizes)];
    const size_t size = 3 * (size_t) s[2] * s[3];
    const CclCrop crop = { s[0] / 5, s[1] / 7, s[0] - s[0] / 5, s[1] - s[1] / 7, 0, 0, s[2], s[3] };
    Video video = video_new (layout, s[0], s[1]);
    uint8_t *expected = test_alloc (size);
    CclCropper *cropper = NULL;
    CclCropperConfig config;
    const uint8_t *got;
    CclImage image;
    CclStatus status;

    video_draw (&video, layout, 0, &check->rng);
    ccl_cropper_config_init (&config, s[2], s[3]);
    status = ccl_cropper_new (&config, &cropper);
    image = video_bytes (&video, n % 2);
    if (status == CCL_OK)
      status = ccl_cropper_draw (cropper, &image, s[0], s[1], CCL_COLORS_BT709, &crop, 1, &got);
    if (status == CCL_OK)
      memcpy (expected, got, size);
    for (int m = 0; status == CCL_OK && m < (test_device_available () ? 2 : 1); m++) {
      image = video_samples (&video, layout, m ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST, n % 2);
      status = ccl_cropper_draw (cropper, &image, s[0], s[1], CCL_COLORS_BT709, &crop, 1, &got);
      check_that (check, status == CCL_OK && memcmp (got, expected, size) == 0,
                  "a crop of format %d, step %u, %ux%u, chroma %zu, memory %d",
                  (int) layout->format, layout->step, s[0], s[1], n % 2, m);
      check->runs++;
    }
    check_that (check, status == CCL_OK, "%s", ccl_last_error ());
    ccl_cropper_free (cropper);
    free (expected);
    video_clear (&video);
  }
}

static void
test_sample_errors (Check *check)
{
  static const struct
  {
    const char *what;
    size_t stride;
    unsigned step;
    CclFormat format;
    CclMemory memory;
    CclStatus status;
  } cases[] = {
    { "right", 100, 2, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_HOST, CCL_OK },
    { "stride", 99, 2, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_HOST, CCL_ERROR_INVALID },
    { "stride of pairs", 197, 4, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_HOST, CCL_ERROR_INVALID },
    { "step 1", 400, 1, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_HOST, CCL_ERROR_INVALID },
    { "step 8", 400, 8, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_HOST, CCL_ERROR_INVALID },
    { "bytes", 400, 2, CCL_FORMAT_BYTES, CCL_MEMORY_HOST, CCL_ERROR_INVALID },
    { "device", 400, 2, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_DEVICE, CCL_ERROR_UNSUPPORTED },
    { "array", 400, 2, CCL_FORMAT_GRAY10_LE, CCL_MEMORY_ARRAY, CCL_ERROR_UNSUPPORTED },
  };
  const CclMotionConfig motion = { CCL_MOTION_LUMA_420, 1, false };
  uint8_t *pixels;

  if (!check_wants_backend (check, CCL_BACKEND_CPU))
    return;
  pixels = calloc (400, 10);
  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclImage plane = { .data = pixels,
                             .stride = cases[i].stride,
                             .format = cases[i].format,
                             .memory = cases[i].memory };
    const CclChroma chroma = { { plane, plane }, cases[i].step };
    CclImage image = {
      .data = pixels, .stride = 400, .format = CCL_FORMAT_GRAY10_LE, .chroma = &chroma
    };
    CclComponents components;
    CclAnalyzer *analyzer;
    CclConfig config;
    CclParams params;

    ccl_config_init (&config, 99, 10);
    config.backend = CCL_BACKEND_CPU;
    config.motion = &motion;
    ccl_params_init (&params);
    check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ());
    check_that (check,
                ccl_analyzer_analyze (analyzer, &image, &params, &components) == cases[i].status,
                "%s: not as it should be: %s", cases[i].what, ccl_last_error ());
    check->runs++;
    ccl_analyzer_free (analyzer);
  }
  free (pixels);
}

const Test sample_tests[] = {
  { "samples", test_samples },
  { "sample-crops", test_sample_crops },
  { "sample-errors", test_sample_errors },
  { NULL, NULL },
};
