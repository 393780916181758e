/* cudaccl - a neural network that elements share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclnetwork.h"

#include <string.h>

#include "gstcclhalf.h"
#include "gstccllabels.h"
#include "gstcclmodelinfo.h"
#include "gstcclort.h"

#define DEFAULT_SIZE 640
#define MAX_SIZE 2048
#define MAX_BATCH 8
#define MAX_BYTES ((gsize) 1 << 30) /* of the input, and of an output that is widened */
#define CHANNELS 3

struct _GstCclNetwork
{
  gint ref_count; /* protected by @networks_lock */
  gchar *key;

  const GstCclOrt *ort;
  OrtSession *session;
  gchar *inputs[2]; /* names; that of the picture first */
  guint n_inputs;
  gint sizes_type; /* of the second input: width and height of the picture */
  gchar *outputs[GST_CCL_MAX_OUTPUTS];
  guint n_outputs;
  gint input_type;
  gboolean channels_last;
  gboolean fixed_batch; /* a batch always has info.batch pictures */
  guint together;       /* most pictures in a batch; worker thread only */
  GstCclNetworkInfo info;
  GstCclColorOrder color_order;
  gfloat table[CHANNELS][256];   /* input value for each value of red, green and blue */
  guint16 halves[CHANNELS][256]; /* the same as 16-bit floats */
  gpointer tensor;               /* input of info.batch pictures; worker thread only */
  gpointer sizes;                /* second input; NULL if there is none */
  GstCclHints hints;
  GstCclModelinfo modelinfo;
  gchar *names;
  GArray *widened[GST_CCL_MAX_OUTPUTS]; /* 16-bit outputs as gfloat, or NULL; worker thread only */
  gsize picture_size;                   /* samples per picture */

  GThread *thread;
  GMutex lock;
  GCond changed;
  GQueue queue;      /* GstCclRequest; protected by @lock */
  GPtrArray *taken;  /* requests that the worker thread processes; protected by @lock */
  gboolean stopping; /* protected by @lock */
};

static GMutex loading_lock; /* held while a network is loaded; taken before @networks_lock */
static GMutex networks_lock;
static GHashTable *networks; /* key → GstCclNetwork; protected by @networks_lock */

static gchar *
make_key (const GstCclNetworkConfig *c)
{
  return g_strdup_printf ("%s\n%s\n%d %d %u %d %ux%u %d %d %.17g %.17g %.17g %.17g %.17g %.17g",
                          c->model, c->library ? c->library : "", c->provider, c->device,
                          c->threads, c->output, c->width, c->height, c->color_order, c->has_mean,
                          c->mean[0], c->mean[1], c->mean[2], c->scale[0], c->scale[1],
                          c->scale[2]);
}

/* Sets up @options for a device. */
static gboolean
append_provider (const GstCclOrt *ort, const GstCclNetworkConfig *config,
                 OrtSessionOptions *options, GError **error)
{
  const gboolean tensorrt = config->provider == GST_CCL_PROVIDER_TENSORRT;
  const gchar *what = tensorrt ? "to use TensorRT" : "to use CUDA";
  const char *const keys[] = { "device_id" };
  gchar *number = g_strdup_printf ("%d", MAX (config->device, 0));
  const char *const values[] = { number };
  OrtProviderOptions *provider = NULL;
  gboolean done;

  done = gst_ccl_ort_check (ort,
                            tensorrt ? ort->CreateTensorRTOptions (&provider)
                                     : ort->CreateCUDAOptions (&provider),
                            what, error) &&
         gst_ccl_ort_check (ort,
                            tensorrt ? ort->UpdateTensorRTOptions (provider, keys, values, 1)
                                     : ort->UpdateCUDAOptions (provider, keys, values, 1),
                            what, error) &&
         gst_ccl_ort_check (ort,
                            tensorrt ? ort->AppendTensorRT (options, provider)
                                     : ort->AppendCUDA (options, provider),
                            what, error);
  if (provider && tensorrt)
    ort->ReleaseTensorRTOptions (provider);
  else if (provider)
    ort->ReleaseCUDAOptions (provider);
  g_free (number);

  return done;
}

