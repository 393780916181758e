/* cudaccl - components as regions of interest on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclroi.h"

#include <gst/meta/gstcclfields.h>

#define FRAME_AGE "frame-age"

static gboolean
is_own (GstMeta *meta)
{
  return meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
         gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta,
                                                      GST_CCL_ROI_PARAM);
}

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  const GstVideoRegionOfInterestMeta *first = *(GstVideoRegionOfInterestMeta *const *) a;
  const GstVideoRegionOfInterestMeta *second = *(GstVideoRegionOfInterestMeta *const *) b;

  return (first->id > second->id) - (first->id < second->id);
}

/* Numbers the classes by name. */
typedef struct
{
  GPtrArray *names; /* const gchar *: by class, from 1 on */
  GHashTable *ids;
} Classes;

static guint
find_class (Classes *classes, const gchar *name)
{
  guint class_id;

  if (!name || !*name)
    return 0;
  if (!classes->names) {
    classes->names = g_ptr_array_new ();
    classes->ids = g_hash_table_new (g_str_hash, g_str_equal);
  }
  class_id = GPOINTER_TO_UINT (g_hash_table_lookup (classes->ids, name));
  if (class_id == 0) {
    g_ptr_array_add (classes->names, (gpointer) name);
    class_id = classes->names->len;
    g_hash_table_insert (classes->ids, (gpointer) name, GUINT_TO_POINTER (class_id));
  }

  return class_id;
}

static GstCclClassNames *
take_names (Classes *classes)
{
  GstCclClassNames *names;

  if (!classes->names)
    return NULL;

  g_ptr_array_add (classes->names, NULL);
  names = gst_ccl_class_names_new ((const gchar *const *) classes->names->pdata);
  g_ptr_array_unref (classes->names);
  g_hash_table_unref (classes->ids);

  return names;
}

/* Arguments of gst_structure_get(), and a call with one of them. */
#define PLACE(member, name, type) name, GST_CCL_FIELD_GTYPE (type), &component->member,
#define GET_FIELD(member, name, type) gst_structure_get (param, PLACE (member, name, type) NULL);

static void
read_component (GstVideoRegionOfInterestMeta *roi, GstCclComponent *component, Classes *classes)
{
  GstStructure *param = gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM);
  gboolean removed;
  guint64 static_age;

  component->x = roi->x;
  component->y = roi->y;
  component->width = roi->w;
  component->height = roi->h;
  GST_CCL_FIELDS_LABEL (GET_FIELD)
  GST_CCL_FIELDS_PIXELS (GET_FIELD)
  gst_structure_get (param, GST_CCL_FIELDS_TRACK (PLACE) NULL);
  component->class_id = find_class (classes, gst_structure_get_string (param, "class"));
  GST_CCL_FIELDS_CONFIDENCE (GET_FIELD)
  if (gst_structure_get (param, GST_CCL_STATIC_AGE, G_TYPE_UINT64, &static_age, GST_CCL_REMOVED,
                         G_TYPE_BOOLEAN, &removed, NULL)) {
    component->flags = GST_CCL_COMPONENT_STATIC | (removed ? GST_CCL_COMPONENT_REMOVED : 0);
    component->static_age = (guint) MIN (static_age / GST_MSECOND, G_MAXUINT);
  }
}

void
gst_ccl_rois_init (GstCclRois *rois, GstBuffer *buffer)
{
  GPtrArray *array = g_ptr_array_new ();
  Classes classes = { NULL, NULL };
  gpointer state = NULL;
  GstMeta *meta;
  guint i;

  while ((meta = gst_buffer_iterate_meta (buffer, &state))) {
    if (is_own (meta))
      g_ptr_array_add (array, meta);
  }
  g_ptr_array_sort (array, compare_ids);

  rois->n = array->len;
  rois->frame_age = 0;
  rois->owned = FALSE;
  rois->rois = (GstVideoRegionOfInterestMeta **) g_ptr_array_free (array, FALSE);
  rois->components = g_new0 (GstCclComponent, rois->n);
  for (i = 0; i < rois->n; i++)
    read_component (rois->rois[i], &rois->components[i], &classes);
  rois->class_names = take_names (&classes);
  if (rois->n > 0)
    gst_structure_get (
        gst_video_region_of_interest_meta_get_param (rois->rois[0], GST_CCL_ROI_PARAM), FRAME_AGE,
        G_TYPE_INT64, &rois->frame_age, NULL);
}

static gpointer
copy_param (gconstpointer param, gpointer data)
{
  return gst_structure_copy (param);
}

