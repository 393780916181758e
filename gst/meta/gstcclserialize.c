/* cudaccl - serialisation of GstCclMeta
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Version 6 with signatures, 5 without; or 4 if no component is static, either, which programs with
 * 0.1 read. See gstcclbytes.h for numbers; differences are signed.
 *
 *   width, height, found, n_components
 *   n_names and for each name of a class its length and bytes (not in version 2)
 *   for each component:
 *     a byte of flags
 *     FLAG_LABEL: difference of the label from the previous one plus 1
 *     x, difference of y from the previous one, width, height, area
 *     FLAG_SUM_X: sum of the distances of all pixels from x; otherwise centroid_x, a double
 *     FLAG_SUM_Y: the same for y
 *     FLAG_TRACK: track, age, velocity_x and velocity_y, doubles
 *     FLAG_CLASS: class_id, confidence, a double (not in version 2)
 *     FLAG_SHAPE: features, holes, luma_min, luma_max; doubles: perimeter, orientation, major_axis,
 *     minor_axis, luma_mean (not in versions 2 and 3)
 *     FLAG_STATIC: flags, static_age (from version 5 on)
 *   frame_age, signed, unless it is 0; always in version 6
 *   in version 6, for each component the bytes of its signature
 *
 * Where a centroid is a sum divided by the area, the sum is stored: it is shorter than a double
 * and restores the same one. Elsewhere, as after scaling, the double is stored. */

#include <math.h>
#include <gst/ccl/gstcclmeta.h>

#include "gstcclbytes.h"
#include "gstcclfields.h"

#if GST_CHECK_VERSION(1, 24, 0)

#define VERSION 6
#define WITHOUT_SIGNATURES 5
#define WITHOUT_STATIC 4
#define WITHOUT_SHAPES 3
#define WITHOUT_CLASSES 2 /* the oldest version that is read */

#define FLAG_LABEL (1 << 0)
#define FLAG_SUM_X (1 << 1)
#define FLAG_SUM_Y (1 << 2)
#define FLAG_TRACK (1 << 3)
#define FLAG_CLASS (1 << 4)
#define FLAG_SHAPE (1 << 5)
#define FLAG_STATIC (1 << 6)
#define OLD_FLAGS (FLAG_LABEL | FLAG_SUM_X | FLAG_SUM_Y | FLAG_TRACK)
#define CLASS_FLAGS (OLD_FLAGS | FLAG_CLASS)
#define SHAPE_FLAGS (CLASS_FLAGS | FLAG_SHAPE)
#define ALL_FLAGS (SHAPE_FLAGS | FLAG_STATIC)
#define ALL_COMPONENT_FLAGS (GST_CCL_COMPONENT_STATIC | GST_CCL_COMPONENT_REMOVED)

#define ALL_FEATURES                                                             \
  (GST_CCL_FEATURE_ELLIPSE | GST_CCL_FEATURE_HOLES | GST_CCL_FEATURE_PERIMETER | \
   GST_CCL_FEATURE_LUMA)

#define MAX_FRAME_SIZE (6 * GST_CCL_MAX_VARINT_SIZE)
#define MAX_COMPONENT_SIZE (1 + 17 * GST_CCL_MAX_VARINT_SIZE + 8 * 8)
#define MIN_COMPONENT_SIZE 8

/* A socket's buffer holds few frames of this size. */
#define LARGE_SIZE (32 * 1024)

/* 2^53: integers up to here are exact in a double. */
#define MAX_EXACT 9007199254740992.0

/* The fields of FLAG_SHAPE, in the order of the bytes. */
#define SHAPE_FIELDS(FIELD)          \
  FIELD (holes, "holes", UINT)       \
  FIELD (luma_min, "luma-min", UINT) \
  FIELD (luma_max, "luma-max", UINT) \
  GST_CCL_FIELDS_PERIMETER (FIELD)   \
  GST_CCL_FIELDS_ELLIPSE (FIELD)     \
  FIELD (luma_mean, "luma-mean", DOUBLE)

/* A step that puts a field, and a condition that reads one. */
#define PUT_UINT gst_ccl_put_varint
#define PUT_UINT64 gst_ccl_put_varint
#define PUT_DOUBLE gst_ccl_put_double
#define PUT_FIELD(member, name, type) bytes = PUT_##type (bytes, component->member);
#define READ_UINT gst_ccl_read_uint
#define READ_UINT64 gst_ccl_read_varint
#define READ_DOUBLE gst_ccl_read_double
#define READ_FIELD(member, name, type) READ_##type (reader, &component->member) &&

