/* cudaccl - connected component analysis of binary images
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The analysis engine. An analyzer is made for one geometry and one algorithm; every frame goes
 * through ccl_analyzer_submit() and ccl_analyzer_collect() (or both at once,
 * ccl_analyzer_analyze()), and comes back as an array of components.
 *
 * Canonical result: components come in raster order of their first pixel (topmost row, then
 * leftmost in that row) and are labelled 1...n, so that every algorithm, backend and run gives the
 * same bytes for the same image.
 *
 * Threads: an analyzer belongs to one thread at a time; different analyzers may run concurrently.
 * On the CPU an analyzer may have threads of its own, see CclConfig.threads; the result is the
 * same.
 * No call changes which CUDA context is current in its thread.
 */

#ifndef CCL_CCL_H
#define CCL_CCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclStatus
{
  CCL_OK = 0,
  CCL_ERROR_INVALID,     /* an argument is out of its range */
  CCL_ERROR_UNSUPPORTED, /* valid, but not with this algorithm, backend or build */
  CCL_ERROR_NO_DEVICE,   /* no such device, or no usable driver */
  CCL_ERROR_NO_MEMORY,   /* host, page-locked or device memory is used up */
  CCL_ERROR_DEVICE,      /* the device failed; free the analyzer */
} CclStatus;

typedef enum CclBackend
{
  CCL_BACKEND_AUTO = 0, /* CUDA where a device is, else the CPU */
  CCL_BACKEND_CUDA,
  CCL_BACKEND_CPU,
} CclBackend;

/* Where the pixels of a CclImage are. */
typedef enum CclMemory
{
  CCL_MEMORY_HOST = 0, /* pageable host memory */
  CCL_MEMORY_PINNED,   /* page-locked host memory that the device can read directly */
  CCL_MEMORY_DEVICE,   /* memory of the analyzer's own device and context */
  CCL_MEMORY_ARRAY,    /* a CUDA array of it, with one channel of 8 bits: copied on the device */
} CclMemory;

#define CCL_MAX_THREADS 256
/* How features follow from labelled pixels, for algorithms whose papers only label. */
typedef enum CclFeatureStage
{
  CCL_FEATURES_AUTO = 0, /* the algorithm's own way, or CCL_FEATURES_RUNS_CD */
  CCL_FEATURES_PIXELS,   /* every pixel is added to its component */
  CCL_FEATURES_RUNS,     /* every run is */
  CCL_FEATURES_RUNS_CD,  /* runs of one component are summed up before (conflict detection) */
} CclFeatureStage;
/* How ccl_analyzer_collect() waits for a CUDA device. */
typedef enum CclSync
{
  CCL_SYNC_AUTO = 0, /* spin for 0.15 ms, yield up to 1 ms, then look every 50 us */
  CCL_SYNC_SPIN,  /* look all the time: the shortest latency, and a core that does nothing else */
  CCL_SYNC_YIELD, /* look all the time, but let other threads go first */
  CCL_SYNC_BLOCK, /* sleep until the device's interrupt: the least CPU time, some 30 us more */
} CclSync;

typedef struct CclAnalyzer CclAnalyzer;

/* An algorithm of a backend, as listed by ccl_algorithm(). */
typedef struct CclAlgorithm
{
  const char *name;        /* "flsl-cd"; unique over all backends */
  const char *description; /* one sentence, with the paper it comes from */
  CclBackend backend;
  unsigned connectivity; /* the connectivities it can do: 4, 8, or 4 | 8 */
} CclAlgorithm;

/* What is fixed for the life of an analyzer. Start from ccl_config_init(). */
typedef struct CclConfig
{
  uint32_t width, height; /* pixels, each at least 1; width * height < 2^32 */
  unsigned connectivity;  /* 4 or 8 */
  CclBackend backend;
  const char *algorithm;    /* a name from ccl_algorithm(); NULL or "auto": the backend's best */
  int device;               /* CUDA device number, -1: any; a number rules out the CPU for
                             * CCL_BACKEND_AUTO, and means nothing to CCL_BACKEND_CPU */
  void *cuda_context;       /* a CUcontext of that device: the analyzer's memory and work are in it,
                             * and so must be CCL_MEMORY_DEVICE; it rules out the CPU for
                             * CCL_BACKEND_AUTO. NULL: the device's primary context, in which
                             * programs are that use the CUDA runtime */
  uint32_t max_components;  /* capacity of the result, at least 1 */
  unsigned threads;         /* of CCL_BACKEND_CPU that share a frame, the caller's among them, at
                             * most CCL_MAX_THREADS; 0: as many as the process may use CPUs */
  bool second_order;        /* fill sum_xx, sum_yy and sum_xy too */
  bool labels;              /* keep what ccl_analyzer_labels() needs */
  bool map_pinned;          /* CUDA reads CCL_MEMORY_PINNED where it lies, with no transfer; devices
                             * that share the host's memory always do */
  bool timing;              /* measure every frame for ccl_analyzer_timing() */
  bool stages;              /* with timing: every stage, too, which costs some microseconds each */
  CclFeatureStage features; /* other than CCL_FEATURES_AUTO only with algorithms that label */
  bool updates;             /* count for ccl_analyzer_updates(), which takes time; CUDA only */
  CclSync sync;             /* nothing to CCL_BACKEND_CPU */
} CclConfig;

