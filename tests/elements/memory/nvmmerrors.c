/* cudaccl - tests of invalid NVMM surfaces, without a device and without NVIDIA's library
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <dlfcn.h>
#include <string.h>

#include "cuda/runtime/api.h"
#include "gst/analysis/memory/gstcclnvbufsurface.h"
#include "gst/analysis/memory/gstcclnvmm.h"

#define WIDTH 16
#define HEIGHT 8
#define STRIDE 32

/* The mapper is linked into this program. */
GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);

typedef struct
{
  NvBufSurface surface;
  NvBufSurfaceParams params[2];
  guint8 pixels[STRIDE * HEIGHT];
} Surface;

static GstCclMapper *
mapper_new (gint number, GstCclDevice *device)
{
  GstCclMapper *mapper = g_malloc0 (gst_ccl_nvmm_mapper.size);
  GError *error = NULL;

  mapper->klass = &gst_ccl_nvmm_mapper;
  *device = (GstCclDevice){ number, NULL };
  fail_unless (gst_ccl_nvmm_mapper.open (mapper, NULL, device, &error));

  return mapper;
}

/* A valid surface. */
static void
surface_init (Surface *self)
{
  memset (self, 0, sizeof (*self));
  self->surface.batchSize = self->surface.numFilled = 1;
  self->surface.memType = NVBUF_MEM_SYSTEM;
  self->surface.surfaceList = self->params;
  self->params[0].width = WIDTH;
  self->params[0].height = HEIGHT;
  self->params[0].dataPtr = self->pixels;
  self->params[0].dataSize = sizeof (self->pixels);
  self->params[0].planeParams.pitch[0] = STRIDE;
}

/* Maps the surface as a frame of WIDTH x HEIGHT, in memories of @n_bytes. */
static gboolean
map_surface (GstCclMapper *mapper, Surface *surface, gsize n_bytes, guint n_memories,
             const GstVideoRectangle *crop, GstCclFrame *frame, GError **error)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoInfo info;
  gboolean result;
  guint i;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
  for (i = 0; i < n_memories; i++)
    gst_buffer_append_memory (buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, surface,
                                                              n_bytes, 0, n_bytes, NULL, NULL));
  if (crop) {
    GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (buffer);

    meta->x = (guint) crop->x;
    meta->y = (guint) crop->y;
    meta->width = (guint) crop->w;
    meta->height = (guint) crop->h;
  }

  result = gst_ccl_nvmm_mapper.map (mapper, frame, &info, buffer, 1, error);
  if (result)
    gst_ccl_nvmm_mapper.unmap (mapper, frame);
  /* GStreamer complains here if a memory is still mapped. */
  gst_buffer_unref (buffer);

  return result;
}

/* Valid surfaces are mapped without a copy. */
GST_START_TEST (test_good)
{
  static const struct
  {
    NvBufSurfaceMemType type;
    CclMemory memory;
  } kinds[] = {
    { NVBUF_MEM_CUDA_DEVICE, CCL_MEMORY_DEVICE },
    { NVBUF_MEM_CUDA_UNIFIED, CCL_MEMORY_DEVICE },
    { NVBUF_MEM_CUDA_PINNED, CCL_MEMORY_PINNED },
    { NVBUF_MEM_SYSTEM, CCL_MEMORY_HOST },
  };
  const GstVideoRectangle crop = { 3, 1, WIDTH, HEIGHT };
  GstCclFrame frame;
  GstCclDevice device;
  GstCclMapper *mapper = mapper_new (-1, &device);
  GError *error = NULL;
  Surface surface;
  guint i;

  fail_unless_equals_int (device.number, 0);
  for (i = 0; i < G_N_ELEMENTS (kinds); i++) {
    surface_init (&surface);
    surface.surface.memType = kinds[i].type;
    surface.surface.gpuId = i;
    fail_unless (map_surface (mapper, &surface, sizeof (surface.surface), 1, NULL, &frame, &error));
    fail_unless_equals_int (frame.image.memory, kinds[i].memory);
    fail_unless (frame.image.data == surface.pixels);
    fail_unless_equals_int (frame.image.stride, STRIDE);
    fail_unless (frame.image.stream == NULL);
    fail_unless_equals_int (frame.device.number, (gint) i);
    fail_unless (frame.device.context == NULL);
  }

  /* Newer versions' structures are longer, and surfaces may be larger than the frame. */
  surface_init (&surface);
  surface.params[0].width = WIDTH + 3;
  surface.params[0].height = HEIGHT + 1;
  surface.params[0].planeParams.offset[0] = 5;
  surface.params[0].dataSize += 200;
  fail_unless (map_surface (mapper, &surface, sizeof (surface), 1, &crop, &frame, &error));
  fail_unless (frame.image.data == surface.pixels + 5 + STRIDE + 3);
  g_free (mapper);
}
GST_END_TEST;

