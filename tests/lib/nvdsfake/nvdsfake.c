/* cudaccl - a fake of DeepStream's library of metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/nvdsfake/nvdsfake.h"

#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))

/* Size of an object in any version of the library. Its bytes are not 0: the pool reuses objects. */
#define OBJECT_SIZE 4096
#define GARBAGE 0x5a

typedef struct
{
  NvDsBatchMeta batch;
  NvDsFrameMeta frame;
  GList *objects;
} Batch;

static gint locked;

EXPORT NvDsBatchMeta *gst_buffer_get_nvds_batch_meta (GstBuffer *buffer);
EXPORT void nvds_acquire_meta_lock (NvDsBatchMeta *batch);
EXPORT void nvds_release_meta_lock (NvDsBatchMeta *batch);
EXPORT NvDsObjectMeta *nvds_acquire_obj_meta_from_pool (NvDsBatchMeta *batch);
EXPORT void nvds_add_obj_meta_to_frame (NvDsFrameMeta *frame, NvDsObjectMeta *object,
                                        NvDsObjectMeta *parent);

static GQuark
get_quark (void)
{
  return g_quark_from_static_string ("nv-ds-fake");
}

static void
batch_free (gpointer data)
{
  Batch *batch = data;

  g_list_free_full (batch->objects, g_free);
  g_list_free (batch->batch.frame_meta_list);
  g_free (batch);
}

EXPORT void
nv_ds_fake_add_batch (GstBuffer *buffer, gboolean with_frame)
{
  Batch *batch = g_new0 (Batch, 1);

  batch->batch.base_meta.batch_meta = &batch->batch;
  batch->frame.base_meta.batch_meta = &batch->batch;
  if (with_frame)
    batch->batch.frame_meta_list = g_list_append (NULL, &batch->frame);
  gst_mini_object_set_qdata (GST_MINI_OBJECT (buffer), get_quark (), batch, batch_free);
}

EXPORT GList *
nv_ds_fake_get_objects (GstBuffer *buffer)
{
  return ((Batch *) gst_buffer_get_nvds_batch_meta (buffer))->objects;
}

EXPORT NvDsBatchMeta *
nv_ds_fake_get_batch (GstBuffer *buffer)
{
  return gst_buffer_get_nvds_batch_meta (buffer);
}

EXPORT NvDsObjectMeta *
nv_ds_fake_add_object (NvDsBatchMeta *batch)
{
  NvDsObjectMeta *object;

  nvds_acquire_meta_lock (batch);
  object = nvds_acquire_obj_meta_from_pool (batch);
  nvds_add_obj_meta_to_frame (batch->frame_meta_list->data, object, NULL);
  nvds_release_meta_lock (batch);

  return object;
}

EXPORT gint
nv_ds_fake_locked (void)
{
  return locked;
}

EXPORT NvDsBatchMeta *
gst_buffer_get_nvds_batch_meta (GstBuffer *buffer)
{
  return gst_mini_object_get_qdata (GST_MINI_OBJECT (buffer), get_quark ());
}

EXPORT void
nvds_acquire_meta_lock (NvDsBatchMeta *batch)
{
  locked++;
}

EXPORT void
nvds_release_meta_lock (NvDsBatchMeta *batch)
{
  locked--;
}

EXPORT NvDsObjectMeta *
nvds_acquire_obj_meta_from_pool (NvDsBatchMeta *batch)
{
  NvDsObjectMeta *object = g_malloc (OBJECT_SIZE);

  g_assert (locked > 0);
  memset (object, GARBAGE, OBJECT_SIZE);
  memset (&object->text_params, 0, sizeof (object->text_params));

  return object;
}

EXPORT void
nvds_add_obj_meta_to_frame (NvDsFrameMeta *frame, NvDsObjectMeta *object, NvDsObjectMeta *parent)
{
  Batch *batch = (Batch *) frame->base_meta.batch_meta;

  g_assert (locked > 0);
  object->parent = parent;
  batch->objects = g_list_append (batch->objects, object);
  frame->obj_meta_list = batch->objects;
}