/* What may change from frame to frame. Start from ccl_params_init(). */
typedef struct CclParams
{
  uint8_t threshold; /* a pixel is foreground when value > threshold ... */
  bool invert;       /* ... or, inverted, when value <= threshold */
  uint64_t min_area; /* components of fewer pixels are dropped */
  uint64_t max_area; /* components of more pixels are dropped; below min_area: all are */
} CclParams;

/* One frame: one byte a pixel. */
typedef struct CclImage
{
  const uint8_t *data; /* the first pixel of the first row; CCL_MEMORY_ARRAY: the cudaArray_t or
                        * CUarray, whose first pixel it is */
  size_t stride;       /* bytes from row to row, at least the width; arrays have none */
  CclMemory memory;
  void *stream; /* CCL_MEMORY_DEVICE and CCL_MEMORY_ARRAY: the cudaStream_t on which the pixels
                 * become ready, NULL if they are ready already */
} CclImage;

/* One component. Coordinates are pixels, (0, 0) the top left one. No padding: results compare with
 * memcmp(). */
typedef struct CclComponent
{
  uint64_t area;                   /* number of pixels */
  uint64_t sum_x, sum_y;           /* sums of the pixels' coordinates */
  uint64_t sum_xx, sum_yy, sum_xy; /* second-order sums; 0 unless CclConfig.second_order */
  uint32_t label;                  /* 1...n in canonical order */
  uint32_t x, y, width, height;    /* bounding box */
  uint32_t first_x;                /* (first_x, y) is the first pixel in raster order */
} CclComponent;

/* The result for one frame. The array belongs to the analyzer and stays valid until its next
 * submit or its end. */
typedef struct CclComponents
{
  const CclComponent *items;
  uint32_t count; /* entries of items */
  uint32_t found; /* components that passed the area filter; when more than max_components, the
                   * largest are kept (of equal ones, the first in raster order) */
} CclComponents;

/* The label map of one frame: for each pixel the label of its component, 0 where it has none: in
 * the background, and in components that are not in the result. It belongs to the analyzer and
 * stays valid until its next submit or its end. */
typedef struct CclLabels
{
  const uint32_t *data; /* the first pixel of the first row, in host memory */
  size_t stride;        /* bytes from row to row */
} CclLabels;

/* What an analyzer turned out to be. Strings live as long as the analyzer. */
typedef struct CclInfo
{
  CclBackend backend; /* never CCL_BACKEND_AUTO */
  const char *algorithm;
  int device;              /* CUDA device number, -1 on the CPU */
  const char *device_name; /* "NVIDIA H200", or the CPU's instruction set in use */
  const char *fallback; /* why CCL_BACKEND_AUTO could not take CUDA; NULL when it did, or when the
                         * configuration says that it should not */
  uint64_t allocations; /* allocations of any kind of memory since ccl_analyzer_new() */
  uint64_t bytes;       /* what they hold now */
} CclInfo;

/* A part of the analysis of a frame. */
typedef struct CclStage
{
  const char *name; /* "compression"; lives as long as the program */
  uint64_t time;    /* nanoseconds */
} CclStage;

#define CCL_MAX_STAGES 24

/* Durations of the last collected frame, in nanoseconds; all 0 without CclConfig.timing. */
typedef struct CclTiming
{
  uint64_t upload;   /* host to device */
  uint64_t analysis; /* everything from pixels to compacted components, or to the label map on the
                      * device */
  uint64_t download; /* device to host */
  /* With CclConfig.stages, on a CUDA device: */
  uint64_t labelling;              /* of the analysis: from pixels to labels of pixels, in no order;
                                    * 0 for algorithms that make none */
  uint32_t n_stages;               /* entries of stages */
  CclStage stages[CCL_MAX_STAGES]; /* of the analysis, one after the other */
} CclTiming;

/* How often a frame's features were brought to components in device memory, each time all of them
 * (paper 003, section 4.1). */