/* One thing wrong at a time. */
enum
{
  NO_MEMORY,
  TWO_MEMORIES,
  SHORT,
  NO_LIST,
  NO_BATCH,
  OVERFULL,
  BATCH,
  NARROW,
  LOW,
  NO_PIXELS,
  BLOCKS,
  SMALL_PITCH,
  SMALL_SIZE,
  FAR_OFFSET,
  FAR_CROP,
  HANDLE,
  UNKNOWN,
  DEVICE,
  N_WRONGS
};

static const gchar *const texts[N_WRONGS] = {
  [NO_MEMORY] = "0 memories",
  [TWO_MEMORIES] = "2 memories",
  [SHORT] = "not a NvBufSurface",
  [NO_LIST] = "not a NvBufSurface",
  [NO_BATCH] = "not a NvBufSurface",
  [OVERFULL] = "not a NvBufSurface",
  [BATCH] = "nvstreamdemux",
  [NARROW] = "15x8",
  [LOW] = "16x7",
  [NO_PIXELS] = "pixels in rows",
  [BLOCKS] = "pixels in rows",
  [SMALL_PITCH] = "pixels in rows",
  [SMALL_SIZE] = "pixels in rows",
  [FAR_OFFSET] = "pixels in rows",
  [FAR_CROP] = "from (4294967295, 0) on",
  [HANDLE] = "type 5",
  [UNKNOWN] = "type 1234",
  [DEVICE] = "set it to 1",
};

static void
spoil (Surface *surface, guint wrong)
{
  NvBufSurfaceParams *params = &surface->params[0];

  switch (wrong) {
  case NO_LIST:
    surface->surface.surfaceList = NULL;
    break;
  case NO_BATCH:
    surface->surface.batchSize = surface->surface.numFilled = 0;
    break;
  case OVERFULL:
    surface->surface.numFilled = 3;
    break;
  case BATCH:
    surface->surface.batchSize = 2;
    break;
  case NARROW:
    params->width = WIDTH - 1;
    break;
  case LOW:
    params->height = HEIGHT - 1;
    break;
  case NO_PIXELS:
    params->dataPtr = NULL;
    break;
  case BLOCKS:
    params->layout = NVBUF_LAYOUT_BLOCK_LINEAR;
    break;
  case SMALL_PITCH:
    params->planeParams.pitch[0] = WIDTH - 1;
    break;
  case SMALL_SIZE:
    params->dataSize = STRIDE * (HEIGHT - 1) + WIDTH - 1;
    break;
  case FAR_OFFSET:
    params->planeParams.offset[0] = G_MAXUINT32;
    break;
  case HANDLE:
    surface->surface.memType = NVBUF_MEM_HANDLE;
    break;
  case UNKNOWN:
    surface->surface.memType = (NvBufSurfaceMemType) 1234;
    break;
  case DEVICE:
    surface->surface.gpuId = 1;
    break;
  }
}