/* The same for doubles that need not be finite. */
#define READ_ANY_UINT READ_UINT
#define READ_ANY_UINT64 READ_UINT64
#define READ_ANY_DOUBLE gst_ccl_read_any_double
#define READ_ANY_FIELD(member, name, type) READ_ANY_##type (reader, &component->member) &&

static gboolean
has_finite_velocity (const GstCclComponent *component)
{
  return isfinite (component->velocity_x) && isfinite (component->velocity_y);
}

/* A velocity that is not finite costs itself, not the components of its frame. */
static void
clear_velocity (GstCclComponent *component)
{
  static gint warned = 0;

  if (g_atomic_int_compare_and_exchange (&warned, 0, 1))
    GST_CAT_WARNING (
        gst_ccl_meta_debug,
        "track %u has the velocity (%g, %g), which is not finite: it becomes 0, and so "
        "do others, without further warnings",
        component->track, component->velocity_x, component->velocity_y);
  component->velocity_x = component->velocity_y = 0.0;
}

static guint8 *
put_difference (guint8 *bytes, guint number, guint before)
{
  return gst_ccl_put_signed (bytes, (gint64) number - before);
}

static gdouble
make_centroid (guint64 sum, guint start, guint64 area)
{
  return (gdouble) (area * start + sum) / (gdouble) area;
}

/* Finds the sum that restores exactly this centroid, if there is one. */
static gboolean
find_sum (gdouble centroid, guint start, guint64 area, guint64 *sum)
{
  gdouble total = rint (centroid * (gdouble) area);

  if (area == 0 || area > G_MAXUINT || signbit (centroid) || !(total < MAX_EXACT) ||
      (guint64) total < area * start)
    return FALSE;
  *sum = (guint64) total - area * start;

  return make_centroid (*sum, start, area) == centroid;
}

static guint8 *
put_centroid (guint8 *bytes, gdouble centroid, guint start, guint64 area, guint8 *flags,
              guint8 flag)
{
  guint64 sum;

  if (!find_sum (centroid, start, area, &sum))
    return gst_ccl_put_double (bytes, centroid);

  *flags |= flag;

  return gst_ccl_put_varint (bytes, sum);
}

static gboolean
stands (const GstCclComponent *component)
{
  return (component->flags & ALL_COMPONENT_FLAGS) != 0 || component->static_age > 0;
}

static guint8 *
put_component (guint8 *bytes, const GstCclComponent *component, const GstCclComponent *before)
{
  guint8 *flags = bytes++;
  GstCclComponent cleared;

  if (!has_finite_velocity (component)) {
    cleared = *component;
    clear_velocity (&cleared);
    component = &cleared;
  }

  *flags = 0;
  if (component->label != before->label + 1) {
    *flags |= FLAG_LABEL;
    bytes = put_difference (bytes, component->label, before->label + 1);
  }

  bytes = gst_ccl_put_varint (bytes, component->x);
  bytes = put_difference (bytes, component->y, before->y);
  bytes = gst_ccl_put_varint (bytes, component->width);
  bytes = gst_ccl_put_varint (bytes, component->height);
  bytes = gst_ccl_put_varint (bytes, component->area);

  bytes =
      put_centroid (bytes, component->centroid_x, component->x, component->area, flags, FLAG_SUM_X);
  bytes =
      put_centroid (bytes, component->centroid_y, component->y, component->area, flags, FLAG_SUM_Y);

  if (component->track || component->age || component->velocity_x != 0.0 ||
      component->velocity_y != 0.0) {
    *flags |= FLAG_TRACK;
    GST_CCL_FIELDS_TRACK (PUT_FIELD)
  }
  if (component->class_id || component->confidence != 0.0) {
    *flags |= FLAG_CLASS;
    bytes = gst_ccl_put_varint (bytes, component->class_id);
    /* Receivers accept no other. */
    bytes = gst_ccl_put_double (
        bytes, component->confidence > 0.0 ? MIN (component->confidence, 1.0) : 0.0);
  }
  if (component->features & ALL_FEATURES) {
    *flags |= FLAG_SHAPE;
    bytes = gst_ccl_put_varint (bytes, component->features & ALL_FEATURES);
    SHAPE_FIELDS (PUT_FIELD)
  }
  if (stands (component)) {
    *flags |= FLAG_STATIC;
    bytes = gst_ccl_put_varint (bytes, component->flags & ALL_COMPONENT_FLAGS);
    bytes = gst_ccl_put_varint (bytes, component->static_age);
  }

  return bytes;
}

gsize
gst_ccl_get_names_size (const GstCclClassNames *names)
{
  guint n = names ? gst_ccl_class_names_get_n_names (names) : 0, i;
  gsize size = 0;

  for (i = 1; i <= n; i++)
    size += GST_CCL_MAX_VARINT_SIZE + strlen (gst_ccl_class_names_get_name (names, i));

  return size;
}

