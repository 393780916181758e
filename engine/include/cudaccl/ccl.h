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
 * On the CPU an analyzer may have threads of its own (CclConfig.threads); the result is the same.
 * No call changes which CUDA context is current in its thread.
 */

#ifndef CCL_CCL_H
#define CCL_CCL_H

#include <cudaccl/api.h>
#include <cudaccl/motion.h>

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
  CCL_ERROR_NO_MEMORY,   /* not enough host, pinned or device memory */
  CCL_ERROR_DEVICE,      /* the device failed; free the analyzer */
} CclStatus;

typedef enum CclBackend
{
  CCL_BACKEND_AUTO = 0, /* CUDA if there is a device, else the CPU */
  CCL_BACKEND_CUDA,
  CCL_BACKEND_CPU,
} CclBackend;

/* Where the pixels of a CclImage are. */
typedef enum CclMemory
{
  CCL_MEMORY_HOST = 0, /* pageable host memory */
  CCL_MEMORY_PINNED,   /* pinned host memory that the device can read directly */
  CCL_MEMORY_DEVICE,   /* memory of the analyzer's own device and context */
  CCL_MEMORY_ARRAY,    /* a CUDA array there, with one channel of 8 bits: copied on the device */
} CclMemory;

/* The format of a CclImage's data. */
typedef enum CclFormat
{
  CCL_FORMAT_BYTES = 0, /* one byte per pixel */
  CCL_FORMAT_BITS,      /* one bit per pixel, the rows of a CclMask (cudaccl/mask.h) */
  /* Interleaved: frames are converted to luma (BT.601 in full range, as OpenCV's cvtColor() does
   * it), and to chroma for CCL_MOTION_LUMA_420. Named by the order of the bytes; X is ignored. */
  CCL_FORMAT_RGB, /* three bytes per pixel */
  CCL_FORMAT_BGR,
  CCL_FORMAT_RGBX, /* four bytes per pixel */
  CCL_FORMAT_BGRX,
  CCL_FORMAT_XRGB,
  CCL_FORMAT_XBGR,
  CCL_FORMAT_YUYV, /* four bytes for two pixels: their luma is taken as it is */
  CCL_FORMAT_UYVY,
  /* Two bytes per pixel, of which the highest 8 bits in use are luma, except with CCL_VALUES_BAND
   * and CCL_VALUES_EQUAL. For CCL_MOTION_LUMA_420, CclImage.chroma has samples of the same kind. */
  CCL_FORMAT_GRAY16_LE, /* also where the lowest bits are 0, as in P010 */
  CCL_FORMAT_GRAY16_BE,
  CCL_FORMAT_GRAY32, /* four bytes per pixel in the CPU's order, at addresses and strides that are
                      * multiples of four; only for volumes of CCL_VALUES_EQUAL */
  CCL_FORMAT_GRAY10_LE, /* the lowest 10 bits: planar 10-bit video */
  CCL_FORMAT_GRAY12_LE, /* the lowest 12 bits */
} CclFormat;

/* How frames of CCL_FORMAT_BYTES in host memory are transferred to a CUDA device. */
typedef enum CclUpload
{
  CCL_UPLOAD_AUTO = 0, /* whichever is faster for the frame's memory */
  CCL_UPLOAD_PIXELS,   /* as they are */
  CCL_UPLOAD_BITS,     /* one bit per pixel: the CPU applies the threshold */
} CclUpload;

/* The meaning of pixel values. */
typedef enum CclValues
{
  CCL_VALUES_ABOVE = 0, /* foreground: above CclParams.threshold */
  CCL_VALUES_BAND,      /* foreground: from CclParams.low to CclParams.high */
  CCL_VALUES_EQUAL,     /* classes, as in the output of a segmentation network: all but 0 are
                         * foreground, and only pixels of the same value are connected. Only
                         * the algorithms tile, flsl-cd and flsl on CUDA and runs on the CPU, for
                         * volumes uf and runs, and frames of CCL_FORMAT_BYTES and of 16-bit
                         * samples, volumes also of CCL_FORMAT_GRAY32; without threshold, invert,
                         * operations, masks and shapes; frames of at most 2^31 pixels. See
                         * ccl_analyzer_values() and CclVolumeComponent.value */
} CclValues;