static gboolean
open_session (GstCclNetwork *self, const GstCclNetworkConfig *config, GError **error)
{
  const GstCclOrt *ort = self->ort;
  OrtSessionOptions *options = NULL;
  gboolean opened;

  if (!g_file_test (config->model, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "There is no model file %s.", config->model);
    return FALSE;
  }

  /* Spinning threads would take cores from the streams. */
  opened =
      gst_ccl_ort_check (ort, ort->CreateSessionOptions (&options), "to start", error) &&
      gst_ccl_ort_check (ort, ort->SetSessionGraphOptimizationLevel (options, ORT_ENABLE_ALL),
                         "to start", error) &&
      gst_ccl_ort_check (
          ort, ort->AddSessionConfigEntry (options, "session.intra_op.allow_spinning", "0"),
          "to start", error) &&
      gst_ccl_ort_check (ort, ort->SetIntraOpNumThreads (options, (int) config->threads),
                         "to start", error) &&
      (config->provider == GST_CCL_PROVIDER_CPU || append_provider (ort, config, options, error)) &&
      gst_ccl_ort_check (ort, ort->CreateSession (ort->env, config->model, options, &self->session),
                         "to load the model", error);
  if (options)
    ort->ReleaseSessionOptions (options);

  return opened;
}

/* Gets the name of input or output @index. */
static gchar *
get_name (GstCclNetwork *self,
          OrtStatus *(*get) (const OrtSession *, size_t, OrtAllocator *, char **), guint index,
          GError **error)
{
  const GstCclOrt *ort = self->ort;
  char *name = NULL;
  gchar *copy;

  if (!gst_ccl_ort_check (ort, get (self->session, index, ort->allocator, &name),
                          "to read the model", error))
    return NULL;

  copy = g_strdup (name);
  gst_ccl_ort_check (ort, ort->AllocatorFree (ort->allocator, name), "to free a name", NULL);

  return copy;
}

/* Gets type and dimensions. */
static gboolean
get_shape (const GstCclOrt *ort, const OrtTensorInfo *info, GstCclTensor *tensor, GError **error)
{
  int64_t dims[GST_CCL_TENSOR_MAX_DIMS];
  size_t n = 0, i;
  int type = 0;

  if (!gst_ccl_ort_check (ort, ort->GetTensorElementType (info, &type), "to read a shape", error) ||
      !gst_ccl_ort_check (ort, ort->GetDimensionsCount (info, &n), "to read a shape", error))
    return FALSE;
  if (n > GST_CCL_TENSOR_MAX_DIMS) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A tensor of the model has %u dimensions.", (guint) n);
    return FALSE;
  }
  if (!gst_ccl_ort_check (ort, ort->GetDimensions (info, dims, n), "to read a shape", error))
    return FALSE;

  tensor->type = type;
  tensor->n_dims = (guint) n;
  for (i = 0; i < n; i++)
    tensor->dims[i] = dims[i];

  return TRUE;
}

static gboolean
get_input_shape (GstCclNetwork *self, guint index, GstCclTensor *tensor, GError **error)
{
  const GstCclOrt *ort = self->ort;
  const OrtTensorInfo *info = NULL;
  OrtTypeInfo *type = NULL;
  gboolean got;

  got = gst_ccl_ort_check (ort, ort->SessionGetInputTypeInfo (self->session, index, &type),
                           "to read the model", error) &&
        gst_ccl_ort_check (ort, ort->CastTypeInfoToTensorInfo (type, &info), "to read the model",
                           error);
  if (got && !info) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The input of the model is not a tensor.");
    got = FALSE;
  }
  got = got && get_shape (ort, info, tensor, error);
  if (type)
    ort->ReleaseTypeInfo (type);

  return got;
}

/* Returns a dimension of the input: the model's, or else @wanted, or else the default. */
static guint
choose_size (gint64 dim, guint wanted)
{
  if (dim > 0)
    return (guint) MIN (dim, G_MAXINT);

  return wanted > 0 ? wanted : DEFAULT_SIZE;
}

/* Reads the second input, which DETRs have if their boxes are pixels of the picture, and how many
 * pictures it is for; -1: any number. */