typedef struct CclUpdates
{
  uint64_t count;
  double conflicts; /* the sum of squares of every label's updates over the sum of them all */
} CclUpdates;

/* The centroid, in pixel centres: a lone pixel at x = 3 has centroid x 3.0. */
static inline double
ccl_component_centroid_x (const CclComponent *component)
{
  return (double) component->sum_x / (double) component->area;
}

static inline double
ccl_component_centroid_y (const CclComponent *component)
{
  return (double) component->sum_y / (double) component->area;
}

/* Fills @config with the defaults: 8-connectivity, automatic backend, algorithm and device, 1024
 * components, one thread, no second-order sums, no label maps, no timing, the algorithm's own
 * features, automatic waiting. */
void ccl_config_init (CclConfig *config, uint32_t width, uint32_t height);

/* Fills @params with the defaults: threshold 127, not inverted, every area. */
void ccl_params_init (CclParams *params);

/* The algorithms of this build, CUDA's first, each backend's best first; NULL past the last. */
const CclAlgorithm *ccl_algorithm (size_t index);

/* "auto", "cuda" or "cpu". */
const char *ccl_backend_name (CclBackend backend);

/* The number of CUDA devices, of any capability; where it is 0, ccl_last_error() says why. */
int ccl_cuda_device_count (void);

/* What went wrong in the last call of this thread that did not return CCL_OK, and what to do about
 * it. Never NULL; valid until the next call of this thread. */
const char *ccl_last_error (void);

/* Whether ccl_analyzer_new() can work, as far as can be said without opening a device or taking
 * memory: the same errors, but CCL_ERROR_NO_MEMORY and CCL_ERROR_DEVICE. */
CclStatus ccl_config_check (const CclConfig *config);

/* Makes an analyzer with all the memory that it will ever need, but for what CUDA needs for
 * transfers of the image: that is allocated with the first frame that is in CCL_MEMORY_HOST, or in
 * CCL_MEMORY_PINNED where that must be transferred. Free it with ccl_analyzer_free(). Errors:
 * CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED (this algorithm cannot do that connectivity
 * or feature stage, this build
 * has no such backend, second-order sums that could pass 2^64), CCL_ERROR_NO_DEVICE,
 * CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_analyzer_new (const CclConfig *config, CclAnalyzer **analyzer);

/* Frees the analyzer and its results; a frame in flight is waited for. NULL is ignored. */
void ccl_analyzer_free (CclAnalyzer *analyzer);

/* Starts the analysis of one frame. The pixels must stay as they are until ccl_analyzer_collect().
 * One frame can be in flight: submitting another is CCL_ERROR_INVALID. */
CclStatus ccl_analyzer_submit (CclAnalyzer *analyzer, const CclImage *image,
                               const CclParams *params);

/* Waits for the submitted frame and gives its components. */
CclStatus ccl_analyzer_collect (CclAnalyzer *analyzer, CclComponents *components);

/* ccl_analyzer_submit() and ccl_analyzer_collect() in one. */
CclStatus ccl_analyzer_analyze (CclAnalyzer *analyzer, const CclImage *image,
                                const CclParams *params, CclComponents *components);

/* Gives the label map of the last collected frame. It is made, or brought back from the device, in
 * the first call for a frame: frames whose map nobody asks for don't pay for that. Errors:
 * CCL_ERROR_INVALID (CclConfig.labels was not set, or no frame was collected since the last
 * submit), CCL_ERROR_DEVICE. */
CclStatus ccl_analyzer_labels (CclAnalyzer *analyzer, CclLabels *labels);

/* Allocates @size bytes of page-locked memory, which is CCL_MEMORY_PINNED to analyzers of every
 * device and context; @device is one that will read it. It begins with a page. Free it with
 * ccl_pinned_free(). Errors: CCL_ERROR_INVALID (size 0), CCL_ERROR_UNSUPPORTED (this build has no
 * CUDA backend), CCL_ERROR_NO_DEVICE, CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_pinned_alloc (int device, size_t size, void **memory);

/* Frees what ccl_pinned_alloc() with the same @device gave; NULL is ignored. */
void ccl_pinned_free (int device, void *memory);

void ccl_analyzer_info (const CclAnalyzer *analyzer, CclInfo *info);
void ccl_analyzer_timing (const CclAnalyzer *analyzer, CclTiming *timing);

/* Gives the updates of the last collected frame. Errors: CCL_ERROR_INVALID (CclConfig.updates was
 * not set, or no frame was collected since the last submit). */
CclStatus ccl_analyzer_updates (const CclAnalyzer *analyzer, CclUpdates *updates);

#ifdef __cplusplus
}
#endif

#endif
