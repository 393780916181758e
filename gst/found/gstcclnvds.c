/* cudaccl - objects of DeepStream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclnvds.h"

#include <dlfcn.h>
#include <math.h>

#include "gstccldetections.h"
#include "gstcclnvdsmeta.h"

#define BORDER_WIDTH 2

/* DeepStream's functions, found at run time. */
typedef struct
{
  NvDsBatchMeta *(*get_batch) (GstBuffer *buffer);
  void (*lock) (NvDsBatchMeta *batch);
  void (*unlock) (NvDsBatchMeta *batch);
  NvDsObjectMeta *(*acquire_object) (NvDsBatchMeta *batch);
  void (*add_object) (NvDsFrameMeta *frame, NvDsObjectMeta *object, NvDsObjectMeta *parent);
} Functions;

/* A program that has such metadata has loaded the library already; its folder is usually not where
 * the linker looks. */
static gpointer
find_function (const gchar *library, const gchar *name, int flags)
{
  gpointer function = dlsym (RTLD_DEFAULT, name), handle;
  gchar *path;

  if (function)
    return function;

  handle = dlopen (library, flags);
  if (!handle) {
    path = g_build_filename ("/opt/nvidia/deepstream/deepstream/lib", library, NULL);
    handle = dlopen (path, flags);
    g_free (path);
  }

  return handle ? dlsym (handle, name) : NULL;
}

/* Returns NULL without DeepStream. With @load, loads its library; otherwise uses only one that the
 * program has loaded, which it may still do later. */
static const Functions *
get_functions (gboolean load)
{
  static const gchar gst_library[] = "libnvdsgst_meta.so", library[] = "libnvds_meta.so";
  static GMutex mutex;
  static Functions functions;
  static gboolean found, tried;
  const int flags = RTLD_NOW | (load ? 0 : RTLD_NOLOAD);
  gboolean result;

  g_mutex_lock (&mutex);
  if (!found && !(load && tried)) {
    *(gpointer *) &functions.get_batch =
        find_function (gst_library, "gst_buffer_get_nvds_batch_meta", flags);
    if (functions.get_batch) {
      *(gpointer *) &functions.lock = find_function (library, "nvds_acquire_meta_lock", flags);
      *(gpointer *) &functions.unlock = find_function (library, "nvds_release_meta_lock", flags);
      *(gpointer *) &functions.acquire_object =
          find_function (library, "nvds_acquire_obj_meta_from_pool", flags);
      *(gpointer *) &functions.add_object =
          find_function (library, "nvds_add_obj_meta_to_frame", flags);
      found =
          functions.lock && functions.unlock && functions.acquire_object && functions.add_object;
    }
    tried |= load;
  }
  result = found;
  g_mutex_unlock (&mutex);

  return result ? &functions : NULL;
}

static void
fill_object (NvDsObjectMeta *object, const gchar *label, const GstCclComponent *component)
{
  const NvOSD_ColorParams white = { 1.0, 1.0, 1.0, 1.0 };
  NvOSD_RectParams *rect = &object->rect_params;
  NvBbox_Coords *box = &object->detector_bbox_info.org_bbox_coords;

  object->class_id = component->class_id > 0 ? (gint) component->class_id - 1 : 0;
  object->object_id = component->track ? component->track : UNTRACKED_OBJECT_ID;
  object->confidence = component->confidence > 0.0 ? (gfloat) component->confidence : 1.0f;
  g_strlcpy ((gchar *) object->obj_label, label, MAX_LABEL_SIZE);

  box->left = rect->left = (gfloat) component->x;
  box->top = rect->top = (gfloat) component->y;
  box->width = rect->width = (gfloat) component->width;
  box->height = rect->height = (gfloat) component->height;
  rect->border_width = BORDER_WIDTH;
  rect->border_color = white;
  rect->has_bg_color = 0;
}

gboolean
gst_ccl_nvds_attach (GstBuffer *buffer, const gchar *label, const GstCclComponent *components,
                     guint n, GstCclClassNames *names, GError **error)
{
  const Functions *functions = get_functions (TRUE);
  NvDsBatchMeta *batch;
  guint i;

  if (!functions) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
                 "attach=nvds needs NVIDIA DeepStream (libnvds_meta.so, libnvdsgst_meta.so).");
    return FALSE;
  }

  batch = functions->get_batch (buffer);
  if (!batch || !batch->frame_meta_list) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame has no NvDsBatchMeta for attach=nvds. Put nvstreammux before this "
                 "element.");
    return FALSE;
  }

  /* The lock is recursive. */
  functions->lock (batch);
  for (i = 0; i < n; i++) {
    NvDsObjectMeta *object = functions->acquire_object (batch);
    const gchar *name = names ? gst_ccl_class_names_get_name (names, components[i].class_id) : NULL;

    fill_object (object, name ? name : label, &components[i]);
    functions->add_object (batch->frame_meta_list->data, object, NULL);
  }
  functions->unlock (batch);

  return TRUE;
}

static guint
find_class (const NvDsObjectMeta *object, GstCclClasses *classes)
{
  gchar name[MAX_LABEL_SIZE];

  g_snprintf (name, sizeof (name), "%.*s", MAX_LABEL_SIZE - 1, (const gchar *) object->obj_label);
  if (!*name && object->class_id >= 0)
    g_snprintf (name, sizeof (name), "%d", object->class_id);

  return gst_ccl_classes_find (classes, name);
}

/* Limits one side of a box to the frame, rounding outwards. Returns FALSE if nothing is left. */
static gboolean
clip (gfloat start, gfloat length, guint size, guint *first, guint *n)
{
  gdouble end = MIN (ceil ((gdouble) start + length), size);

  start = MAX (floorf (start), 0.0f);
  if (!(start < end))
    return FALSE;
  *first = (guint) start;
  *n = (guint) end - *first;

  return *n > 0;
}

void
gst_ccl_nvds_read (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                   GArray *components, GPtrArray *objects)
{
  const Functions *functions = get_functions (FALSE);
  NvDsBatchMeta *batch = functions ? functions->get_batch (buffer) : NULL;
  GList *l;

  if (!batch)
    return;

  functions->lock (batch);
  l = batch->frame_meta_list ? ((NvDsFrameMeta *) batch->frame_meta_list->data)->obj_meta_list
                             : NULL;
  for (; l; l = l->next) {
    NvDsObjectMeta *object = l->data;
    const NvOSD_RectParams *rect = &object->rect_params;
    GstCclComponent component = { 0 };

    if (!clip (rect->left, rect->width, width, &component.x, &component.width) ||
        !clip (rect->top, rect->height, height, &component.y, &component.height))
      continue;
    component.class_id = find_class (object, classes);
    component.confidence = object->confidence;
    if (object->object_id != UNTRACKED_OBJECT_ID)
      component.track = gst_ccl_detections_get_track (object->object_id);
    g_array_append_val (components, component);
    g_ptr_array_add (objects, object);
  }
  functions->unlock (batch);
}

void
gst_ccl_nvds_set_track (gpointer object, guint track)
{
  ((NvDsObjectMeta *) object)->object_id = track;
}