GST_START_TEST (test_wrong)
{
  const GstVideoRectangle crop = { -1, 0, WIDTH, HEIGHT };
  GstCclDevice device;
  GstCclMapper *mapper = mapper_new (0, &device);
  guint wrong;

  for (wrong = 0; wrong < N_WRONGS; wrong++) {
    guint n_memories = wrong == NO_MEMORY ? 0 : wrong == TWO_MEMORIES ? 2 : 1;
    Surface surface;
    GstCclFrame frame;
    GError *error = NULL;

    surface_init (&surface);
    spoil (&surface, wrong);
    fail_if (map_surface (mapper, &surface, wrong == SHORT ? 40 : sizeof (surface.surface),
                          n_memories, wrong == FAR_CROP ? &crop : NULL, &frame, &error));
    fail_unless (error != NULL, "%u", wrong);
    fail_unless (strstr (error->message, texts[wrong]) != NULL, "'%s' is not in: %s", texts[wrong],
                 error->message);
    /* The same error as with CUDAMemory. */
    if (wrong == DEVICE)
      fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    else
      fail_unless (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
    g_error_free (error);
  }
  g_free (mapper);
}
GST_END_TEST;

/* The format and size of a CUDA array. */
typedef struct
{
  struct cudaChannelFormatDesc format;
  guint width, height;
} Array;

static Array luma = { { 8, 0, 0, 0, cudaChannelFormatKindUnsigned }, WIDTH, HEIGHT };
static Array nv12 = { { 8, 8, 8, 0, cudaChannelFormatKindNV12 }, WIDTH, HEIGHT };
static Array pairs = { { 8, 8, 0, 0, cudaChannelFormatKindUnsigned }, WIDTH / 2, HEIGHT / 2 };
static Array wide = { { 16, 0, 0, 0, cudaChannelFormatKindUnsigned }, WIDTH, HEIGHT };
static Array small = { { 8, 0, 0, 0, cudaChannelFormatKindUnsigned }, WIDTH, HEIGHT - 1 };

static cudaError_t
fake_array_get_info (struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                     unsigned *flags, cudaArray_t array)
{
  const Array *self = (const Array *) array;

  *format = self->format;
  *extent = (struct cudaExtent){ self->width, self->height, 0 };

  return cudaSuccess;
}

static cudaError_t
fake_array_get_plane (cudaArray_t *plane, cudaArray_t array, unsigned index)
{
  fail_unless (array == (gpointer) &nv12 && index < 2);
  *plane = index == 0 ? (gpointer) &luma : (gpointer) &pairs;

  return cudaSuccess;
}

static CUresult
fake_init (unsigned flags)
{
  return CUDA_SUCCESS;
}

static CUresult
fake_device_get (CUdevice *device, int ordinal)
{
  *device = ordinal;

  return CUDA_SUCCESS;
}

static CUresult
fake_retain (CUcontext *context, CUdevice device)
{
  *context = GSIZE_TO_POINTER (4096);

  return CUDA_SUCCESS;
}

static CUresult
fake_push (CUcontext context)
{
  return CUDA_SUCCESS;
}

static CUresult
fake_pop (CUcontext *context)
{
  return CUDA_SUCCESS;
}

static CUresult
fake_get_device (CUdevice *device)
{
  *device = 0;

  return CUDA_SUCCESS;
}

static CUresult
fake_get_version (CUcontext context, unsigned *version)
{
  *version = 3020;

  return CUDA_SUCCESS;
}

/* Maps the surface with its chroma, which may fail, and which it gets in @image. */
static gboolean
map_chroma (GstCclMapper *mapper, Surface *surface, CclImage *image, GError **error)
{
  GstBuffer *buffer = gst_buffer_new_wrapped_full (
      GST_MEMORY_FLAG_READONLY, surface, sizeof (*surface), 0, sizeof (*surface), NULL, NULL);
  GstVideoInfo info;
  GstCclFrame frame;
  gboolean result;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
  result = gst_ccl_nvmm_mapper.map (mapper, &frame, &info, buffer, 2, error);
  if (result) {
    *image = frame.image.chroma->planes[0];
    gst_ccl_nvmm_mapper.unmap (mapper, &frame);
  }
  gst_buffer_unref (buffer);

  return result;
}

/* CUDA arrays are read as such, their luma plane if they have several, and then their chroma. The
 * addresses of planes mean nothing. */
GST_START_TEST (test_cuda_array)
{
  static const struct
  {
    Array *array;
    Array *plane, *chroma;
    const gchar *text; /* of the error */
  } cases[] = {
    { &luma, &luma, NULL, "no chroma" },         { &nv12, &luma, &pairs, NULL },
    { &wide, NULL, NULL, "one byte per pixel" }, { &small, NULL, NULL, "are needed" },
    { NULL, NULL, NULL, "no CUDA array" },
  };
  CclCudaApi api;
  GstCclDevice device;
  GstCclMapper *mapper = mapper_new (-1, &device);
  guint i;

  ccl_cuda_api_load (); /* or it would be done later, and undone with the fakes */
  api = ccl_cuda_api;
  ccl_cuda_api.cudaArrayGetInfo = fake_array_get_info;
  ccl_cuda_api.cudaArrayGetPlane = fake_array_get_plane;
  ccl_cuda_api.cuInit = fake_init;
  ccl_cuda_api.cuDeviceGet = fake_device_get;
  ccl_cuda_api.cuDevicePrimaryCtxRetain = fake_retain;
  ccl_cuda_api.cuCtxPushCurrent_v2 = fake_push;
  ccl_cuda_api.cuCtxPopCurrent_v2 = fake_pop;
  ccl_cuda_api.cuCtxGetDevice = fake_get_device;
  ccl_cuda_api.cuCtxGetApiVersion = fake_get_version;
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    GstCclFrame frame;
    CclImage image;
    Surface surface;
    gboolean mapped;

    surface_init (&surface);
    surface.params[0].dataSize = 1 << 20;
    surface.params[0].planeParams.num_planes = 2;
    surface.params[0].planeParams.pitch[1] = STRIDE;
    surface.surface.memType = (NvBufSurfaceMemType) GST_CCL_NVBUF_MEM_CUDA_ARRAY;
    surface.params[0].layout = NVBUF_LAYOUT_BLOCK_LINEAR;
    surface.params[0].dataPtr = cases[i].array;
    mapped = map_surface (mapper, &surface, sizeof (surface.surface), 1, NULL, &frame, &error);
    if (cases[i].plane) {
      fail_unless (mapped, "%u: %s", i, error ? error->message : "");
      fail_unless_equals_int (frame.image.memory, CCL_MEMORY_ARRAY);
      fail_unless (frame.image.data == (gpointer) cases[i].plane);
      mapped = map_chroma (mapper, &surface, &image, &error);
      fail_unless_equals_int (mapped, cases[i].chroma != NULL);
      if (mapped) {
        fail_unless_equals_int (image.memory, CCL_MEMORY_ARRAY);
        fail_unless (image.data == (gpointer) cases[i].chroma);
      }
    } else {
      fail_if (mapped);
    }
    if (cases[i].text)
      fail_unless (strstr (error->message, cases[i].text) != NULL, "%s", error->message);
    g_clear_error (&error);
  }
  ccl_cuda_api = api;
  g_free (mapper);
}
GST_END_TEST;