#define CCL_MAX_THREADS 256

/* Parts of ccl_analyzer_shapes(), beyond what follows from a CclComponent. */
typedef enum CclShapeFlags
{
  CCL_SHAPES_TOPOLOGY = 1 << 0,  /* the Euler number, and so holes */
  CCL_SHAPES_PERIMETER = 1 << 1, /* edges, and pixels on the border */
  CCL_SHAPES_LUMA = 1 << 2,      /* sum, minimum and maximum of the pixels' values; not for frames
                                  * of CCL_FORMAT_BITS */
} CclShapeFlags;

/* How features are computed from labelled pixels, for labelling algorithms. */
typedef enum CclFeatureStage
{
  CCL_FEATURES_AUTO = 0, /* the algorithm's own way, or CCL_FEATURES_RUNS_CD */
  CCL_FEATURES_PIXELS,   /* every pixel is added to its component */
  CCL_FEATURES_RUNS,     /* every run is added to its component */
  CCL_FEATURES_RUNS_CD,  /* runs of one component are reduced first (conflict detection) */
} CclFeatureStage;

/* How ccl_analyzer_collect() waits for a CUDA device. */
typedef enum CclSync
{
  CCL_SYNC_AUTO = 0, /* busy-poll for 0.15 ms, yield up to 1 ms, then poll every 50 us; sleep first
                      * if the last frame was more than 2 ms ago (live sources); on a device that
                      * shares the host's memory (Jetson): CCL_SYNC_BLOCK */
  CCL_SYNC_SPIN,     /* busy-poll: the shortest latency, at the cost of a core */
  CCL_SYNC_YIELD,    /* poll, yielding to other threads */
  CCL_SYNC_BLOCK, /* sleep until the device's interrupt: the least CPU time, about 30 us slower */
} CclSync;

typedef struct CclAnalyzer CclAnalyzer;
typedef struct CclMask CclMask;           /* cudaccl/mask.h */
typedef struct CclOperation CclOperation; /* cudaccl/mask.h */

/* An algorithm of a backend, as listed by ccl_algorithm(). */
typedef struct CclAlgorithm
{
  const char *name;        /* "flsl-cd"; unique over all backends */
  const char *description; /* one sentence, with the paper it comes from */
  CclBackend backend;
  unsigned connectivity; /* the connectivities it supports: 4, 8, or 4 | 8; of an algorithm for
                          * volumes see ccl_volume_algorithm_has() */
} CclAlgorithm;