void
gst_ccl_rois_own (GstCclRois *rois)
{
  guint i;

  for (i = 0; i < rois->n; i++) {
    rois->rois[i] = g_memdup2 (rois->rois[i], sizeof (*rois->rois[i]));
    rois->rois[i]->params = g_list_copy_deep (rois->rois[i]->params, copy_param, NULL);
  }
  rois->owned = TRUE;
}

void
gst_ccl_rois_clear (GstCclRois *rois)
{
  guint i;

  for (i = 0; rois->owned && i < rois->n; i++) {
    g_list_free_full (rois->rois[i]->params, (GDestroyNotify) gst_structure_free);
    g_free (rois->rois[i]);
  }
  g_clear_pointer (&rois->rois, g_free);
  g_clear_pointer (&rois->components, g_free);
  g_clear_pointer (&rois->class_names, gst_ccl_class_names_unref);
  rois->n = 0;
}

/* Arguments of gst_structure_set(). */
#define FIELD(member, name, type) name, GST_CCL_FIELD_GTYPE (type), component->member,

/* Looks names up only once: the parameters are most of the cost of a region, and a frame can have
 * many. */
static GstStructure *
param_new (const GstCclComponent *component)
{
#define QUARK(member, name, type) GQuark member;
#define FIND_QUARK(member, name, type) quarks.member = g_quark_from_static_string (name);
#define FIELD_BY_QUARK(member, name, type) \
  quarks.member, GST_CCL_FIELD_GTYPE (type), component->member,
  static struct
  {
    GQuark param;
    GST_CCL_FIELDS_LABEL (QUARK)
    GST_CCL_FIELDS_PIXELS (QUARK)
  } quarks;
  static gsize once;

  if (g_once_init_enter (&once)) {
    quarks.param = g_quark_from_static_string (GST_CCL_ROI_PARAM);
    GST_CCL_FIELDS_LABEL (FIND_QUARK)
    GST_CCL_FIELDS_PIXELS (FIND_QUARK)
    g_once_init_leave (&once, 1);
  }

  return gst_structure_new_id (quarks.param, GST_CCL_FIELDS_LABEL (FIELD_BY_QUARK)
                                                 GST_CCL_FIELDS_PIXELS (FIELD_BY_QUARK) NULL);
}

/* Sets the optional fields. */
static void
set_object (GstStructure *param, const GstCclComponent *component, const gchar *class_name)
{
  if (GST_CCL_HAS_TRACK (component))
    gst_structure_set (param, GST_CCL_FIELDS_TRACK (FIELD) NULL);
  if (class_name)
    gst_structure_set (param, "class", G_TYPE_STRING, class_name, NULL);
  if (GST_CCL_HAS_CONFIDENCE (component))
    gst_structure_set (param, GST_CCL_FIELDS_CONFIDENCE (FIELD) NULL);
  if (GST_CCL_HAS_STATIC (component))
    gst_structure_set (param, GST_CCL_STATIC_AGE, G_TYPE_UINT64, GST_CCL_GET_STATIC_AGE (component),
                       GST_CCL_REMOVED, G_TYPE_BOOLEAN, GST_CCL_HAS_REMOVED (component), NULL);
}

static gint
compare_descending (gconstpointer a, gconstpointer b)
{
  const gint first = *(const gint *) a, second = *(const gint *) b;

  return (first < second) - (first > second);
}

gint
gst_ccl_rois_find_free_ids (GstBuffer *buffer, guint n, gboolean from_zero)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint));
  const gint below = -1;
  gint64 next = (gint64) G_MAXINT + 1;
  gpointer state = NULL;
  GstMeta *meta;
  guint i;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const gint id = ((GstVideoRegionOfInterestMeta *) meta)->id;

    from_zero &= id < 0 || (guint) id >= n;
    if (id >= 0)
      g_array_append_val (ids, id);
  }
  if (from_zero)
    return 0;

  g_array_append_val (ids, below);
  g_array_sort (ids, compare_descending);
  for (i = 0; i < ids->len; i++) {
    const gint id = g_array_index (ids, gint, i);

    if (next - id > n)
      return id + 1;
    next = id;
  }

  /* No gap is large enough: ids are not worth an error. */
  return 0;
}

GstVideoRegionOfInterestMeta *
gst_ccl_rois_add (GstBuffer *buffer, GQuark roi_type, gint id, const GstCclComponent *component,
                  const gchar *class_name)
{
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *param = param_new (component);

  roi = gst_buffer_add_video_region_of_interest_meta_id (
      buffer, roi_type, component->x, component->y, component->width, component->height);
  roi->id = id;

  set_object (param, component, class_name);
  gst_video_region_of_interest_meta_add_param (roi, param);

  return roi;
}

void
gst_ccl_rois_set_param (GstStructure *param, const GstCclComponent *component,
                        const gchar *class_name)
{
  gst_structure_set (param, GST_CCL_FIELDS_PIXELS (FIELD) NULL);
  set_object (param, component, class_name);
}