static gboolean
have_library (void)
{
  void *library = dlopen ("libnvbufsurface.so.1.0.0", RTLD_NOW | RTLD_LOCAL);

  if (!library)
    library = dlopen ("libnvbufsurface.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return FALSE;
  dlclose (library);

  return TRUE;
}

/* A Jetson's surface arrays need NVIDIA's library: without it, every frame fails with an error
 * that says so. With it, this made-up surface would be invalid. */
GST_START_TEST (test_no_library)
{
  GstCclDevice device;
  GstCclMapper *mapper = mapper_new (-1, &device);
  GstCclFrame frame;
  Surface surface;
  guint i;

  surface_init (&surface);
  surface.surface.memType = NVBUF_MEM_SURFACE_ARRAY;
  if (have_library ())
    g_print ("skipped: this machine has NVIDIA's library\n");
  for (i = 0; i < 2 && !have_library (); i++) {
    GError *error = NULL;

    fail_if (map_surface (mapper, &surface, sizeof (surface.surface), 1, NULL, &frame, &error));
    fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    fail_unless (strstr (error->message, "libnvbufsurface.so") != NULL, "%s", error->message);
    g_error_free (error);
  }
  g_free (mapper);
}
GST_END_TEST;

static Suite *
nvmmerrors_suite (void)
{
  Suite *s = suite_create ("nvmmerrors");
  TCase *tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0, "connected component analysis");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_good);
  tcase_add_test (tc, test_wrong);
  tcase_add_test (tc, test_cuda_array);
  tcase_add_test (tc, test_no_library);

  return s;
}

GST_CHECK_MAIN (nvmmerrors);