static gboolean
read_sizes (GstCclNetwork *self, gint64 *n, GError **error)
{
  GstCclTensor sizes;

  *n = -1;
  if (self->n_inputs < 2)
    return TRUE;
  if (!get_input_shape (self, 1, &sizes, error))
    return FALSE;
  if ((sizes.type != ORT_TYPE_INT64 && sizes.type != ORT_TYPE_INT32 &&
       sizes.type != ORT_TYPE_FLOAT) ||
      sizes.n_dims != 2 || sizes.dims[1] != 2) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The second input of the model, %s, is not the size of the picture: it must be "
                 "batch x 2, of int64, int32 or float32.",
                 self->inputs[1]);
    return FALSE;
  }
  *n = sizes.dims[0];
  self->sizes_type = sizes.type;
  self->hints.takes_sizes = TRUE;

  return TRUE;
}

static gboolean
read_input (GstCclNetwork *self, const GstCclNetworkConfig *config, GError **error)
{
  GstCclNetworkInfo *info = &self->info;
  GstCclTensor input;
  gint64 n_sizes;

  if (!get_input_shape (self, 0, &input, error) || !read_sizes (self, &n_sizes, error))
    return FALSE;

  self->input_type = input.type;
  self->channels_last = input.n_dims == 4 && input.dims[3] == CHANNELS && input.dims[1] != CHANNELS;
  if ((input.type != ORT_TYPE_FLOAT && input.type != ORT_TYPE_FLOAT16 &&
       input.type != ORT_TYPE_UINT8) ||
      input.n_dims != 4 || (input.dims[1] != CHANNELS && !self->channels_last)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The input of the model is not a picture: it must be batch x 3 x height x width, "
                 "or batch x height x width x 3, of float32, float16 or uint8.");
    return FALSE;
  }
  info->height = choose_size (input.dims[self->channels_last ? 1 : 2], config->height);
  info->width = choose_size (input.dims[self->channels_last ? 2 : 3], config->width);
  if (info->width > MAX_SIZE || info->height > MAX_SIZE) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The input of the model has %ux%u pixels; at most %ux%u are supported.",
                 info->width, info->height, MAX_SIZE, MAX_SIZE);
    return FALSE;
  }
  if (input.dims[0] > 0 && n_sizes > 0 && input.dims[0] != n_sizes) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The model takes %" G_GINT64_FORMAT
                 " pictures at once, but the sizes of %" G_GINT64_FORMAT ".",
                 input.dims[0], n_sizes);
    return FALSE;
  }
  if (n_sizes > 0)
    input.dims[0] = n_sizes;
  self->fixed_batch = input.dims[0] > 0;
  info->batch = self->fixed_batch ? (guint) MIN (input.dims[0], G_MAXINT) : MAX_BATCH;
  self->picture_size = (gsize) CHANNELS * info->width * info->height;
  if (info->batch > 64) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The model takes %u pictures at once; at most 64 are supported.", info->batch);
    return FALSE;
  }
  if (info->batch * self->picture_size > MAX_BYTES / sizeof (gfloat)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The model takes %u pictures of %ux%u pixels at once, more than 1 GiB; export it "
                 "with a smaller batch.",
                 info->batch, info->width, info->height);
    return FALSE;
  }

  return TRUE;
}

static gboolean
read_names (GstCclNetwork *self, GError **error)
{
  const GstCclOrt *ort = self->ort;
  size_t n_inputs = 0, n_outputs = 0;
  guint i;

  if (!gst_ccl_ort_check (ort, ort->SessionGetInputCount (self->session, &n_inputs),
                          "to read the model", error) ||
      !gst_ccl_ort_check (ort, ort->SessionGetOutputCount (self->session, &n_outputs),
                          "to read the model", error))
    return FALSE;
  if (n_inputs < 1 || n_inputs > G_N_ELEMENTS (self->inputs) || n_outputs == 0 ||
      n_outputs > GST_CCL_MAX_OUTPUTS) {
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The model has %u inputs and %u outputs; a detector has one input, or a second one "
        "with the size of the picture, and at most %d outputs.",
        (guint) n_inputs, (guint) n_outputs, GST_CCL_MAX_OUTPUTS);
    return FALSE;
  }
  for (i = 0; i < n_inputs; i++) {
    self->inputs[i] = get_name (self, ort->SessionGetInputName, i, error);
    if (!self->inputs[i])
      return FALSE;
    self->n_inputs = i + 1;
  }
  for (i = 0; i < n_outputs; i++) {
    self->outputs[i] = get_name (self, ort->SessionGetOutputName, i, error);
    if (!self->outputs[i])
      return FALSE;
    self->n_outputs = i + 1;
  }

  return TRUE;
}

