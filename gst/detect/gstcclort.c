/* cudaccl - ONNX Runtime, found at run time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclort.h"

#include <dlfcn.h>

#define VARIABLE "CUDACCL_ONNXRUNTIME"
#define LAST_MINOR 99 /* of version 1 */

static GMutex lock;
static GHashTable *libraries; /* path or "" → GstCclOrt; protected by @lock */

gboolean
gst_ccl_ort_check (const GstCclOrt *self, OrtStatus *status, const gchar *what, GError **error)
{
  gchar *message;

  if (!status)
    return TRUE;

  message = g_utf8_make_valid (self->GetErrorMessage (status), -1);
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "ONNX Runtime failed %s: %s.",
               what, g_strchomp (message));
  g_free (message);
  self->ReleaseStatus (status);

  return FALSE;
}

/* Looks for the names that packages have, Debian's with the minor version: the newest first. The
 * loader searches its cache. @reason: why the first one was not loaded. */
static gpointer
find_library (gchar **reason)
{
  static const gchar *const names[] = { "libonnxruntime.so.1", "libonnxruntime.so" };
  gpointer handle = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names) && !handle; i++) {
    handle = dlopen (names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle && !*reason)
      *reason = g_strdup (dlerror ());
  }
  for (gint minor = LAST_MINOR; minor >= GST_CCL_ORT_API_VERSION && !handle; minor--) {
    gchar *name = g_strdup_printf ("libonnxruntime.so.1.%d", minor);

    handle = dlopen (name, RTLD_NOW | RTLD_LOCAL);
    g_free (name);
  }
  return handle;
}

/* Returns the handle of the library, or NULL. */
static gpointer
open_library (const gchar *path, GError **error)
{
  gchar *reason = NULL;
  gpointer handle;

  if (!path)
    path = g_getenv (VARIABLE);
  if (path && *path) {
    handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                   "Could not load ONNX Runtime: %s.", dlerror ());
    return handle;
  }

  handle = find_library (&reason);
  if (!handle)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "Could not find ONNX Runtime, which runs the network (%s). Install the package "
                 "libonnxruntime (Debian 13: libonnxruntime1.21), or the Python package "
                 "onnxruntime or onnxruntime-gpu, and set the property library or the environment "
                 "variable " VARIABLE " to its file onnxruntime/capi/libonnxruntime.so.*.",
                 reason);
  g_free (reason);

  return handle;
}

static gboolean
take_functions (GstCclOrt *self, gpointer handle, GError **error)
{
  const OrtApiBase *(*get_base) (void) = NULL;
  const gpointer *slots;
  const OrtApiBase *base;

  *(gpointer *) &get_base = dlsym (handle, "OrtGetApiBase");
  base = get_base ? get_base () : NULL;
  if (!base) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
                 "The library has no function OrtGetApiBase: it is not ONNX Runtime.");
    return FALSE;
  }

  self->version = base->GetVersionString ();
  slots = base->GetApi (GST_CCL_ORT_API_VERSION);
  if (!slots) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
                 "ONNX Runtime %s is too old; version 1.%d or later is needed.", self->version,
                 GST_CCL_ORT_API_VERSION);
    return FALSE;
  }
#define TAKE(slot, result, name, parameters) *(gpointer *) &self->name = slots[slot];
  GST_CCL_ORT_FUNCTIONS (TAKE)
#undef TAKE

  return gst_ccl_ort_check (self,
                            self->CreateEnv (ORT_LOGGING_LEVEL_ERROR, "ccldetect", &self->env),
                            "to start", error) &&
         gst_ccl_ort_check (self, self->GetAllocatorWithDefaultOptions (&self->allocator),
                            "to start", error) &&
         gst_ccl_ort_check (
             self,
             self->CreateCpuMemoryInfo (ORT_DEVICE_ALLOCATOR, ORT_MEM_TYPE_DEFAULT, &self->memory),
             "to start", error);
}

const GstCclOrt *
gst_ccl_ort_load (const gchar *path, GError **error)
{
  GstCclOrt *self;
  gpointer handle;

  g_mutex_lock (&lock);
  if (!libraries)
    libraries = g_hash_table_new (g_str_hash, g_str_equal);
  self = g_hash_table_lookup (libraries, path ? path : "");
  handle = self ? NULL : open_library (path, error);
  if (handle) {
    /* Not closed after an error, either: the library may have started threads. */
    self = g_new0 (GstCclOrt, 1);
    if (take_functions (self, handle, error))
      g_hash_table_insert (libraries, g_strdup (path ? path : ""), self);
    else
      g_clear_pointer (&self, g_free);
  }
  g_mutex_unlock (&lock);

  return self;
}