/* Settings for the life of an analyzer. Start from ccl_config_init(). */
typedef struct CclConfig
{
  uint32_t width, height; /* pixels, each at least 1; width * height < 2^32 */
  unsigned connectivity;  /* 4 or 8 */
  CclBackend backend;
  const char *algorithm;   /* a name from ccl_algorithm(); NULL or "auto": the backend's best */
  int device;              /* CUDA device number, -1: any. With a number CCL_BACKEND_AUTO does not
                            * fall back to the CPU; CCL_BACKEND_CPU ignores it */
  void *cuda_context;      /* a CUcontext of that device, for the analyzer's memory and work;
                            * CCL_MEMORY_DEVICE must belong to it. With a context CCL_BACKEND_AUTO
                            * does not fall back to the CPU. NULL: the device's primary context,
                            * which the CUDA runtime uses */
  uint32_t max_components; /* capacity of the result, at least 1 */
  unsigned threads;  /* CCL_BACKEND_CPU: threads that share a frame, including the caller's, at
                      * most CCL_MAX_THREADS; 0: one for each CPU that the process may use */
  bool second_order; /* also fill sum_xx, sum_yy and sum_xy */
  bool labels;       /* make label maps for ccl_analyzer_labels() */
  bool map_pinned;   /* CUDA reads CCL_MEMORY_PINNED in place, without a transfer; devices that
                      * share the host's memory always do */
  bool timing;       /* measure frames for ccl_analyzer_timing() */
  uint32_t timing_interval; /* with timing: measure one frame in this many, as measuring takes some
                             * microseconds. 0 or 1: every frame. Ignored with stages, and by
                             * CCL_BACKEND_CPU */
  bool stages;              /* with timing: also every stage, which takes some microseconds each */
  CclFeatureStage features; /* only for algorithms that label pixels; otherwise CCL_FEATURES_AUTO */
  bool updates;             /* count for ccl_analyzer_updates(), which takes time; CUDA only */
  CclSync sync;             /* CCL_BACKEND_CPU ignores it */
  CclUpload upload;         /* ignored by CCL_BACKEND_CPU, and with motion: pixels, as they are */
  const CclOperation *operations; /* on the foreground, see cudaccl/mask.h; copied */
  uint32_t n_operations;          /* number of operations, at most CCL_MAX_OPERATIONS; 0: none */
  const CclMask *region;          /* before the operations, pixels outside it become background; of
                                   * the frame's size, in host memory; copied. NULL: the whole
                                   * frame */
  const CclMotionConfig *motion;  /* a background model finds the foreground, see
                                   * cudaccl/motion.h; copied. NULL: the threshold does */
  bool mask;                      /* keep the cleaned mask for ccl_analyzer_mask() */
  bool auto_operations; /* instead of operations: choose them by the size of the frame and of the
                         * objects in it, see cudaccl/mask.h. Not for batches */
  unsigned shapes;      /* CclShapeFlags: for ccl_analyzer_shapes(); makes label maps, too. With
                         * CCL_SHAPES_LUMA upload is ignored: pixels, as they are. Not for batches */
  CclValues values;     /* not for batches, nor with motion */
  bool graphs;          /* replay equal frames as CUDA graphs, which saves about 3 us; ignored with
                         * motion, where it saves nothing, and by CCL_BACKEND_CPU. While a graph is
                         * captured, NVIDIA's driver (580) can crash if another thread calls
                         * cuCtxSynchronize(), as NVDEC does for each new decoder */
  bool signatures; /* for ccl_analyzer_signatures() (cudaccl/signature.h), which takes time only
                    * where it is called; upload is ignored: pixels, as they are. Not for
                    * batches, nor with CCL_VALUES_EQUAL */
  uint8_t reserved0[2];
  uint64_t reserved[7]; /* for fields to come; 0 */
} CclConfig;

/* Settings that may change from frame to frame. Start from ccl_params_init(). */
typedef struct CclParams
{
  uint8_t threshold; /* a pixel is foreground when value > threshold ... */
  bool invert;       /* ... or, inverted, when value <= threshold */
  uint64_t min_area; /* minimum component area in pixels; smaller ones are dropped */
  uint64_t max_area; /* maximum component area in pixels; below min_area all are dropped */
  uint32_t min_width, min_height; /* components with a smaller bounding box are dropped */
  /* With CclConfig.motion, and without a threshold: */
  CclMotionParams motion;
  uint64_t elapsed;   /* nanoseconds since the previous frame: usually the frame's duration, more
                       * after a gap; ignored for the first frame */
  uint16_t low, high; /* with CCL_VALUES_BAND: a pixel is foreground when low <= value <= high or,
                       * inverted, when not; of 16-bit samples, the whole sample counts. With low
                       * above high, no value is in the band */
  uint32_t reserved0;
  uint64_t reserved[7]; /* for fields to come; 0 */
} CclParams;

typedef struct CclChroma CclChroma;

/* One frame. Its foreground are the pixels that CclConfig.values says (CCL_FORMAT_BITS: the bits
 * that are 1) or differ from the background (CclConfig.motion), or, inverted, the others; limited
 * to CclConfig.region, then cleaned by CclConfig.operations. */
typedef struct CclImage
{
  const uint8_t *data; /* the first pixel of the first row; CCL_FORMAT_BITS: the first word, at a
                        * multiple of 8 bytes; CCL_MEMORY_ARRAY: the cudaArray_t or CUarray, whose
                        * first pixel it is */
  size_t stride;       /* bytes from row to row. CCL_FORMAT_BYTES: at least the width;
                        * CCL_FORMAT_BITS: a multiple of 8, at least 8 * ccl_mask_words (width);
                        * interleaved formats: at least the bytes of a row; ignored for arrays */
  CclMemory memory;    /* not CCL_MEMORY_ARRAY, unless the format is CCL_FORMAT_BYTES */
  void *stream;     /* CCL_MEMORY_DEVICE and CCL_MEMORY_ARRAY: the cudaStream_t on which the pixels
                     * become ready, NULL if they are ready already */
  CclFormat format; /* with CclConfig.motion: any but CCL_FORMAT_BITS */
  const CclChroma *chroma; /* only for CCL_MOTION_LUMA_420, which needs it, unless the format is
                            * interleaved colours */
} CclImage;

