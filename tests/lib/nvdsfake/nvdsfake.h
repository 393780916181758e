/* cudaccl - a fake of DeepStream's library of metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __NV_DS_FAKE_H__
#define __NV_DS_FAKE_H__

#include "gst/found/gstcclnvdsmeta.h"

/* Attaches a batch of one frame to the writable @buffer, or one without frames. */
void nv_ds_fake_add_batch (GstBuffer *buffer, gboolean with_frame);

NvDsBatchMeta *nv_ds_fake_get_batch (GstBuffer *buffer);

/* Adds an object to the frame of @batch, as a detector does. */
NvDsObjectMeta *nv_ds_fake_add_object (NvDsBatchMeta *batch);

/* The objects of @buffer's frame, in order. */
GList *nv_ds_fake_get_objects (GstBuffer *buffer);

/* The number of locks held on batches. */
gint nv_ds_fake_locked (void);

#endif /* __NV_DS_FAKE_H__ */
