/* cudaccl - components as objects of DeepStream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclnvds.h"

#include <dlfcn.h>

#include "gstcclnvdsmeta.h"

#define BORDER_WIDTH 2

/* DeepStream's functions, which are looked up at run time. */
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
find_function (const gchar *library, const gchar *name)
{
  gpointer function = dlsym (RTLD_DEFAULT, name), handle;
  gchar *path;

  if (function)
    return function;

  handle = dlopen (library, RTLD_NOW);
  if (!handle) {
    path = g_build_filename ("/opt/nvidia/deepstream/deepstream/lib", library, NULL);
    handle = dlopen (path, RTLD_NOW);
    g_free (path);
  }

  return handle ? dlsym (handle, name) : NULL;
}

/* Returns NULL without DeepStream. */
static const Functions *
get_functions (void)
{
  static const gchar gst_library[] = "libnvdsgst_meta.so", library[] = "libnvds_meta.so";
  static Functions functions;
  static gsize state;

  if (g_once_init_enter (&state)) {
    *(gpointer *) &functions.get_batch =
        find_function (gst_library, "gst_buffer_get_nvds_batch_meta");
    *(gpointer *) &functions.lock = find_function (library, "nvds_acquire_meta_lock");
    *(gpointer *) &functions.unlock = find_function (library, "nvds_release_meta_lock");
    *(gpointer *) &functions.acquire_object =
        find_function (library, "nvds_acquire_obj_meta_from_pool");
    *(gpointer *) &functions.add_object = find_function (library, "nvds_add_obj_meta_to_frame");
    g_once_init_leave (&state, functions.get_batch && functions.lock && functions.unlock &&
                                       functions.acquire_object && functions.add_object
                                   ? 1
                                   : 2);
  }

  return state == 1 ? &functions : NULL;
}

static void
fill_object (NvDsObjectMeta *object, const gchar *label, const CclComponent *component)
{
  const NvOSD_ColorParams white = { 1.0, 1.0, 1.0, 1.0 };
  NvOSD_RectParams *rect = &object->rect_params;
  NvBbox_Coords *box = &object->detector_bbox_info.org_bbox_coords;

  object->class_id = 0;
  object->object_id = UNTRACKED_OBJECT_ID;
  object->confidence = 1.0f;
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
gst_ccl_attach_nvds (GstBuffer *buffer, const gchar *label, const CclComponents *components,
                     GError **error)
{
  const Functions *functions = get_functions ();
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
  for (i = 0; i < components->count; i++) {
    NvDsObjectMeta *object = functions->acquire_object (batch);

    fill_object (object, label, &components->items[i]);
    functions->add_object (batch->frame_meta_list->data, object, NULL);
  }
  functions->unlock (batch);

  return TRUE;
}