/* Reads an entry of the model's metadata, NULL if there is none. */
static gboolean
get_entry (GstCclNetwork *self, const OrtModelMetadata *metadata, const gchar *key, gchar **value,
           GError **error)
{
  const GstCclOrt *ort = self->ort;
  char *text = NULL;

  if (!gst_ccl_ort_check (
          ort, ort->ModelMetadataLookupCustomMetadataMap (metadata, ort->allocator, key, &text),
          "to read the model", error))
    return FALSE;

  *value = g_strdup (text);
  if (text)
    gst_ccl_ort_check (ort, ort->AllocatorFree (ort->allocator, text), "to free a name", NULL);

  return TRUE;
}

/* Reads what models that Ultralytics exports say about themselves: the names of the classes, and
 * whether boxes are final. */
static gboolean
read_metadata (GstCclNetwork *self, GError **error)
{
  const GstCclOrt *ort = self->ort;
  OrtModelMetadata *metadata = NULL;
  gchar *end_to_end = NULL, **names;
  gboolean read;

  read = gst_ccl_ort_check (ort, ort->SessionGetModelMetadata (self->session, &metadata),
                            "to read the model", error) &&
         get_entry (self, metadata, "names", &self->names, error) &&
         get_entry (self, metadata, "end2end", &end_to_end, error);
  names = self->names ? gst_ccl_labels_parse_dictionary (self->names, 0) : NULL;
  if (names)
    self->hints.n_names = g_strv_length (names);
  g_strfreev (names);
  self->info.names = self->names;
  self->hints.end_to_end = g_strcmp0 (end_to_end, "True") == 0;
  g_free (end_to_end);
  if (metadata)
    ort->ReleaseModelMetadata (metadata);

  return read;
}

/* Reads the file beside the model. */
static gboolean
read_modelinfo (GstCclNetwork *self, const GstCclNetworkConfig *config, GError **error)
{
  if (!gst_ccl_modelinfo_load (&self->modelinfo, config->model, self->inputs[0], error))
    return FALSE;
  self->hints.output = self->modelinfo.output;

  return TRUE;
}

/* How a channel of the input comes from that of the picture: input = (pixel - mean) * scale. */
typedef struct
{
  gdouble mean, scale;
} Norm;

/* The file beside the model knows more than the kind of network. YOLOX takes pixels as they are;
 * others take them scaled to 0...1, or as those of ImageNet. */
static Norm
get_norm (const GstCclNetwork *self, guint channel)
{
  static const gdouble mean[] = { 0.485, 0.456, 0.406 }, deviation[] = { 0.229, 0.224, 0.225 };
  const GstCclModelinfo *modelinfo = &self->modelinfo;
  const gboolean bgr = self->color_order == GST_CCL_COLOR_ORDER_BGR;
  const guint i = modelinfo->n_ranges == 1 ? 0 : bgr ? CHANNELS - 1 - channel : channel;
  gdouble scale;

  if (modelinfo->n_ranges > 0) {
    scale = (modelinfo->high[i] - modelinfo->low[i]) / 255;
    return (Norm){ -modelinfo->low[i] / scale, scale };
  }
  if (self->info.format.imagenet)
    return (Norm){ 255 * mean[channel], 1 / (255 * deviation[channel]) };

  return (Norm){ 0.0, self->info.format.output == GST_CCL_OUTPUT_YOLOX ? 1.0 : 1.0 / 255 };
}

