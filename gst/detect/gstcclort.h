/* cudaccl - ONNX Runtime, found at run time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The used part of ONNX Runtime's C interface, declared here so that building needs no headers.
 * The interface is a table of function pointers, `OrtApi`, to which versions only append: a
 * function's slot never changes. */

#ifndef __GST_CCL_ORT_H__
#define __GST_CCL_ORT_H__

#include <gst/gst.h>
#include <stdint.h>

G_BEGIN_DECLS

/* ONNX Runtime 1.11 and later have all functions below. */
#define GST_CCL_ORT_API_VERSION 11
#define GST_CCL_ORT_SLOTS 210

typedef struct OrtStatus OrtStatus; /* NULL: success */
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorInfo OrtTensorInfo; /* OrtTensorTypeAndShapeInfo */
typedef struct OrtModelMetadata OrtModelMetadata;
typedef struct OrtValue OrtValue;
typedef struct OrtProviderOptions OrtProviderOptions; /* one type for each provider */

/* Used values of ONNXTensorElementDataType. */
enum
{
  ORT_TYPE_FLOAT = 1,
  ORT_TYPE_UINT8 = 2,
  ORT_TYPE_INT32 = 6,
  ORT_TYPE_INT64 = 7,
  ORT_TYPE_FLOAT16 = 10,
};

#define ORT_LOGGING_LEVEL_ERROR 3
#define ORT_ENABLE_ALL 99      /* GraphOptimizationLevel */
#define ORT_DEVICE_ALLOCATOR 0 /* OrtAllocatorType */
#define ORT_MEM_TYPE_DEFAULT 0 /* OrtMemType */