/* Sets an image of CCL_FORMAT_BYTES in host memory, with rows @stride bytes apart. Other fields are
 * 0 and may be changed. */
static inline void
ccl_image_init (CclImage *image, const uint8_t *data, size_t stride)
{
  image->data = data;
  image->stride = stride;
  image->memory = CCL_MEMORY_HOST;
  image->stream = NULL;
  image->format = CCL_FORMAT_BYTES;
  image->chroma = NULL;
}

/* The chroma of a frame. */
struct CclChroma
{
  CclImage planes[2]; /* the two components, in the same order for all frames, (width + 1) / 2 by
                       * (height + 1) / 2 samples of the format of luma. If they alternate in one
                       * CCL_MEMORY_ARRAY, both are that array */
  unsigned step; /* bytes from sample to sample: 1 for planes, 2 where they alternate (NV12); twice
                  * as many for 16-bit samples */
};

/* A part of a frame, in pixels. CclCrop begins with the same fields. */
typedef struct CclBox
{
  uint32_t x, y, width, height;
} CclBox;

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

/* The shape of one component; what CclConfig.shapes does not ask for is 0. No padding. */
typedef struct CclShape
{
  uint64_t edges; /* sides of pixels between the component and what is not in it, the frame's border
                   * included: the length of its outline along pixels */
  uint64_t luma;  /* sum of the pixels' values */
  int64_t euler;  /* 1 - the number of holes; a hole is background of the other connectivity */
  /* Pixels with a side on the outline, by how they continue it among each other: straight on, by
   * a diagonal, or one of each; the rest continue nothing. See ccl_shape_perimeter(). */
  uint32_t straight, diagonal, turning;
  uint8_t luma_min, luma_max;
  uint8_t reserved[2]; /* 0 */
} CclShape;

/* The ellipse with the same second-order moments as a component, in pixels. */
typedef struct CclEllipse
{
  double major, minor; /* lengths of the axes: 4 times the standard deviations along them */
  double orientation;  /* from the x axis to the major one, in radians, above -pi/2 and up to pi/2;
                        * positive is clockwise, as y points down; 0 if the axes are equal */
  double eccentricity; /* 0: a circle, 1: a line */
} CclEllipse;

/* The result for one frame. The array belongs to the analyzer and stays valid until its next
 * submit or its end. */
typedef struct CclComponents
{
  const CclComponent *items;
  uint32_t count; /* entries of items */
  uint32_t found; /* components that passed the filters of CclParams; when more than max_components,
                   * the largest are kept (of equal ones, the first in raster order) */
} CclComponents;

/* Whether no component is missing for want of CclConfig.max_components. */
static inline bool
ccl_components_are_all (const CclComponents *components)
{
  return components->found <= components->count;
}

/* The label map of one frame: for each pixel the label of its component, or 0 in the background and
 * in components that are not in the result. It belongs to the analyzer and stays valid until its
 * next submit or its end. */
typedef struct CclLabels
{
  const uint32_t *data; /* the first pixel of the first row, in host memory */
  size_t stride;        /* bytes from row to row */
} CclLabels;

/* The values that stand for labels in a picture. */
typedef struct CclPalette
{
  const uint8_t
      *values;   /* [n * 4], 4 bytes for each: that of the background, of label 1, of 2 ... */
  uint32_t n;    /* at least 2 */
  unsigned size; /* the bytes that are used of each, and those of a pixel: 2 to 4 */
  bool repeats;  /* labels past the last one begin again with that of label 1, instead of
                  * having the last one's */
} CclPalette;

