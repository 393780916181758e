/* cudaccl - a fake ONNX Runtime
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ortfake/ortfake.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "gst/detect/gstcclhalf.h"
#include "gst/detect/gstcclort.h"

ORT_FAKE_EXPORT OrtFake ort_fake;

ORT_FAKE_EXPORT const void *OrtGetApiBase (void);

/* The type behind all handles. */
typedef struct
{
  GstCclTensor tensor;
  gpointer copy; /* of the data */
} Object;

static gpointer
object_new (void)
{
  g_atomic_int_inc (&ort_fake.live);

  return g_new0 (Object, 1);
}

static void
object_free (gpointer object)
{
  if (!object)
    return;

  g_atomic_int_add (&ort_fake.live, -1);
  g_free (((Object *) object)->copy);
  g_free (object);
}

/* Counts a call of @slot. Returns an error if it must fail. */
static OrtStatus *
call (guint slot)
{
  if (slot != ort_fake.fail_slot)
    return NULL;
  if (ort_fake.fail_after > 0) {
    ort_fake.fail_after--;
    return NULL;
  }

  return object_new ();
}

#define CALL(slot)                 \
  OrtStatus *status = call (slot); \
                                   \
  if (status)                      \
  return status

static const char *
fake_GetErrorMessage (const OrtStatus *status)
{
  return "the fake says no\n";
}

static OrtStatus *
fake_CreateEnv (int level, const char *id, OrtEnv **env)
{
  static Object object; /* stays until the process ends */
  CALL (3);

  *env = (OrtEnv *) (gpointer) &object;
  return NULL;
}

static OrtStatus *
fake_CreateSession (const OrtEnv *env, const char *path, const OrtSessionOptions *options,
                    OrtSession **session)
{
  CALL (7);

  ort_fake.n_sessions++;
  *session = object_new ();
  return NULL;
}

static OrtValue *
make_output (const GstCclTensor *output, gint64 batch)
{
  Object *value = object_new ();
  const gsize size = output->type == ORT_TYPE_INT64     ? 8
                     : output->type == ORT_TYPE_FLOAT16 ? 2
                     : output->type == ORT_TYPE_UINT8   ? 1
                                                        : 4;
  gsize n = 1, i;
  gboolean open = FALSE;

  value->tensor = *output;
  for (i = 0; i < output->n_dims; i++) {
    if (output->dims[i] < 0) {
      value->tensor.dims[i] = batch;
      open = TRUE;
    } else
      n *= (gsize) output->dims[i];
  }
  value->copy = g_malloc0 (MAX (n * size * (gsize) (open ? batch : 1), 1));
  for (i = 0; output->data && i < (open ? (gsize) batch : 1); i++)
    memcpy ((guint8 *) value->copy + i * n * size, output->data, n * size);

  return (OrtValue *) (gpointer) value;
}

static OrtStatus *
fake_Run (OrtSession *session, const OrtRunOptions *options, const char *const *input_names,
          const OrtValue *const *inputs, size_t n_inputs, const char *const *output_names,
          size_t n_outputs, OrtValue **outputs)
{
  const GstCclTensor *input = &((const Object *) (gconstpointer) inputs[0])->tensor;
  const gboolean last = input->dims[3] == 3;
  const gint64 size = last ? input->dims[1] * input->dims[2] : input->dims[2] * input->dims[3];
  gint64 i;
  CALL (9);

  if (ort_fake.delay > 0)
    g_usleep (ort_fake.delay);
  for (i = 0; i < 6; i++) {
    const gint64 x = i / 3, c = i % 3;
    const gint64 at = (input->dims[0] - 1) * 3 * size + (last ? 3 * x + c : c * size + x);

    ort_fake.first[x][c] = input->type == ORT_TYPE_UINT8 ? ((const guint8 *) input->data)[at]
                           : input->type == ORT_TYPE_FLOAT16
                               ? gst_ccl_half_to_float (((const guint16 *) input->data)[at])
                               : ((const gfloat *) input->data)[at];
  }
  for (i = 0; i < 2 && n_inputs > 1; i++) {
    const GstCclTensor *sizes = &((const Object *) (gconstpointer) inputs[1])->tensor;
    const gint64 at = 2 * (sizes->dims[0] - 1) + i;

    ort_fake.sizes[i] = sizes->type == ORT_TYPE_INT64 ? (gdouble) ((const gint64 *) sizes->data)[at]
                        : sizes->type == ORT_TYPE_INT32 ? ((const gint32 *) sizes->data)[at]
                                                        : ((const gfloat *) sizes->data)[at];
  }
  for (i = 0; i < (gint64) n_outputs; i++)
    outputs[i] = make_output (&ort_fake.outputs[i], input->dims[0]);
  g_atomic_int_inc (&ort_fake.n_runs);
  g_atomic_int_add (&ort_fake.n_pictures, (gint) input->dims[0]);
  return NULL;
}