/* YOLOX takes blue first, others take red first. A scale that is set comes with a mean. */
static void
make_table (GstCclNetwork *self, const GstCclNetworkConfig *config)
{
  const gboolean yolox = self->info.format.output == GST_CCL_OUTPUT_YOLOX;
  guint c, i;

  self->color_order = config->color_order;
  if (self->color_order == GST_CCL_COLOR_ORDER_AUTO)
    self->color_order = yolox ? GST_CCL_COLOR_ORDER_BGR : GST_CCL_COLOR_ORDER_RGB;
  for (c = 0; c < CHANNELS; c++) {
    Norm norm = get_norm (self, c);

    if (config->has_mean || config->scale[c] > 0)
      norm.mean = config->mean[c];
    if (config->scale[c] > 0)
      norm.scale = config->scale[c];
    for (i = 0; i < 256; i++)
      self->table[c][i] = (gfloat) ((i - norm.mean) * norm.scale);
    for (i = 0; i < 256; i++)
      self->halves[c][i] = gst_ccl_half_from_float (self->table[c][i]);
  }
}

/* Writes a picture into place @index of the tensor. */
static void
write_picture (GstCclNetwork *self, guint index, const guint8 *picture)
{
  const gsize size = self->picture_size / CHANNELS, step = self->channels_last ? CHANNELS : 1;
  const gboolean bgr = self->color_order == GST_CCL_COLOR_ORDER_BGR;
  gsize i;
  guint c;

  for (c = 0; c < CHANNELS; c++) {
    const guint from = bgr ? CHANNELS - 1 - c : c;
    const guint8 *samples = picture + from * size;
    const gsize start = index * self->picture_size + (self->channels_last ? c : c * size);

    if (self->input_type == ORT_TYPE_UINT8) {
      guint8 *to = (guint8 *) self->tensor + start;

      for (i = 0; i < size; i++)
        to[i * step] = samples[i];
    } else if (self->input_type == ORT_TYPE_FLOAT16) {
      guint16 *to = (guint16 *) self->tensor + start;

      for (i = 0; i < size; i++)
        to[i * step] = self->halves[from][samples[i]];
    } else {
      gfloat *to = (gfloat *) self->tensor + start;

      for (i = 0; i < size; i++)
        to[i * step] = self->table[from][samples[i]];
    }
  }
}

/* Widens an output of 16-bit floats. */
static void
widen (GstCclNetwork *self, guint index, GstCclTensor *tensor)
{
  GArray **floats = &self->widened[index];
  const guint16 *halves = tensor->data;
  gsize n = 1, i;

  for (i = 0; i < tensor->n_dims; i++) {
    n *= (gsize) CLAMP (tensor->dims[i], 0, G_MAXINT);
    if (n > MAX_BYTES / sizeof (gfloat))
      return; /* leave it as it is, and it is refused */
  }
  if (!*floats)
    *floats = g_array_new (FALSE, FALSE, sizeof (gfloat));
  g_array_set_size (*floats, (guint) n);
  for (i = 0; i < n; i++)
    g_array_index (*floats, gfloat, i) = gst_ccl_half_to_float (halves[i]);
  tensor->type = ORT_TYPE_FLOAT;
  tensor->data = (*floats)->data;
}

/* Describes the network's outputs. */
static gboolean
read_output (GstCclNetwork *self, guint i, OrtValue *value, GstCclTensor *tensor, GError **error)
{
  const GstCclOrt *ort = self->ort;
  OrtTensorInfo *info = NULL;
  int is_tensor = 0;
  void *data = NULL;
  gboolean got;

  if (!gst_ccl_ort_check (ort, ort->IsTensor (value, &is_tensor), "to read an output", error))
    return FALSE;
  if (!is_tensor) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Output %s of the model is not a tensor.", self->outputs[i]);
    return FALSE;
  }
  got =
      gst_ccl_ort_check (ort, ort->GetTensorTypeAndShape (value, &info), "to read an output",
                         error) &&
      get_shape (ort, info, tensor, error) &&
      gst_ccl_ort_check (ort, ort->GetTensorMutableData (value, &data), "to read an output", error);
  if (info)
    ort->ReleaseTensorInfo (info);
  tensor->name = self->outputs[i];
  tensor->data = data;
  if (got && tensor->type == ORT_TYPE_FLOAT16)
    widen (self, i, tensor);

  return got;
}