guint8 *
gst_ccl_put_names (guint8 *bytes, const GstCclClassNames *names)
{
  guint n = names ? gst_ccl_class_names_get_n_names (names) : 0, i;

  bytes = gst_ccl_put_varint (bytes, n);
  for (i = 1; i <= n; i++) {
    const gchar *name = gst_ccl_class_names_get_name (names, i);
    gsize length = strlen (name);

    bytes = gst_ccl_put_varint (bytes, length);
    memcpy (bytes, name, length);
    bytes += length;
  }

  return bytes;
}

static void
warn_if_large (const GstCclMeta *self, gsize size)
{
  static gint warned = 0;

  if (size > LARGE_SIZE && g_atomic_int_compare_and_exchange (&warned, 0, 1))
    GST_CAT_WARNING (gst_ccl_meta_debug,
                     "%u components of a frame take %" G_GSIZE_FORMAT
                     " bytes: a receiver that is late may lose the connection. Put a queue behind "
                     "unixfdsrc, or limit the components with max-components or min-area",
                     self->n_components, size);
}

gboolean
gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclComponent none = { 0 }, *before = &none;
  const GstCclMeta *self = (const GstCclMeta *) meta;
  guint8 *bytes, *end;
  gboolean has_static = FALSE;
  guint i;

  bytes = end =
      g_malloc (MAX_FRAME_SIZE + gst_ccl_get_names_size (self->class_names) +
                (gsize) self->n_components * (MAX_COMPONENT_SIZE + GST_CCL_SIGNATURE_SIZE));
  end = gst_ccl_put_varint (end, self->width);
  end = gst_ccl_put_varint (end, self->height);
  end = gst_ccl_put_varint (end, self->found);
  end = gst_ccl_put_varint (end, self->n_components);
  end = gst_ccl_put_names (end, self->class_names);
  for (i = 0; i < self->n_components; i++) {
    end = put_component (end, &self->components[i], before);
    before = &self->components[i];
    has_static |= stands (&self->components[i]);
  }
  if (self->frame_age != 0 || self->signatures)
    end = gst_ccl_put_signed (end, self->frame_age);
  if (self->signatures && self->n_components > 0) {
    memcpy (end, g_bytes_get_data (self->signatures, NULL), g_bytes_get_size (self->signatures));
    end += g_bytes_get_size (self->signatures);
  }

  warn_if_large (self, (gsize) (end - bytes));
  *version = self->signatures ? VERSION : has_static ? WITHOUT_SIGNATURES : WITHOUT_STATIC;

  return gst_ccl_take_bytes (data, bytes, end);
}

static gboolean
read_difference (GstCclReader *reader, guint before, guint *number)
{
  const gint64 most = G_MAXUINT;
  gint64 difference;

  if (!gst_ccl_read_signed (reader, &difference) || difference < -most || difference > most ||
      difference + before < 0 || difference + before > most)
    return FALSE;
  *number = (guint) (difference + before);

  return TRUE;
}

static gboolean
read_centroid (GstCclReader *reader, gboolean is_sum, guint start, guint64 area, gdouble *centroid)
{
  guint64 sum;

  if (!is_sum)
    return gst_ccl_read_double (reader, centroid);

  if (area > G_MAXUINT || !gst_ccl_read_varint (reader, &sum) || sum > (guint64) MAX_EXACT)
    return FALSE;
  *centroid = make_centroid (sum, start, area);

  return TRUE;
}

gboolean
gst_ccl_read_names (GstCclReader *reader, GstCclClassNames **names)
{
  gchar **strings;
  guint n, i;

  *names = NULL;
  /* A name takes far more memory than its byte. */
  if (!gst_ccl_read_count (reader, 1, &n) || n > G_MAXUINT16)
    return FALSE;
  if (n == 0)
    return TRUE;

  strings = g_new0 (gchar *, (gsize) n + 1);
  for (i = 0; i < n && gst_ccl_read_string (reader, &strings[i]); i++)
    ;
  if (i == n)
    *names = gst_ccl_class_names_new ((const gchar *const *) strings);
  g_strfreev (strings);

  return *names != NULL;
}

static gboolean
read_track (GstCclReader *reader, GstCclComponent *component)
{
  if (!(GST_CCL_FIELDS_TRACK (READ_ANY_FIELD) TRUE))
    return FALSE;
  if (!has_finite_velocity (component))
    clear_velocity (component);

  return TRUE;
}

static gboolean
read_class (GstCclReader *reader, GstCclComponent *component)
{
  return gst_ccl_read_uint (reader, &component->class_id) &&
         gst_ccl_read_double (reader, &component->confidence) && component->confidence >= 0.0 &&
         component->confidence <= 1.0;
}