/* X (slot, result, name, parameters) */
#define GST_CCL_ORT_FUNCTIONS(X)                                                                   \
  X (2, const char *, GetErrorMessage, (const OrtStatus *status))                                  \
  X (3, OrtStatus *, CreateEnv, (int level, const char *id, OrtEnv **env))                         \
  X (7, OrtStatus *, CreateSession,                                                                \
     (const OrtEnv *env, const char *path, const OrtSessionOptions *options,                       \
      OrtSession **session))                                                                       \
  X (9, OrtStatus *, Run,                                                                          \
     (OrtSession * session, const OrtRunOptions *options, const char *const *input_names,          \
      const OrtValue *const *inputs, size_t n_inputs, const char *const *output_names,             \
      size_t n_outputs, OrtValue **outputs))                                                       \
  X (10, OrtStatus *, CreateSessionOptions, (OrtSessionOptions * *options))                        \
  X (23, OrtStatus *, SetSessionGraphOptimizationLevel, (OrtSessionOptions * options, int level))  \
  X (24, OrtStatus *, SetIntraOpNumThreads, (OrtSessionOptions * options, int n))                  \
  X (30, OrtStatus *, SessionGetInputCount, (const OrtSession *session, size_t *n))                \
  X (31, OrtStatus *, SessionGetOutputCount, (const OrtSession *session, size_t *n))               \
  X (33, OrtStatus *, SessionGetInputTypeInfo,                                                     \
     (const OrtSession *session, size_t index, OrtTypeInfo **info))                                \
  X (36, OrtStatus *, SessionGetInputName,                                                         \
     (const OrtSession *session, size_t index, OrtAllocator *allocator, char **name))              \
  X (37, OrtStatus *, SessionGetOutputName,                                                        \
     (const OrtSession *session, size_t index, OrtAllocator *allocator, char **name))              \
  X (49, OrtStatus *, CreateTensorWithDataAsOrtValue,                                              \
     (const OrtMemoryInfo *info, void *data, size_t size, const int64_t *shape, size_t n_dims,     \
      int type, OrtValue **value))                                                                 \
  X (50, OrtStatus *, IsTensor, (const OrtValue *value, int *is_tensor))                           \
  X (51, OrtStatus *, GetTensorMutableData, (OrtValue * value, void **data))                       \
  X (55, OrtStatus *, CastTypeInfoToTensorInfo,                                                    \
     (const OrtTypeInfo *info, const OrtTensorInfo **tensor))                                      \
  X (60, OrtStatus *, GetTensorElementType, (const OrtTensorInfo *info, int *type))                \
  X (61, OrtStatus *, GetDimensionsCount, (const OrtTensorInfo *info, size_t *n))                  \
  X (62, OrtStatus *, GetDimensions, (const OrtTensorInfo *info, int64_t *dims, size_t n))         \
  X (65, OrtStatus *, GetTensorTypeAndShape, (const OrtValue *value, OrtTensorInfo **info))        \
  X (69, OrtStatus *, CreateCpuMemoryInfo,                                                         \
     (int allocator_type, int memory_type, OrtMemoryInfo **info))                                  \
  X (76, OrtStatus *, AllocatorFree, (OrtAllocator * allocator, void *memory))                     \
  X (78, OrtStatus *, GetAllocatorWithDefaultOptions, (OrtAllocator * *allocator))                 \
  X (93, void, ReleaseStatus, (OrtStatus * status))                                                \
  X (94, void, ReleaseMemoryInfo, (OrtMemoryInfo * info))                                          \
  X (95, void, ReleaseSession, (OrtSession * session))                                             \
  X (96, void, ReleaseValue, (OrtValue * value))                                                   \
  X (98, void, ReleaseTypeInfo, (OrtTypeInfo * info))                                              \
  X (99, void, ReleaseTensorInfo, (OrtTensorInfo * info))                                          \
  X (100, void, ReleaseSessionOptions, (OrtSessionOptions * options))                              \
  X (111, OrtStatus *, SessionGetModelMetadata,                                                    \
     (const OrtSession *session, OrtModelMetadata **metadata))                                     \
  X (116, OrtStatus *, ModelMetadataLookupCustomMetadataMap,                                       \
     (const OrtModelMetadata *metadata, OrtAllocator *allocator, const char *key, char **value))   \
  X (118, void, ReleaseModelMetadata, (OrtModelMetadata * metadata))                               \
  X (130, OrtStatus *, AddSessionConfigEntry,                                                      \
     (OrtSessionOptions * options, const char *key, const char *value))                            \
  X (170, OrtStatus *, AppendTensorRT,                                                             \
     (OrtSessionOptions * options, const OrtProviderOptions *provider))                            \
  X (171, OrtStatus *, CreateTensorRTOptions, (OrtProviderOptions * *options))                     \
  X (172, OrtStatus *, UpdateTensorRTOptions,                                                      \
     (OrtProviderOptions * options, const char *const *keys, const char *const *values, size_t n)) \
  X (174, void, ReleaseTensorRTOptions, (OrtProviderOptions * options))                            \
  X (204, OrtStatus *, AppendCUDA,                                                                 \
     (OrtSessionOptions * options, const OrtProviderOptions *provider))                            \
  X (205, OrtStatus *, CreateCUDAOptions, (OrtProviderOptions * *options))                         \
  X (206, OrtStatus *, UpdateCUDAOptions,                                                          \
     (OrtProviderOptions * options, const char *const *keys, const char *const *values, size_t n)) \
  X (208, void, ReleaseCUDAOptions, (OrtProviderOptions * options))

/* Returned by the library's only function, OrtGetApiBase(). */
typedef struct
{
  /* Returns NULL if the library is older than @version. */
  const gpointer *(*GetApi) (uint32_t version);
  const char *(*GetVersionString) (void);
} OrtApiBase;

/* A loaded library. Stays until the process ends. */
typedef struct
{
#define GST_CCL_ORT_FIELD(slot, result, name, parameters) result (*name) parameters;
  GST_CCL_ORT_FUNCTIONS (GST_CCL_ORT_FIELD)
#undef GST_CCL_ORT_FIELD
  const gchar *version; /* "1.21.0" */
  OrtEnv *env;
  OrtAllocator *allocator;
  OrtMemoryInfo *memory;
} GstCclOrt;

/* Loads the library @path; NULL: the one that the environment variable CUDACCL_ONNXRUNTIME
 * names, or the system's. Returns the same object for the same path. The error says how to get
 * the library. */
const GstCclOrt *gst_ccl_ort_load (const gchar *path, GError **error);

/* Returns TRUE if @status is NULL. Otherwise sets @error to its message and @what failed, and
 * frees @status. */
gboolean gst_ccl_ort_check (const GstCclOrt *self, OrtStatus *status, const gchar *what,
                            GError **error);

G_END_DECLS

#endif /* __GST_CCL_ORT_H__ */
