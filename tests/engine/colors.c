/* cudaccl - checkccl: frames of interleaved colours and of 16-bit samples
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "engine/color.h"
#include "engine/cpu/tuning.h"
#include "tests/lib/device.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define FRAMES 4

/* Where a pixel's bytes are: of red, green and blue, or of luma and, in two pixels, of chroma. */
typedef struct Layout
{
  CclFormat format;
  const char *name;
  unsigned bytes;
  int red, green, blue;
  int luma, cb, cr; /* cb -1: no chroma */
} Layout;

static const Layout layouts[] = {
  { CCL_FORMAT_RGB, "RGB", 3, 0, 1, 2, -1, 0, 0 },
  { CCL_FORMAT_BGR, "BGR", 3, 2, 1, 0, -1, 0, 0 },
  { CCL_FORMAT_RGBX, "RGBX", 4, 0, 1, 2, -1, 0, 0 },
  { CCL_FORMAT_BGRX, "BGRX", 4, 2, 1, 0, -1, 0, 0 },
  { CCL_FORMAT_XRGB, "XRGB", 4, 1, 2, 3, -1, 0, 0 },
  { CCL_FORMAT_XBGR, "XBGR", 4, 3, 2, 1, -1, 0, 0 },
  { CCL_FORMAT_YUYV, "YUYV", 2, 0, 0, 0, 0, 1, 3 },
  { CCL_FORMAT_UYVY, "UYVY", 2, 0, 0, 0, 1, 0, 2 },
  { CCL_FORMAT_GRAY16_LE, "GRAY16_LE", 2, 0, 0, 0, 1, -1, -1 },
  { CCL_FORMAT_GRAY16_BE, "GRAY16_BE", 2, 0, 0, 0, 0, -1, -1 },
};

/* The reference: luma and chroma of one frame. */
typedef struct Planes
{
  TestImage luma, chroma[2];
  CclChroma references;
} Planes;

static int
clamp (double value)
{
  return value < 0 ? 0 : value > 255 ? 255 : (int) value;
}

static uint8_t
luma_of (const Layout *layout, const uint8_t *pixel)
{
  if (layout->luma >= 0)
    return pixel[layout->luma];
  return (uint8_t) ((4899 * pixel[layout->red] + 9617 * pixel[layout->green] +
                     1868 * pixel[layout->blue] + 8192) /
                    16384);
}

/* The mean of up to 2x2 pixels. */
static uint8_t
chroma_of (const Layout *layout, const TestImage *frame, uint32_t width, uint32_t height,
           uint32_t x, uint32_t y, int which)
{
  const double factors[2][3] = { { -2765, -5427, 8192 }, { 8192, -6860, -1332 } };
  double sum = 0;

  for (uint32_t v = 0; v < 2; v++)
    for (uint32_t u = 0; u < 2; u++) {
      uint32_t row = y + v < height ? y + v : y, column = x + u < width ? x + u : x;
      const uint8_t *pixel = frame->pixels + (size_t) row * frame->width;

      if (layout->luma >= 0) {
        sum += 16384.0 *
               pixel[(size_t) x * layout->bytes + (size_t) (which ? layout->cr : layout->cb)];
        continue;
      }
      pixel += (size_t) column * layout->bytes;
      sum += 128.0 * 16384 + factors[which][0] * pixel[layout->red] +
             factors[which][1] * pixel[layout->green] + factors[which][2] * pixel[layout->blue];
    }
  return (uint8_t) clamp ((sum + 32768) / 65536);
}

static Planes
planes_new (uint32_t width, uint32_t height)
{
  Planes planes = { .luma = test_image_new (width, height) };

  for (int i = 0; i < 2; i++) {
    planes.chroma[i] = test_image_new ((width + 1) / 2, (height + 1) / 2);
    planes.references.planes[i] = test_image_view (&planes.chroma[i]);
  }
  planes.references.step = 1;
  return planes;
}

static void
planes_convert (Planes *self, const Layout *layout, const TestImage *frame)
{
  uint32_t width = self->luma.width, height = self->luma.height;

  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      self->luma.pixels[(size_t) y * width + x] =
          luma_of (layout, frame->pixels + (size_t) y * frame->width + (size_t) x * layout->bytes);
  for (uint32_t y = 0; y < height && layout->cb >= 0; y += 2)
    for (uint32_t x = 0; x < width; x += 2)
      for (int i = 0; i < 2; i++)
        self->chroma[i].pixels[(size_t) y / 2 * self->chroma[i].width + x / 2] =
            chroma_of (layout, frame, width, height, x, y, i);
}

static void
planes_clear (Planes *self)
{
  test_image_clear (&self->luma);
  test_image_clear (&self->chroma[0]);
  test_image_clear (&self->chroma[1]);
}

