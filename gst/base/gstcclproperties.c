/* cudaccl - the properties of elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclproperties.h"

/* Key of a pspec's GstCclProperty, and of a type's number of properties. */
static GQuark
get_quark (void)
{
  return g_quark_from_static_string ("gst-ccl-property");
}

static const GstCclProperty *
get_property_of (GParamSpec *pspec)
{
  return g_param_spec_get_qdata (pspec, get_quark ());
}

static gpointer
get_field (gpointer self, const GstCclProperty *property)
{
  return (guint8 *) self + property->offset;
}

static gboolean
is_of_kind (const GParamSpec *pspec, GstCclKind kind)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type)) {
  case G_TYPE_BOOLEAN:
  case G_TYPE_INT:
  case G_TYPE_UINT:
  case G_TYPE_ENUM:
  case G_TYPE_FLAGS:
    return kind == GST_CCL_KIND_INT;
  case G_TYPE_UINT64:
    return kind == GST_CCL_KIND_UINT64;
  case G_TYPE_DOUBLE:
    return kind == GST_CCL_KIND_DOUBLE;
  case G_TYPE_STRING:
    return kind == GST_CCL_KIND_STRING;
  default:
    return FALSE;
  }
}

static void
write_field (gpointer field, const GstCclProperty *property, GParamSpec *pspec, const GValue *value)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type)) {
  case G_TYPE_BOOLEAN:
    *(gboolean *) field = g_value_get_boolean (value);
    break;
  case G_TYPE_INT:
    *(gint *) field = g_value_get_int (value);
    break;
  case G_TYPE_UINT:
    *(guint *) field = g_value_get_uint (value);
    break;
  case G_TYPE_UINT64:
    *(guint64 *) field = g_value_get_uint64 (value);
    break;
  case G_TYPE_DOUBLE:
    *(gdouble *) field = g_value_get_double (value);
    break;
  case G_TYPE_ENUM:
    *(gint *) field = g_value_get_enum (value);
    break;
  case G_TYPE_FLAGS:
    *(guint *) field = g_value_get_flags (value);
    break;
  default:
    if (property->not_null && !g_value_get_string (value))
      value = g_param_spec_get_default_value (pspec);
    g_free (*(gchar **) field);
    *(gchar **) field = g_value_dup_string (value);
    break;
  }
}

static void
read_field (gconstpointer field, GParamSpec *pspec, GValue *value)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type)) {
  case G_TYPE_BOOLEAN:
    g_value_set_boolean (value, *(const gboolean *) field);
    break;
  case G_TYPE_INT:
    g_value_set_int (value, *(const gint *) field);
    break;
  case G_TYPE_UINT:
    g_value_set_uint (value, *(const guint *) field);
    break;
  case G_TYPE_UINT64:
    g_value_set_uint64 (value, *(const guint64 *) field);
    break;
  case G_TYPE_DOUBLE:
    g_value_set_double (value, *(const gdouble *) field);
    break;
  case G_TYPE_ENUM:
    g_value_set_enum (value, *(const gint *) field);
    break;
  case G_TYPE_FLAGS:
    g_value_set_flags (value, *(const guint *) field);
    break;
  default:
    g_value_set_string (value, *(gchar *const *) field);
    break;
  }
}

/* GObject has validated @value. */
static void
set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  const GstCclProperty *property = get_property_of (pspec);

  GST_OBJECT_LOCK (object);
  write_field (get_field (object, property), property, pspec, value);
  if (property->changed)
    property->changed (object);
  GST_OBJECT_UNLOCK (object);

  if (property->applied)
    property->applied (object);
}

static void
get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  const GstCclProperty *property = get_property_of (pspec);

  if (property->get) {
    property->get (object, value);
    return;
  }

  GST_OBJECT_LOCK (object);
  read_field (get_field (object, property), pspec, value);
  GST_OBJECT_UNLOCK (object);
}

