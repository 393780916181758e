/* cudaccl - the properties of elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PROPERTIES_H__
#define __GST_CCL_PROPERTIES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A class installs each property together with the field that holds its value:
 *
 *   gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclTrack, params.max_miss),
 *                               g_param_spec_uint64 ("max-miss", …, GST_CCL_PLAYING));
 *
 * This list is the class's table of properties. It replaces the enumeration of ids, set_property(),
 * get_property() and the defaults in the instance's init function. All fields are protected by the
 * object lock. */

/* The type of a field. */
typedef enum
{
  GST_CCL_KIND_INT, /* gint, guint, gboolean, enumerations and flags */
  GST_CCL_KIND_UINT64,
  GST_CCL_KIND_DOUBLE,
  GST_CCL_KIND_STRING, /* gchar *, owned by the instance */
} GstCclKind;

/* The field of a property, and hooks, which may be NULL. */
typedef struct
{
  gssize offset; /* of the field, from the start of the instance */
  GstCclKind kind;
  gboolean not_null; /* strings: setting NULL sets the default */

  void (*changed) (gpointer self);            /* the field was set; called with the object lock */
  void (*applied) (gpointer self);            /* then; called without the lock */
  void (*get) (gpointer self, GValue *value); /* computes the value; called without the lock */
} GstCclProperty;

/* clang-format off */
#define GST_CCL_KIND(Type, field)      \
  _Generic (((Type *) NULL)->field,    \
            gint: GST_CCL_KIND_INT,    \
            guint: GST_CCL_KIND_INT,   \
            guint64: GST_CCL_KIND_UINT64, \
            gdouble: GST_CCL_KIND_DOUBLE, \
            gchar *: GST_CCL_KIND_STRING)
/* clang-format on */

/* A property stored in @field of the instance struct @Type. Hooks may follow: `.changed =
 * function`. */
#define GST_CCL_FIELD(Type, field, ...) GST_CCL_FIELD_AT (0, Type, field, __VA_ARGS__)

/* The same for a field of a struct @Type that starts @base bytes into the instance. */
#define GST_CCL_FIELD_AT(base, Type, field, ...)                                \
  ((GstCclProperty){ .offset = (gssize) (base) + G_STRUCT_OFFSET (Type, field), \
                     .kind = GST_CCL_KIND (Type, field),                        \
                     __VA_ARGS__ })

/* A read-only property without a field. */
#define GST_CCL_COMPUTED(function) ((GstCclProperty){ .get = (function) })

/* Flags of properties that can be set up to the state READY, or at any time. */
#define GST_CCL_READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define GST_CCL_PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define GST_CCL_READ_ONLY (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

/* Installs a property. Pages and gst-inspect list properties in this order. */
void gst_ccl_properties_install (GObjectClass *klass, GstCclProperty property, GParamSpec *pspec);

/* Sets all fields to the defaults. Call it from the init function or, if subclasses install
 * properties, from constructed(). */
void gst_ccl_properties_init (gpointer self);

/* Frees the strings. Call it from finalize(). */
void gst_ccl_properties_clear (gpointer self);

/* Copies the @size bytes at @offset of the instance, duplicating strings. The caller holds the
 * object lock. Free the copy with gst_ccl_properties_free_copy(). */
gpointer gst_ccl_properties_copy (gpointer self, gssize offset, gsize size);
void gst_ccl_properties_free_copy (gpointer self, gssize offset, gsize size, gpointer copy);

/* Register @type with @values on the first call, and return it. */
GType gst_ccl_register_enum (GType *type, const gchar *name, const GEnumValue *values);
GType gst_ccl_register_flags (GType *type, const gchar *name, const GFlagsValue *values);

G_END_DECLS

#endif /* __GST_CCL_PROPERTIES_H__ */