/* Patches of new colours on a noisy picture. */
static void
draw (TestImage *frame, uint32_t number, Mt19937 *rng)
{
  for (size_t i = 0; i < (size_t) frame->width * frame->height; i++) {
    size_t x = i % frame->width, y = i / frame->width;

    if (number == 0)
      frame->pixels[i] = (uint8_t) mt19937_below (rng, 256);
    else if ((x / 24 + y / 5 + number) % 4 == 0)
      frame->pixels[i] = (uint8_t) (frame->pixels[i] + 90);
  }
}

/* The planes themselves: a rounding error of one level is no foreground. */
static void
check_planes (Check *check, const Layout *layout, const CclImage *image, const Planes *expected)
{
  const uint32_t width = expected->luma.width, height = expected->luma.height;
  CclAccount account = { 0 };
  CclColorPlanes planes = { .memory = NULL };
  const CclCut cut = { 0 };
  bool right =
      ccl_color_planes_convert (&planes, image, width, height, layout->cb >= 0 || layout->luma < 0,
                                &cut, &account) == CCL_OK;

  for (uint32_t y = 0; y < height; y++)
    right &= memcmp (planes.luma.data + y * planes.luma.stride,
                     expected->luma.pixels + (size_t) y * width, width) == 0;
  for (int i = 0; i < 2 && planes.luma.chroma; i++)
    for (uint32_t y = 0; y < expected->chroma[i].height; y++)
      right &= memcmp (planes.chroma.planes[i].data + y * planes.chroma.planes[i].stride,
                       expected->chroma[i].pixels + (size_t) y * expected->chroma[i].width,
                       expected->chroma[i].width) == 0;
  check_that (check, right, "%s, %ux%u: wrong planes", layout->name, width, height);
  ccl_color_planes_clear (&planes);
}

/* A stream of frames in @memory, with the model's @motion or without (NULL), gives the same as its
 * planes on the CPU. */
static void
check_stream (Check *check, const Layout *layout, CclBackend backend, CclMemory memory,
              const CclMotionConfig *motion, uint32_t width, uint32_t height)
{
  bool pairs = layout->luma >= 0 && layout->cb >= 0;
  TestImage frame = test_image_new ((width + (pairs && width % 2)) * layout->bytes, height);
  TestPlacement placement = { .padding = mt19937_below (&check->rng, 9), .fill = 255 };
  Planes planes = planes_new (width, height);
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
    CclImage expected = test_image_view (&planes.luma), image;
    CclComponents wanted, got;
    CclInfo info;

    draw (&frame, i, &check->rng);
    planes_convert (&planes, layout, &frame);
    expected.chroma = motion && motion->format == CCL_MOTION_LUMA_420 ? &planes.references : NULL;
    image = test_arena_place (&check->arenas[memory], &frame, &placement);
    image.format = layout->format;
    if (memory == CCL_MEMORY_HOST)
      check_planes (check, layout, &image, &planes);
    if (!check_that (check,
                     ccl_analyzer_analyze (analyzers[0], &expected, &params, &wanted) == CCL_OK &&
                         ccl_analyzer_analyze (analyzers[1], &image, &params, &got) == CCL_OK,
                     "%s: %s", layout->name, ccl_last_error ()))
      break;
    check_that (check,
                wanted.count == got.count &&
                    memcmp (wanted.items, got.items, got.count * sizeof *got.items) == 0,
                "%s, %ux%u, memory %d, model %d, frame %u: %u components, and %u of its planes",
                layout->name, width, height, (int) memory, motion ? (int) motion->format : -1, i,
                got.count, wanted.count);
    ccl_analyzer_info (analyzers[1], &info);
    check_that (check, i == 0 || info.allocations == allocations, "%s: frame %u allocated memory",
                layout->name, i);
    allocations = info.allocations;
    check->runs++;
  }
  ccl_analyzer_free (analyzers[0]);
  ccl_analyzer_free (analyzers[1]);
  planes_clear (&planes);
  test_image_clear (&frame);
}

/* All sizes and models, from one kind of memory. */
static void
check_format (Check *check, const Layout *layout, CclBackend backend, CclMemory memory)
{
  static const uint32_t sizes[][2] = { { 1, 1 }, { 3, 2 }, { 17, 5 }, { 64, 9 }, { 131, 35 } };
  static const CclMotionConfig models[] = { { CCL_MOTION_LUMA, 1, false },
                                            { CCL_MOTION_LUMA_420, 1, false },
                                            { CCL_MOTION_LUMA_420, 2, false } };
  size_t last = check->options.effort == EFFORT_TINY ? 3 : COUNT (sizes);
  size_t n_models = layout->cb >= 0 || layout->luma < 0 ? COUNT (models) : 1;

  for (size_t s = 0; s < last; s++) {
    check_stream (check, layout, backend, memory, NULL, sizes[s][0], sizes[s][1]);
    for (size_t m = 0; m < n_models; m++)
      check_stream (check, layout, backend, memory, &models[m], sizes[s][0], sizes[s][1]);
  }
}