void
gst_ccl_properties_install (GObjectClass *klass, GstCclProperty property, GParamSpec *pspec)
{
  const GType type = G_OBJECT_CLASS_TYPE (klass);
  const guint id = GPOINTER_TO_UINT (g_type_get_qdata (type, get_quark ())) + 1;

  g_assert (property.get || is_of_kind (pspec, property.kind));

  /* GObject resets these in subclasses. */
  klass->set_property = set_property;
  klass->get_property = get_property;
  g_type_set_qdata (type, get_quark (), GUINT_TO_POINTER (id));
  g_param_spec_set_qdata_full (pspec, get_quark (), g_memdup2 (&property, sizeof (property)),
                               g_free);
  g_object_class_install_property (klass, id, pspec);
}

/* Calls @function for each writable property. If a subclass has reinstalled a property, the
 * parent's comes first. */
static void
foreach_field (gpointer self,
               void (*function) (gpointer self, const GstCclProperty *property, GParamSpec *pspec,
                                 gpointer data),
               gpointer data)
{
  guint n, i;
  GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);

  for (i = 0; i < n; i++) {
    const GstCclProperty *property = get_property_of (pspecs[i]);

    if (property && pspecs[i]->flags & G_PARAM_WRITABLE)
      function (self, property, pspecs[i], data);
  }
  g_free (pspecs);
}

static void
set_default (gpointer self, const GstCclProperty *property, GParamSpec *pspec, gpointer data)
{
  write_field (get_field (self, property), property, pspec, g_param_spec_get_default_value (pspec));
}

void
gst_ccl_properties_init (gpointer self)
{
  foreach_field (self, set_default, NULL);
}

static void
clear_string (gpointer self, const GstCclProperty *property, GParamSpec *pspec, gpointer data)
{
  if (property->kind == GST_CCL_KIND_STRING)
    g_clear_pointer ((gchar **) get_field (self, property), g_free);
}

void
gst_ccl_properties_clear (gpointer self)
{
  foreach_field (self, clear_string, NULL);
}

/* A copy of a part of the instance. */
typedef struct
{
  gssize offset;
  gsize size;
  guint8 *fields;
} Copy;

/* Returns the string of @property in the copy; NULL if it is no string or not in the copy. */
static gchar **
find_string (const Copy *copy, const GstCclProperty *property)
{
  if (property->kind != GST_CCL_KIND_STRING || property->offset < copy->offset ||
      property->offset >= copy->offset + (gssize) copy->size)
    return NULL;

  return (gchar **) (gpointer) (copy->fields + (property->offset - copy->offset));
}

static void
copy_string (gpointer self, const GstCclProperty *property, GParamSpec *pspec, gpointer data)
{
  gchar **to = find_string (data, property), **from = get_field (self, property);

  /* A reinstalled property comes twice, but is duplicated once. */
  if (to && *to == *from)
    *to = g_strdup (*from);
}

gpointer
gst_ccl_properties_copy (gpointer self, gssize offset, gsize size)
{
  Copy copy = { offset, size, g_memdup2 ((guint8 *) self + offset, size) };

  foreach_field (self, copy_string, &copy);

  return copy.fields;
}

static void
free_string (gpointer self, const GstCclProperty *property, GParamSpec *pspec, gpointer data)
{
  gchar **string = find_string (data, property);

  if (string)
    g_clear_pointer (string, g_free);
}

void
gst_ccl_properties_free_copy (gpointer self, gssize offset, gsize size, gpointer fields)
{
  Copy copy = { offset, size, fields };

  foreach_field (self, free_string, &copy);
  g_free (fields);
}

GType
gst_ccl_register_enum (GType *type, const gchar *name, const GEnumValue *values)
{
  if (g_once_init_enter (type)) {
    GType registered = g_enum_register_static (name, values);

    gst_type_mark_as_plugin_api (registered, 0);
    g_once_init_leave (type, registered);
  }

  return *type;
}

GType
gst_ccl_register_flags (GType *type, const gchar *name, const GFlagsValue *values)
{
  if (g_once_init_enter (type)) {
    GType registered = g_flags_register_static (name, values);

    gst_type_mark_as_plugin_api (registered, 0);
    g_once_init_leave (type, registered);
  }

  return *type;
}
