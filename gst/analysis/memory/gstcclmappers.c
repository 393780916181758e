/* cudaccl - the mappers of all memory types this build supports
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmappers.h"

#include "gstcclsystem.h"
#ifdef HAVE_GSTCUDA
#include "gstcclcuda.h"
#endif
#ifdef HAVE_NVMM
#include "gstcclnvmm.h"
#endif

static const GstCclMapperClass *const classes[] = {
  &gst_ccl_system_mapper,
#ifdef HAVE_GSTCUDA
  &gst_ccl_cuda_mapper,
#endif
#ifdef HAVE_NVMM
  &gst_ccl_nvmm_mapper,
#endif
};

GstCclMapper **
gst_ccl_mappers_new (GstElement *element)
{
  GstCclMapper **mappers = g_new0 (GstCclMapper *, G_N_ELEMENTS (classes) + 1);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (classes); i++) {
    mappers[i] = g_malloc0 (MAX (classes[i]->size, sizeof (GstCclMapper)));
    mappers[i]->klass = classes[i];
    mappers[i]->element = element;
    if (classes[i]->init)
      classes[i]->init (mappers[i]);
  }

  return mappers;
}

void
gst_ccl_mappers_close (GstCclMapper **mappers)
{
  guint i;

  for (i = 0; mappers[i]; i++) {
    if (mappers[i]->klass->close)
      mappers[i]->klass->close (mappers[i]);
  }
}

void
gst_ccl_mappers_free (GstCclMapper **mappers)
{
  guint i;

  for (i = 0; mappers[i]; i++) {
    if (mappers[i]->klass->finalize)
      mappers[i]->klass->finalize (mappers[i]);
    g_free (mappers[i]);
  }
  g_free (mappers);
}

GstCclMapper *
gst_ccl_mappers_find (GstCclMapper **mappers, const GstCaps *caps)
{
  GstCapsFeatures *features = gst_caps_get_features (caps, 0);
  guint i;

  for (i = 0; mappers[i]; i++) {
    if (gst_caps_features_contains (features, mappers[i]->klass->feature))
      return mappers[i];
  }

  return NULL;
}

void
gst_ccl_mappers_set_context (GstCclMapper **mappers, GstContext *context, gint cuda_device)
{
  guint i;

  for (i = 0; mappers[i]; i++) {
    if (mappers[i]->klass->set_context)
      mappers[i]->klass->set_context (mappers[i], context, cuda_device);
  }
}

gboolean
gst_ccl_mappers_query_context (GstCclMapper **mappers, GstQuery *query, gint cuda_device,
                               gboolean may_share)
{
  guint i;

  for (i = 0; mappers[i]; i++) {
    if (mappers[i]->klass->query_context &&
        mappers[i]->klass->query_context (mappers[i], query, cuda_device, may_share))
      return TRUE;
  }

  return FALSE;
}

GstCaps *
gst_ccl_mappers_get_caps (void)
{
  GstCaps *all = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (classes); i++) {
    gchar *formats = g_strdup_printf (GST_VIDEO_CAPS_MAKE ("%s"), classes[i]->formats);
    GstCaps *caps = gst_caps_from_string (formats);

    gst_caps_set_features_simple (caps, gst_caps_features_new (classes[i]->feature, NULL));
    gst_caps_append (all, caps);
    g_free (formats);
  }

  return all;
}

static gboolean
cpu_can_read (GstCapsFeatures *features, GstStructure *structure, gpointer user_data)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (classes); i++) {
    if (classes[i]->needs_cuda && gst_caps_features_contains (features, classes[i]->feature))
      return FALSE;
  }

  return TRUE;
}

GstCaps *
gst_ccl_mappers_remove_cuda (GstCaps *caps)
{
  caps = gst_caps_make_writable (caps);
  gst_caps_filter_and_map_in_place (caps, cpu_can_read, NULL);

  return caps;
}