static OrtStatus *
fake_CreateSessionOptions (OrtSessionOptions **options)
{
  CALL (10);

  *options = object_new ();
  return NULL;
}

static OrtStatus *
fake_SetSessionGraphOptimizationLevel (OrtSessionOptions *options, int level)
{
  return call (23);
}

static OrtStatus *
fake_SetIntraOpNumThreads (OrtSessionOptions *options, int n)
{
  return call (24);
}

static OrtStatus *
fake_SessionGetInputCount (const OrtSession *session, size_t *n)
{
  CALL (30);

  *n = ort_fake.n_inputs;
  return NULL;
}

static OrtStatus *
fake_SessionGetOutputCount (const OrtSession *session, size_t *n)
{
  CALL (31);

  *n = ort_fake.n_outputs;
  return NULL;
}

static OrtStatus *
fake_SessionGetInputTypeInfo (const OrtSession *session, size_t index, OrtTypeInfo **info)
{
  Object *object;
  CALL (33);

  object = object_new ();
  object->tensor = index ? ort_fake.second : ort_fake.input;
  *info = (OrtTypeInfo *) (gpointer) object;
  return NULL;
}

static OrtStatus *
fake_SessionGetInputName (const OrtSession *session, size_t index, OrtAllocator *allocator,
                          char **name)
{
  CALL (36);

  *name = g_strdup (index ? ort_fake.second.name : ort_fake.input.name);
  return NULL;
}

static OrtStatus *
fake_SessionGetOutputName (const OrtSession *session, size_t index, OrtAllocator *allocator,
                           char **name)
{
  CALL (37);

  *name = g_strdup (ort_fake.outputs[index % G_N_ELEMENTS (ort_fake.outputs)].name);
  return NULL;
}

static OrtStatus *
fake_CreateTensorWithDataAsOrtValue (const OrtMemoryInfo *info, void *data, size_t size,
                                     const int64_t *shape, size_t n_dims, int type,
                                     OrtValue **value)
{
  size_t length = type == ORT_TYPE_UINT8     ? 1
                  : type == ORT_TYPE_FLOAT16 ? 2
                  : type == ORT_TYPE_INT64   ? 8
                                             : sizeof (float);
  Object *object;
  size_t i;
  CALL (49);

  object = object_new ();
  object->tensor.data = data;
  object->tensor.type = type;
  object->tensor.n_dims = (guint) n_dims;
  for (i = 0; i < n_dims; i++)
    object->tensor.dims[i] = shape[i];
  for (i = 0; i < n_dims; i++)
    length *= (size_t) shape[i];
  g_assert (size == length);
  *value = (OrtValue *) (gpointer) object;
  return NULL;
}

static OrtStatus *
fake_IsTensor (const OrtValue *value, int *is_tensor)
{
  CALL (50);

  *is_tensor = ((const Object *) (gconstpointer) value)->tensor.n_dims > 0;
  return NULL;
}

static OrtStatus *
fake_GetTensorMutableData (OrtValue *value, void **data)
{
  CALL (51);

  *data = ((Object *) (gpointer) value)->copy;
  return NULL;
}

static OrtStatus *
fake_CastTypeInfoToTensorInfo (const OrtTypeInfo *info, const OrtTensorInfo **tensor)
{
  CALL (55);

  *tensor = ort_fake.no_input ? NULL : (const OrtTensorInfo *) (gconstpointer) info;
  return NULL;
}

static OrtStatus *
fake_GetTensorElementType (const OrtTensorInfo *info, int *type)
{
  CALL (60);

  *type = ((const Object *) (gconstpointer) info)->tensor.type;
  return NULL;
}

static OrtStatus *
fake_GetDimensionsCount (const OrtTensorInfo *info, size_t *n)
{
  CALL (61);

  *n = ((const Object *) (gconstpointer) info)->tensor.n_dims;
  return NULL;
}

static OrtStatus *
fake_GetDimensions (const OrtTensorInfo *info, int64_t *dims, size_t n)
{
  size_t i;
  CALL (62);

  for (i = 0; i < n; i++)
    dims[i] = ((const Object *) (gconstpointer) info)->tensor.dims[i];
  return NULL;
}