static gboolean
read_shape (GstCclReader *reader, GstCclComponent *component)
{
  return gst_ccl_read_uint (reader, &component->features) && component->features > 0 &&
         (component->features & ~(guint) ALL_FEATURES) == 0 && SHAPE_FIELDS (READ_FIELD) TRUE;
}

static gboolean
read_static (GstCclReader *reader, GstCclComponent *component)
{
  return gst_ccl_read_uint (reader, &component->flags) &&
         (component->flags & ~(guint) ALL_COMPONENT_FLAGS) == 0 &&
         gst_ccl_read_uint (reader, &component->static_age) && stands (component);
}

static gboolean
read_component (GstCclReader *reader, guint8 known_flags, const GstCclComponent *before,
                GstCclComponent *component)
{
  guint8 flags;

  *component = (GstCclComponent){ .label = before->label + 1 };
  if (!gst_ccl_read_byte (reader, &flags) || (flags & ~known_flags) != 0)
    return FALSE;
  if ((flags & FLAG_LABEL) && !read_difference (reader, component->label, &component->label))
    return FALSE;

  if (!gst_ccl_read_uint (reader, &component->x) ||
      !read_difference (reader, before->y, &component->y) ||
      !gst_ccl_read_uint (reader, &component->width) ||
      !gst_ccl_read_uint (reader, &component->height) ||
      !gst_ccl_read_varint (reader, &component->area) || component->area == 0)
    return FALSE;

  if (!read_centroid (reader, flags & FLAG_SUM_X, component->x, component->area,
                      &component->centroid_x) ||
      !read_centroid (reader, flags & FLAG_SUM_Y, component->y, component->area,
                      &component->centroid_y))
    return FALSE;

  if ((flags & FLAG_TRACK) && !read_track (reader, component))
    return FALSE;

  if ((flags & FLAG_CLASS) && !read_class (reader, component))
    return FALSE;

  if ((flags & FLAG_SHAPE) && !read_shape (reader, component))
    return FALSE;

  return !(flags & FLAG_STATIC) || read_static (reader, component);
}

static gboolean
is_inside (const GstCclComponent *component, guint width, guint height)
{
  return component->width > 0 && component->height > 0 &&
         (guint64) component->x + component->width <= width &&
         (guint64) component->y + component->height <= height;
}

/* The data comes from another process and is not trusted. */
GstMeta *
gst_ccl_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                          gsize size, guint8 version)
{
  const GstCclComponent none = { 0 }, *before = &none;
  const guint8 known_flags = version == WITHOUT_CLASSES  ? OLD_FLAGS
                             : version == WITHOUT_SHAPES ? CLASS_FLAGS
                             : version == WITHOUT_STATIC ? SHAPE_FLAGS
                                                         : ALL_FLAGS;
  GstCclComponent *components;
  GstCclClassNames *names = NULL;
  GstCclReader reader = { data, size };
  guint width, height, found, n, i;
  gint64 frame_age = 0;
  GstCclMeta *meta;

  if (!gst_ccl_check_version ("components", version, WITHOUT_CLASSES, VERSION))
    return NULL;

  if (!gst_ccl_read_size (&reader, &width, &height) || !gst_ccl_read_uint (&reader, &found) ||
      !gst_ccl_read_count (&reader, MIN_COMPONENT_SIZE, &n) || found < n ||
      (version != WITHOUT_CLASSES && !gst_ccl_read_names (&reader, &names))) {
    gst_ccl_warn_invalid ("components", &reader, size);
    return NULL;
  }

  components = n > 0 ? g_new (GstCclComponent, n) : NULL;
  for (i = 0; i < n; i++) {
    if (!read_component (&reader, known_flags, before, &components[i]) ||
        !is_inside (&components[i], width, height))
      break;
    before = &components[i];
  }
  if (i < n ||
      ((reader.size > 0 || version == VERSION) && !gst_ccl_read_signed (&reader, &frame_age)) ||
      reader.size != (version == VERSION ? (gsize) n * GST_CCL_SIGNATURE_SIZE : 0)) {
    gst_ccl_warn_invalid ("components", &reader, size);
    g_free (components);
    g_clear_pointer (&names, gst_ccl_class_names_unref);
    return NULL;
  }

  meta = gst_buffer_add_ccl_meta (buffer, width, height, found, NULL, 0);
  meta->components = components;
  meta->n_components = n;
  meta->frame_age = frame_age;
  meta->class_names = names;
  if (version == VERSION)
    meta->signatures = g_bytes_new (reader.bytes, reader.size);

  return &meta->meta;
}

#endif