/* Returns the type of a copy: if the type of @roi is its class, the new class. */
static GQuark
get_type (const GstVideoRegionOfInterestMeta *roi, const gchar *class_name)
{
  GstStructure *param = gst_video_region_of_interest_meta_get_param (
      (GstVideoRegionOfInterestMeta *) roi, GST_CCL_ROI_PARAM);
  const gchar *before = param ? gst_structure_get_string (param, "class") : NULL;

  if (!class_name || !before || g_strcmp0 (before, class_name) == 0 ||
      g_strcmp0 (before, g_quark_to_string (roi->roi_type)) != 0)
    return roi->roi_type;

  return g_quark_from_string (class_name);
}

void
gst_ccl_rois_add_copy (GstBuffer *buffer, const GstVideoRegionOfInterestMeta *roi, gint id,
                       const GstCclComponent *component, const gchar *class_name)
{
  GstVideoRegionOfInterestMeta *copy;
  GList *l;

  copy = gst_buffer_add_video_region_of_interest_meta_id (buffer, get_type (roi, class_name),
                                                          component->x, component->y,
                                                          component->width, component->height);
  copy->id = id;

  for (l = roi->params; l; l = l->next) {
    GstStructure *param = gst_structure_copy (l->data);

    if (gst_structure_has_name (param, GST_CCL_ROI_PARAM))
      gst_ccl_rois_set_param (param, component, class_name);
    gst_video_region_of_interest_meta_add_param (copy, param);
  }
}

/* The regions by label, the first of each. */
static GHashTable *
by_label_new (const GstCclRois *rois)
{
  GHashTable *table = g_hash_table_new (NULL, NULL);
  guint i;

  for (i = rois->n; i-- > 0;)
    g_hash_table_insert (table, GUINT_TO_POINTER (rois->components[i].label), rois->rois[i]);

  return table;
}

GQuark
gst_ccl_rois_get_object_type (const gchar *class_name)
{
  return g_quark_from_string (class_name ? class_name : "object");
}

void
gst_ccl_rois_replace (GstBuffer *buffer, const GstCclRois *rois, gboolean by_label,
                      const GstCclComponent *objects, const guint *sources, guint n,
                      GstCclClassNames *names)
{
  GHashTable *labels = by_label ? by_label_new (rois) : NULL;
  guint i, id = G_MAXINT;

  for (i = 0; i < rois->n; i++)
    id = (guint) MIN ((gint) id, rois->rois[i]->id);

  for (i = 0; i < n; i++) {
    const GstCclComponent *object = &objects[i];
    const gchar *name = names ? gst_ccl_class_names_get_name (names, object->class_id) : NULL;
    const GstVideoRegionOfInterestMeta *roi =
        sources[i] == GST_CCL_NO_SOURCE ? NULL
        : labels ? g_hash_table_lookup (labels, GUINT_TO_POINTER (object->label))
                 : rois->rois[sources[i]];

    if (roi)
      gst_ccl_rois_add_copy (buffer, roi, (gint) id++, object, name);
    else if (sources[i] == GST_CCL_NO_SOURCE)
      gst_ccl_rois_add (buffer, gst_ccl_rois_get_object_type (name), (gint) id++, object, name);
  }
  for (i = 0; i < rois->n; i++)
    gst_buffer_remove_meta (buffer, &rois->rois[i]->meta);
  g_clear_pointer (&labels, g_hash_table_unref);
}

static gboolean
set_frame_age (GstBuffer *buffer, GstMeta **meta, gpointer user_data)
{
  if (is_own (*meta))
    gst_structure_set (gst_video_region_of_interest_meta_get_param (
                           (GstVideoRegionOfInterestMeta *) *meta, GST_CCL_ROI_PARAM),
                       FRAME_AGE, G_TYPE_INT64, *(gint64 *) user_data, NULL);

  return TRUE;
}

void
gst_ccl_rois_set_frame_age (GstBuffer *buffer, gint64 frame_age)
{
  gst_buffer_foreach_meta (buffer, set_frame_age, &frame_age);
}

static gboolean
remove_own (GstBuffer *buffer, GstMeta **meta, gpointer user_data)
{
  if (is_own (*meta))
    *meta = NULL;

  return TRUE;
}

void
gst_ccl_rois_remove (GstBuffer *buffer)
{
  gst_buffer_foreach_meta (buffer, remove_own, NULL);
}

void
gst_ccl_buffer_remove_components (GstBuffer *buffer)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  if (meta)
    gst_buffer_remove_meta (buffer, &meta->meta);
  gst_ccl_rois_remove (buffer);
}