/* Backend, device and memory of an analyzer. Strings live as long as the analyzer. */
typedef struct CclInfo
{
  CclBackend backend; /* never CCL_BACKEND_AUTO */
  const char *algorithm;
  int device;                /* CUDA device number, -1 on the CPU */
  const char *device_name;   /* "NVIDIA H200", or the CPU's instruction set in use */
  const char *fallback;      /* why CCL_BACKEND_AUTO did not choose CUDA; NULL if it did, or if the
                              * configuration rules CUDA out */
  CclStatus fallback_status; /* the kind of reason: CCL_ERROR_NO_MEMORY and CCL_ERROR_DEVICE mean
                              * that a suitable device failed, others that there is none; CCL_OK if
                              * there is no reason */
  uint64_t allocations;      /* allocations of any kind of memory since ccl_analyzer_new() */
  uint64_t bytes;            /* what they hold now */
  const char *upload; /* what of the last frame crossed the bus to the device: "pixels", "bits", or
                       * "none" on the CPU and for frames that were on the device already */
  CclMotionInfo motion;           /* all 0 without CclConfig.motion */
  const CclOperation *operations; /* that clean the next frame; those of CclConfig, or what
                                   * auto_operations chose; owned by the analyzer */
  uint32_t n_operations;
  uint32_t far_places;  /* of the picture, in which small objects count beside near ones, with
                         * CclConfig.motion and auto_operations */
  uint64_t reserved[6]; /* for fields to come; 0 */
} CclInfo;

/* A part of the analysis of a frame. */
typedef struct CclStage
{
  const char *name; /* such as "compression"; lives as long as the program */
  uint64_t time;    /* nanoseconds */
} CclStage;

#define CCL_MAX_STAGES 24

/* Durations of the last collected frame, in nanoseconds; all 0 if it was not measured. */
typedef struct CclTiming
{
  bool measured;     /* see CclConfig.timing and timing_interval */
  uint64_t upload;   /* host to device */
  uint64_t analysis; /* everything from pixels to compacted components, or to the label map on the
                      * device */
  uint64_t download; /* device to host */
  uint64_t model;    /* of the analysis: the background model; 0 without one */
  /* With CclConfig.stages, on a CUDA device: */
  uint64_t labelling; /* of the analysis: from pixels to labels of pixels, in any order;
                       * 0 for algorithms that make none */
  uint32_t n_stages;  /* entries of stages */
  CclStage stages[CCL_MAX_STAGES]; /* of the analysis, one after the other */
} CclTiming;

/* How often components' features in device memory were updated in a frame (Lemaitre 2021, section
 * 4.1). */
typedef struct CclUpdates
{
  uint64_t count;
  double conflicts; /* the sum of squares of every label's updates over the sum of them all */
} CclUpdates;

/* The centroid, in pixel centres: a single pixel at x = 3 has centroid x 3.0. */
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

/* The share of the bounding box that the component fills. */
static inline double
ccl_component_extent (const CclComponent *component)
{
  return (double) component->area / ((double) component->width * (double) component->height);
}

/* Whether the component touches the border of its frame of @width by @height pixels. */
static inline bool
ccl_component_touches_border (const CclComponent *component, uint32_t width, uint32_t height)
{
  return component->x == 0 || component->y == 0 || component->x + component->width == width ||
         component->y + component->height == height;
}

/* The mean of the pixels' values; needs CCL_SHAPES_LUMA. */
static inline double
ccl_shape_luma_mean (const CclShape *shape, const CclComponent *component)
{
  return (double) shape->luma / (double) component->area;
}

/* The length of the line through the centres of the pixels on the border, as scikit-image estimates
 * it (K. Benkrid, D. Crookes: Design and FPGA Implementation of a Perimeter Estimator, 2000); needs
 * CCL_SHAPES_PERIMETER. */
static inline double
ccl_shape_perimeter (const CclShape *shape)
{
  const double diagonal = 1.4142135623730951;

  return (double) shape->straight + (double) shape->diagonal * diagonal +
         (double) shape->turning * (1 + diagonal) / 2;
}

/* Fills @ellipse from second-order sums, so CclConfig.second_order must have been set. The same
 * sums give the same bytes on every machine with the same atan2(). */
CCL_API void ccl_component_ellipse (const CclComponent *component, CclEllipse *ellipse);

/* Fills @config with the defaults: 8-connectivity, automatic backend, algorithm and device, 1024
 * components, one thread, no second-order sums, no label maps, no timing, the algorithm's own
 * features, automatic waiting and upload, no operations, the whole frame, no background model, no
 * masks. */
CCL_API void ccl_config_init (CclConfig *config, uint32_t width, uint32_t height);

/* Fills @params with the defaults: threshold 127, not inverted, every area, width and height, those
 * of ccl_motion_params_init(), 40 ms elapsed, a band from 1 to 65535. */