static void
test_colors (Check *check)
{
  for (size_t f = 0; f < COUNT (layouts); f++)
    for (int m = 0; m < CHECK_MEMORIES; m++) {
      const CclCpuFunctions *functions;

      if (!test_arena_available ((CclMemory) m))
        continue;
      if (check_wants_backend (check, CCL_BACKEND_CUDA))
        check_format (check, &layouts[f], CCL_BACKEND_CUDA, (CclMemory) m);
      for (size_t i = 0; check_wants_backend (check, CCL_BACKEND_CPU) && m != CCL_MEMORY_DEVICE &&
                         (functions = ccl_cpu_functions (i));
           i++) {
        ccl_cpu_tuning.functions = functions;
        check_format (check, &layouts[f], CCL_BACKEND_CPU, (CclMemory) m);
      }
      ccl_cpu_tuning.functions = NULL;
    }
}

/* Values that OpenCV's cvtColor (COLOR_BGR2GRAY) gives. */
static void
test_colors_opencv (Check *check)
{
  static const uint8_t pixels[][4] = { { 0, 0, 255, 76 },     { 0, 255, 0, 150 },
                                       { 255, 0, 0, 29 },     { 255, 255, 255, 255 },
                                       { 10, 200, 100, 148 }, { 0, 0, 0, 0 } };
  CclAnalyzer *analyzer;
  CclConfig config;
  CclParams params;

  if (!check_wants_backend (check, CCL_BACKEND_CPU))
    return;
  ccl_config_init (&config, 1, 1);
  config.backend = CCL_BACKEND_CPU;
  ccl_params_init (&params);
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ());
  for (size_t i = 0; i < COUNT (pixels); i++)
    for (int above = 0; above < 2 && pixels[i][3] >= 1 - above; above++) {
      CclImage image = { .data = pixels[i], .stride = 3, .format = CCL_FORMAT_BGR };
      CclComponents components = { 0 };

      params.threshold = (uint8_t) (pixels[i][3] - 1 + above);
      check_that (check,
                  ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_OK &&
                      components.found == (above ? 0 : 1),
                  "the luma of colour %zu is not %u", i, pixels[i][3]);
    }
  ccl_analyzer_free (analyzer);
}

static void
test_color_errors (Check *check)
{
  static const struct
  {
    const char *what;
    CclImage image;
    CclMotionConfig motion;
    CclStatus status;
  } cases[] = {
    { "stride", { .stride = 296, .format = CCL_FORMAT_RGB }, { 0, 1, false }, CCL_ERROR_INVALID },
    { "stride of pairs",
      { .stride = 198, .format = CCL_FORMAT_YUYV },
      { 0, 1, false },
      CCL_ERROR_INVALID },
    { "array",
      { .stride = 400, .memory = CCL_MEMORY_ARRAY, .format = CCL_FORMAT_RGBX },
      { 0, 1, false },
      CCL_ERROR_UNSUPPORTED },
    { "device",
      { .stride = 400, .memory = CCL_MEMORY_DEVICE, .format = CCL_FORMAT_RGBX },
      { CCL_MOTION_LUMA_420, 1, false },
      CCL_ERROR_UNSUPPORTED },
    { "chroma",
      { .stride = 400, .format = CCL_FORMAT_GRAY16_LE },
      { CCL_MOTION_LUMA_420, 1, false },
      CCL_ERROR_INVALID },
    { "format", { .stride = 400, .format = (CclFormat) 100 }, { 0, 1, false }, CCL_ERROR_INVALID },
  };
  uint8_t *pixels;

  if (!check_wants_backend (check, CCL_BACKEND_CPU))
    return;
  pixels = calloc (400, 10);
  for (size_t i = 0; i < COUNT (cases); i++) {
    CclImage image = cases[i].image;
    CclComponents components;
    CclAnalyzer *analyzer;
    CclConfig config;
    CclParams params;

    ccl_config_init (&config, 99, 10);
    config.backend = CCL_BACKEND_CPU;
    config.motion = &cases[i].motion;
    ccl_params_init (&params);
    check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ());
    image.data = pixels;
    check_that (check,
                ccl_analyzer_analyze (analyzer, &image, &params, &components) == cases[i].status,
                "%s: not refused as it should be: %s", cases[i].what, ccl_last_error ());
    check->runs++;
    ccl_analyzer_free (analyzer);
  }
  free (pixels);
}

const Test color_tests[] = {
  { "colors", test_colors },
  { "colors-opencv", test_colors_opencv },
  { "color-errors", test_color_errors },
  { NULL, NULL },
};