/* Makes an input of @n pictures from data that stays where it is. */
static gboolean
make_input (GstCclNetwork *self, gpointer data, gsize size, const int64_t *shape, gsize n_dims,
            gint type, OrtValue **value, GError **error)
{
  const GstCclOrt *ort = self->ort;

  return gst_ccl_ort_check (
      ort,
      ort->CreateTensorWithDataAsOrtValue (ort->memory, data, size, shape, n_dims, type, value),
      "to take a picture", error);
}

/* Runs the network on the first @n pictures of the tensor. On success, @values must be released. */
static gboolean
run (GstCclNetwork *self, guint n, OrtValue *values[GST_CCL_MAX_OUTPUTS],
     GstCclTensor tensors[GST_CCL_MAX_OUTPUTS], GError **error)
{
  const GstCclOrt *ort = self->ort;
  const GstCclNetworkInfo *info = &self->info;
  const gsize sample = self->input_type == ORT_TYPE_UINT8     ? 1
                       : self->input_type == ORT_TYPE_FLOAT16 ? sizeof (guint16)
                                                              : sizeof (gfloat);
  const gsize number = self->sizes_type == ORT_TYPE_INT64 ? sizeof (gint64) : sizeof (gint32);
  const int64_t planar[] = { n, CHANNELS, info->height, info->width };
  const int64_t pixels[] = { n, info->height, info->width, CHANNELS };
  const int64_t pair[] = { n, 2 };
  OrtValue *inputs[2] = { NULL, NULL };
  gboolean done;
  guint i;

  memset (values, 0, GST_CCL_MAX_OUTPUTS * sizeof (*values));
  done =
      make_input (self, self->tensor, n * self->picture_size * sample,
                  self->channels_last ? pixels : planar, 4, self->input_type, &inputs[0], error) &&
      (!self->sizes || make_input (self, self->sizes, n * 2 * number, pair, 2, self->sizes_type,
                                   &inputs[1], error)) &&
      gst_ccl_ort_check (ort,
                         ort->Run (self->session, NULL, (const char *const *) self->inputs,
                                   (const OrtValue *const *) inputs, self->n_inputs,
                                   (const char *const *) self->outputs, self->n_outputs, values),
                         "to run the model", error);
  for (i = 0; done && i < self->n_outputs; i++)
    done = read_output (self, i, values[i], &tensors[i], error);
  for (i = 0; i < G_N_ELEMENTS (inputs); i++) {
    if (inputs[i])
      ort->ReleaseValue (inputs[i]);
  }

  return done;
}

static void
release (GstCclNetwork *self, OrtValue *values[GST_CCL_MAX_OUTPUTS])
{
  guint i;

  for (i = 0; i < self->n_outputs; i++) {
    if (values[i])
      self->ort->ReleaseValue (values[i]);
  }
}

/* Runs a batch once for the shapes of the outputs, which models may leave open. */
static gboolean
try_run (GstCclNetwork *self, const GstCclNetworkConfig *config, GError **error)
{
  OrtValue *values[GST_CCL_MAX_OUTPUTS];
  GstCclTensor tensors[GST_CCL_MAX_OUTPUTS];
  GstCclNetworkInfo *info = &self->info;
  gboolean done;

  done = run (self, self->fixed_batch ? info->batch : 1, values, tensors, error) &&
         gst_ccl_outputs_recognise (tensors, self->n_outputs, info->width, info->height,
                                    config->output, &self->hints, &info->format, error);
  release (self, values);

  return done;
}

/* Runs @count requests as one batch, and sets their results. Returns TRUE if all succeeded. */
static gboolean
look_at (GstCclNetwork *self, GstCclRequest **requests, guint count)
{
  const guint n = self->fixed_batch ? self->info.batch : count;
  OrtValue *values[GST_CCL_MAX_OUTPUTS];
  GstCclTensor tensors[GST_CCL_MAX_OUTPUTS];
  GstClockTime start = gst_util_get_timestamp ();
  GError *error = NULL;
  gboolean done;
  guint i;

  for (i = 0; i < count; i++)
    write_picture (self, i, requests[i]->picture);
  done = run (self, n, values, tensors, &error);

  for (i = 0; i < count; i++) {
    GstCclRequest *request = requests[i];

    if (error) {
      request->error = g_error_copy (error);
    } else {
      done &= gst_ccl_outputs_read (tensors, self->n_outputs, &self->info.format, self->info.width,
                                    self->info.height, i, n, request->threshold, request->iou,
                                    request->classes, request->boxes, &request->error);
      gst_ccl_masks_read (tensors, self->n_outputs, &self->info.format, self->info.width,
                          self->info.height, i, request->boxes, request->outlines);
    }
    request->time = gst_util_get_timestamp () - start;
    request->batch = count;
  }
  g_clear_error (&error);
  release (self, values);

  return done;
}