CCL_API void ccl_params_init (CclParams *params);

/* The algorithms of this build, CUDA's first, each backend's best first; NULL past the last. */
CCL_API const CclAlgorithm *ccl_algorithm (size_t index);

/* Returns "auto", "cuda" or "cpu". */
CCL_API const char *ccl_backend_name (CclBackend backend);

/* The number of CUDA devices, of any capability; if it is 0, ccl_last_error() says why. */
CCL_API int ccl_cuda_device_count (void);

/* Gets the primary context of a CUDA device, a CUcontext, in which analyzers without a cuda_context
 * work. It stays until the process ends. Errors: CCL_ERROR_UNSUPPORTED (this build has no CUDA
 * backend), CCL_ERROR_NO_DEVICE, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_cuda_primary_context (int device, void **context);

/* Waits until the work in @stream, a cudaStream_t of the primary context of @device, is done.
 * Errors: CCL_ERROR_UNSUPPORTED (this build has no CUDA backend), CCL_ERROR_NO_DEVICE,
 * CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_cuda_synchronize (int device, void *stream);

/* Returns the version of the library, such as "0.3.0". */
CCL_API const char *ccl_version (void);

/* Returns the name of a status, such as "CCL_ERROR_INVALID", or "unknown". */
CCL_API const char *ccl_status_name (CclStatus status);

/* Returns why the last call of this thread that did not return CCL_OK failed, and a remedy. Never
 * NULL; valid until the next call of this thread. */
CCL_API const char *ccl_last_error (void);

/* Checks a configuration as ccl_analyzer_new() does, without opening a device or allocating memory:
 * the same errors except CCL_ERROR_NO_MEMORY and CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_config_check (const CclConfig *config);

/* Makes an analyzer with all the memory that it will ever need, except the CUDA backend's transfer
 * buffers: these are allocated with the first frame in CCL_MEMORY_HOST, or in CCL_MEMORY_PINNED
 * that must be transferred. Free it with ccl_analyzer_free(). Errors: CCL_ERROR_INVALID,
 * CCL_ERROR_UNSUPPORTED (the algorithm does not support this connectivity or feature stage, this
 * build has no such backend, second-order sums could exceed 2^64), CCL_ERROR_NO_DEVICE,
 * CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_new (const CclConfig *config, CclAnalyzer **analyzer);

/* Frees the analyzer and its results, after waiting for a frame in flight. NULL is ignored. */
CCL_API void ccl_analyzer_free (CclAnalyzer *analyzer);

/* Starts the analysis of one frame. The pixels must not change until ccl_analyzer_collect().
 * Errors: CCL_ERROR_INVALID (NULL, a bad image, bad parameters of a background model, or another
 * frame is in flight), CCL_ERROR_UNSUPPORTED (memory that the backend cannot read),
 * CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. After an error the device does not access the pixels any
 * more. The first two errors leave a background model as it was; after the others free the
 * analyzer if it has one. */
CCL_API CclStatus ccl_analyzer_submit (CclAnalyzer *analyzer, const CclImage *image,
                                       const CclParams *params);

/* Waits for the submitted frame and returns its components, at most CclConfig.max_components: see
 * ccl_components_are_all(). Errors: CCL_ERROR_INVALID (NULL, or no frame is in flight),
 * CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_collect (CclAnalyzer *analyzer, CclComponents *components);

/* Calls ccl_analyzer_submit() and ccl_analyzer_collect(). */
CCL_API CclStatus ccl_analyzer_analyze (CclAnalyzer *analyzer, const CclImage *image,
                                        const CclParams *params, CclComponents *components);

/* Returns the label map of the last collected frame. The first call for a frame makes it, or
 * transfers it from the device, so frames without a call do not pay for it. Errors:
 * CCL_ERROR_INVALID (CclConfig.labels was not set, or no frame was collected since the last
 * submit), CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_labels (CclAnalyzer *analyzer, CclLabels *labels);

/* Writes the same label map to @labels, memory of the caller, with rows @stride bytes apart, a
 * multiple of 4; all of it is there when the function returns. @memory is CCL_MEMORY_HOST,
 * CCL_MEMORY_PINNED or, with the CUDA backend, CCL_MEMORY_DEVICE; nothing is copied on the CPU.
 * Errors: as ccl_analyzer_labels(); CCL_ERROR_INVALID (NULL, @stride), CCL_ERROR_UNSUPPORTED
 * (memory that the backend cannot write). */
