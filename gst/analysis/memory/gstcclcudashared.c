/* cudaccl - the CUDA contexts that all elements of a process share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device runs the work of one context at a time, so many contexts cost throughput. The shared
 * context is the device's primary one, which analyzers of frames in system memory and in NVMM, and
 * other users of the CUDA runtime, use as well. The engine retains it until the process ends, since
 * the runtime does not survive its destruction. Only GstCuda's object is shared and released here.
 */

#include "gstcclcudashared.h"

#include <cudaccl/ccl.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

static GMutex lock;
static GHashTable *contexts; /* a GWeakRef for each device; protected by @lock */

static GstCudaContext *
new_context (gint device)
{
  gpointer handle;

  if (ccl_cuda_primary_context (device, &handle) != CCL_OK) {
    GST_WARNING ("no context on CUDA device %d: %s", device, ccl_last_error ());
    return NULL;
  }

  return gst_cuda_context_new_wrapped (handle, device);
}

GstCudaContext *
gst_ccl_shared_cuda_context (gint device)
{
  GstCudaContext *context;
  GWeakRef *ref;

  g_mutex_lock (&lock);
  if (!contexts)
    contexts = g_hash_table_new (NULL, NULL);
  ref = g_hash_table_lookup (contexts, GINT_TO_POINTER (device));
  if (!ref) {
    ref = g_new0 (GWeakRef, 1);
    g_weak_ref_init (ref, NULL);
    g_hash_table_insert (contexts, GINT_TO_POINTER (device), ref);
  }
  context = g_weak_ref_get (ref);
  if (!context) {
    context = new_context (device);
    g_weak_ref_set (ref, context);
  }
  g_mutex_unlock (&lock);

  return context;
}