static OrtStatus *
fake_GetTensorTypeAndShape (const OrtValue *value, OrtTensorInfo **info)
{
  Object *object;
  CALL (65);

  object = object_new ();
  object->tensor = ((const Object *) (gconstpointer) value)->tensor;
  *info = (OrtTensorInfo *) (gpointer) object;
  return NULL;
}

static OrtStatus *
fake_CreateCpuMemoryInfo (int allocator_type, int memory_type, OrtMemoryInfo **info)
{
  static Object object;
  CALL (69);

  *info = (OrtMemoryInfo *) (gpointer) &object;
  return NULL;
}

static OrtStatus *
fake_AllocatorFree (OrtAllocator *allocator, void *memory)
{
  g_free (memory);

  return call (76);
}

static OrtStatus *
fake_GetAllocatorWithDefaultOptions (OrtAllocator **allocator)
{
  static Object object;
  CALL (78);

  *allocator = (OrtAllocator *) (gpointer) &object;
  return NULL;
}

#define RELEASE(name, type)                     \
  static void fake_Release##name (type *object) \
  {                                             \
    object_free (object);                       \
  }
RELEASE (Status, OrtStatus)
RELEASE (MemoryInfo, OrtMemoryInfo)
RELEASE (Session, OrtSession)
RELEASE (Value, OrtValue)
RELEASE (ModelMetadata, OrtModelMetadata)
RELEASE (TypeInfo, OrtTypeInfo)
RELEASE (TensorInfo, OrtTensorInfo)
RELEASE (SessionOptions, OrtSessionOptions)
RELEASE (TensorRTOptions, OrtProviderOptions)
RELEASE (CUDAOptions, OrtProviderOptions)

static OrtStatus *
fake_SessionGetModelMetadata (const OrtSession *session, OrtModelMetadata **metadata)
{
  CALL (111);

  *metadata = object_new ();
  return NULL;
}

static OrtStatus *
fake_ModelMetadataLookupCustomMetadataMap (const OrtModelMetadata *metadata,
                                           OrtAllocator *allocator, const char *key, char **value)
{
  CALL (116);

  *value = g_strdup (strcmp (key, "names") == 0     ? ort_fake.names
                     : strcmp (key, "end2end") == 0 ? ort_fake.end_to_end
                                                    : NULL);
  return NULL;
}

static OrtStatus *
fake_AddSessionConfigEntry (OrtSessionOptions *options, const char *key, const char *value)
{
  return call (130);
}

static OrtStatus *
fake_AppendTensorRT (OrtSessionOptions *options, const OrtProviderOptions *provider)
{
  CALL (170);

  ort_fake.provider = "tensorrt";
  return NULL;
}

static OrtStatus *
fake_CreateTensorRTOptions (OrtProviderOptions **options)
{
  CALL (171);

  *options = object_new ();
  return NULL;
}

static OrtStatus *
fake_UpdateTensorRTOptions (OrtProviderOptions *options, const char *const *keys,
                            const char *const *values, size_t n)
{
  return call (172);
}

static OrtStatus *
fake_AppendCUDA (OrtSessionOptions *options, const OrtProviderOptions *provider)
{
  CALL (204);

  ort_fake.provider = "cuda";
  return NULL;
}

static OrtStatus *
fake_CreateCUDAOptions (OrtProviderOptions **options)
{
  CALL (205);

  *options = object_new ();
  return NULL;
}

static OrtStatus *
fake_UpdateCUDAOptions (OrtProviderOptions *options, const char *const *keys,
                        const char *const *values, size_t n)
{
  return call (206);
}

static const gpointer *
get_api (uint32_t version)
{
  static gpointer slots[GST_CCL_ORT_SLOTS];

#define FILL(slot, result, name, parameters) slots[slot] = (gpointer) fake_##name;
  GST_CCL_ORT_FUNCTIONS (FILL)
#undef FILL

  return ort_fake.old ? NULL : slots;
}

static const char *
get_version (void)
{
  return "1.2.3";
}

const void *
OrtGetApiBase (void)
{
  static const OrtApiBase base = { get_api, get_version };

  return &base;
}

/* The data may be in the program, but functions are in the library. */
const gchar *
ort_fake_path (void)
{
  Dl_info info;

  return dladdr ((gpointer) get_api, &info) ? info.dli_fname : NULL;
}