CCL_API CclStatus ccl_analyzer_write_labels (CclAnalyzer *analyzer, uint32_t *labels, size_t stride,
                                             CclMemory memory);

/* Writes a picture of the last collected frame: the value of each pixel's label, to @pixels in host
 * memory, with rows @stride bytes apart. On the CPU, no label map is made for it. Errors: as
 * ccl_analyzer_labels(); CCL_ERROR_INVALID (NULL, @stride, a bad palette). */
CCL_API CclStatus ccl_analyzer_paint (CclAnalyzer *analyzer, const CclPalette *palette,
                                      uint8_t *pixels, size_t stride);

/* Returns the shapes of the components of the last collected frame, in the same order, as many;
 * they belong to the analyzer and stay valid until its next submit or its end. Errors:
 * CCL_ERROR_INVALID (CclConfig.shapes was not set, or no frame was collected since the last
 * submit). */
CCL_API CclStatus ccl_analyzer_shapes (CclAnalyzer *analyzer, const CclShape **shapes);

/* Returns the values of the components of the last collected frame, in the same order, as many;
 * they belong to the analyzer and stay valid until its next submit or its end. Errors:
 * CCL_ERROR_INVALID (CclConfig.values is not CCL_VALUES_EQUAL, or no frame was collected since the
 * last submit). */
CCL_API CclStatus ccl_analyzer_values (CclAnalyzer *analyzer, const uint16_t **values);

/* Returns the mask of the last collected frame: its foreground, after region and operations, as it
 * was analysed, before the limits of CclParams. It is in host memory, belongs to the analyzer and
 * stays valid until its next submit or its end; the first call for a frame transfers it from the
 * device. Errors: CCL_ERROR_INVALID (CclConfig.mask was not set, or no frame was collected since
 * the last submit), CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_mask (CclAnalyzer *analyzer, CclMask *mask);

/* Returns the pixels of the last collected frame that were dropped as shadows, in the same way; of
 * the frame's size, without region and operations. Errors: CCL_ERROR_INVALID
 * (CclMotionConfig.shadows was not set, or no frame was collected since the last submit),
 * CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_shadows (CclAnalyzer *analyzer, CclMask *shadows);

/* Writes the background as a picture of luma, of the size in CclMotionInfo, to @pixels in host
 * memory, with rows @stride bytes apart; all 0 before the first frame. Errors: CCL_ERROR_INVALID
 * (NULL, no CclConfig.motion, or @stride less than the width), CCL_ERROR_NO_MEMORY,
 * CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_background (CclAnalyzer *analyzer, uint8_t *pixels, size_t stride);

/* Drops the state of the background model, if there is one: the next frame is its first. */
CCL_API void ccl_analyzer_reset (CclAnalyzer *analyzer);

/* Allocates @size bytes of pinned memory, CCL_MEMORY_PINNED for analyzers of every device and
 * context; @device is one that will read it. It is aligned to pages. Free it with
 * ccl_pinned_free(). Errors: CCL_ERROR_INVALID (size 0), CCL_ERROR_UNSUPPORTED (this build has no
 * CUDA backend), CCL_ERROR_NO_DEVICE, CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_pinned_alloc (int device, size_t size, void **memory);

/* Frees memory from ccl_pinned_alloc() with the same @device. NULL is ignored. */
CCL_API void ccl_pinned_free (int device, void *memory);

/* Gets what the analyzer runs on, what the last frame used, and the state of its background model.
 */
CCL_API void ccl_analyzer_info (const CclAnalyzer *analyzer, CclInfo *info);

/* Gets the durations of the last collected frame. */
CCL_API void ccl_analyzer_timing (const CclAnalyzer *analyzer, CclTiming *timing);

/* Returns the updates of the last collected frame. Errors: CCL_ERROR_INVALID (CclConfig.updates was
 * not set, or no frame was collected since the last submit). */
CCL_API CclStatus ccl_analyzer_updates (const CclAnalyzer *analyzer, CclUpdates *updates);

#ifdef __cplusplus
}
#endif

#endif