/* Runs any number of requests. If a model with an open batch fails on several pictures, it gets
 * one at a time from then on. */
static void
look (GstCclNetwork *self, GPtrArray *taken)
{
  GstCclRequest **requests = (GstCclRequest **) taken->pdata;
  guint i;

  if (look_at (self, requests, taken->len) || taken->len == 1 || self->fixed_batch)
    return;

  for (i = 0; i < taken->len; i++) {
    g_clear_error (&requests[i]->error);
    g_array_set_size (requests[i]->boxes, 0);
    g_ptr_array_set_size (requests[i]->outlines, 0);
    look_at (self, &requests[i], 1);
  }
  self->together = 1;
}

static gpointer
work (gpointer data)
{
  GstCclNetwork *self = data;
  guint i;

  g_mutex_lock (&self->lock);
  while (!self->stopping) {
    if (g_queue_is_empty (&self->queue)) {
      g_cond_wait (&self->changed, &self->lock);
      continue;
    }
    while (self->taken->len < self->together && !g_queue_is_empty (&self->queue))
      g_ptr_array_add (self->taken, g_queue_pop_head (&self->queue));
    g_mutex_unlock (&self->lock);
    look (self, self->taken);
    g_mutex_lock (&self->lock);
    for (i = 0; i < self->taken->len; i++)
      ((GstCclRequest *) g_ptr_array_index (self->taken, i))->done = TRUE;
    g_ptr_array_set_size (self->taken, 0);
    g_cond_broadcast (&self->changed);
  }
  g_mutex_unlock (&self->lock);

  return NULL;
}

static void
free_network (GstCclNetwork *self)
{
  guint i;

  if (self->thread) {
    g_mutex_lock (&self->lock);
    self->stopping = TRUE;
    g_cond_broadcast (&self->changed);
    g_mutex_unlock (&self->lock);
    g_thread_join (self->thread);
  }
  g_ptr_array_unref (self->taken);
  if (self->session)
    self->ort->ReleaseSession (self->session);
  for (i = 0; i < self->n_outputs; i++) {
    g_free (self->outputs[i]);
    g_clear_pointer (&self->widened[i], g_array_unref);
  }
  for (i = 0; i < self->n_inputs; i++)
    g_free (self->inputs[i]);
  g_free (self->names);
  g_free (self->tensor);
  g_free (self->sizes);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->key);
  g_free (self);
}

/* Boxes come in pixels of the input if this is said to be the size of the picture. */
static void
make_sizes (GstCclNetwork *self)
{
  const guint size[] = { self->info.width, self->info.height };
  guint i;

  if (self->n_inputs < 2)
    return;
  self->sizes = g_new0 (gint64, 2 * self->info.batch);
  for (i = 0; i < 2 * self->info.batch; i++) {
    if (self->sizes_type == ORT_TYPE_INT64)
      ((gint64 *) self->sizes)[i] = size[i % 2];
    else if (self->sizes_type == ORT_TYPE_INT32)
      ((gint32 *) self->sizes)[i] = (gint32) size[i % 2];
    else
      ((gfloat *) self->sizes)[i] = (gfloat) size[i % 2];
  }
}

static GstCclNetwork *
load_network (const GstCclNetworkConfig *config, GError **error)
{
  const GstCclOrt *ort = gst_ccl_ort_load (config->library, error);
  GstCclNetwork *self;

  if (!ort)
    return NULL;

  self = g_new0 (GstCclNetwork, 1);
  self->ort = ort;
  self->ref_count = 1;
  self->info.version = ort->version;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->queue);
  self->taken = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_ccl_request_unref);
  if (open_session (self, config, error) && read_names (self, error) &&
      read_metadata (self, error) && read_modelinfo (self, config, error) &&
      read_input (self, config, error)) {
    self->tensor = g_try_malloc0_n (self->info.batch * self->picture_size, sizeof (gfloat));
    make_sizes (self);
    if (!self->tensor)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                   "Not enough memory for %u pictures of %ux%u pixels.", self->info.batch,
                   self->info.width, self->info.height);
  }
  if (!self->tensor || !try_run (self, config, error)) {
    free_network (self);
    return NULL;
  }
  make_table (self, config);
  self->together = self->info.batch;
  self->thread = g_thread_new ("ccldetect", work, self);

  return self;
}

/* Returns a new reference to the network with this key, or NULL. */
static GstCclNetwork *
find_network (const gchar *key)
{
  GstCclNetwork *self;

  g_mutex_lock (&networks_lock);
  if (!networks)
    networks = g_hash_table_new (g_str_hash, g_str_equal);
  self = g_hash_table_lookup (networks, key);
  if (self)
    self->ref_count++;
  g_mutex_unlock (&networks_lock);

  return self;
}

GstCclNetwork *
gst_ccl_network_get (const GstCclNetworkConfig *config, GError **error)
{
  gchar *key = make_key (config);
  GstCclNetwork *self = find_network (key);

  if (self) {
    g_free (key);
    return self;
  }

  /* Loading may take minutes. Users of other networks must not wait for it. */
  g_mutex_lock (&loading_lock);
  self = find_network (key);
  if (self) {
    g_free (key);
  } else {
    self = load_network (config, error);
    if (self) {
      self->key = key;
      g_mutex_lock (&networks_lock);
      g_hash_table_insert (networks, key, self);
      g_mutex_unlock (&networks_lock);
    } else {
      g_free (key);
    }
  }
  g_mutex_unlock (&loading_lock);

  return self;
}

void
gst_ccl_network_unref (GstCclNetwork *self)
{
  gboolean last;

  g_mutex_lock (&networks_lock);
  last = --self->ref_count == 0;
  if (last)
    g_hash_table_remove (networks, self->key);
  g_mutex_unlock (&networks_lock);

  if (last)
    free_network (self);
}

const GstCclNetworkInfo *
gst_ccl_network_get_info (const GstCclNetwork *self)
{
  return &self->info;
}

GstCclRequest *
gst_ccl_request_new (const GstCclNetwork *self)
{
  GstCclRequest *request = g_new0 (GstCclRequest, 1);

  request->picture = g_malloc (self->picture_size);
  request->boxes = g_array_new (FALSE, FALSE, sizeof (GstCclBox));
  request->outlines = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_ccl_outline_free);
  request->ref_count = 1;

  return request;
}

void
gst_ccl_request_unref (GstCclRequest *request)
{
  if (!g_atomic_int_dec_and_test (&request->ref_count))
    return;

  g_free (request->picture);
  g_array_unref (request->boxes);
  g_ptr_array_unref (request->outlines);
  g_clear_error (&request->error);
  g_free (request);
}

void
gst_ccl_network_submit (GstCclNetwork *self, GstCclRequest *request)
{
  g_atomic_int_inc (&request->ref_count);
  g_array_set_size (request->boxes, 0);
  g_ptr_array_set_size (request->outlines, 0);
  g_clear_error (&request->error);

  g_mutex_lock (&self->lock);
  request->done = FALSE;
  g_queue_push_tail (&self->queue, request);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

gboolean
gst_ccl_network_is_done (GstCclNetwork *self, GstCclRequest *request)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  done = request->done;
  g_mutex_unlock (&self->lock);

  return done;
}

void
gst_ccl_network_wait (GstCclNetwork *self, GstCclRequest *request)
{
  g_mutex_lock (&self->lock);
  while (!request->done)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_network_cancel (GstCclNetwork *self, GstCclRequest *request)
{
  gboolean queued;

  g_mutex_lock (&self->lock);
  queued = g_queue_remove (&self->queue, request);
  while (!queued && !request->done)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);

  if (queued)
    gst_ccl_request_unref (request);
  gst_ccl_request_unref (request);
}
