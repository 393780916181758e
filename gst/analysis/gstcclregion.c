/* cudaccl - the region of frames that is analysed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclregion.h"

#include <string.h>
#include <cudaccl/mask.h>
#ifdef HAVE_PNG
#include <png.h>
#endif

struct _GstCclRegion
{
  gchar *include, *exclude; /* NULL for none */

  /* The region file. */
  gchar *contents;      /* NULL for none */
  guint8 *decoded;      /* pixels of a PNG file */
  const guint8 *pixels; /* in @contents or @decoded */
  guint width, height;
  guint8 max; /* maximum pixel value */
};

static gboolean
is_blank (const gchar *text)
{
  return !text || text[strspn (text, " \t\r\n\v\f")] == '\0';
}

static gchar *
dup_text (const gchar *text)
{
  return is_blank (text) ? NULL : g_strdup (text);
}

/* Skips white space and comments, and reads a number of the header. Moves @at behind it. */
static gboolean
read_number (const gchar **at, const gchar *end, guint max, guint *number)
{
  const gchar *p = *at;
  guint64 value = 0;
  gboolean ok;

  while (p < end && (g_ascii_isspace (*p) || *p == '#')) {
    if (*p == '#') {
      while (p < end && *p != '\n')
        p++;
    } else {
      p++;
    }
  }

  ok = p < end && g_ascii_isdigit (*p);
  *at = p;
  for (; p < end && g_ascii_isdigit (*p); p++) {
    value = 10 * value + (guint64) (*p - '0');
    if (value > max)
      return FALSE;
  }
  if (!ok || value == 0)
    return FALSE;

  *at = p;
  *number = (guint) value;

  return TRUE;
}

static gboolean
parse_pgm (GstCclRegion *self, const gchar *name, gsize size, GError **error)
{
  const gchar *at = self->contents, *end = at + size, *expected = NULL;
  guint max = 0;

  if (size < 2 || memcmp (at, "P5", 2) != 0) {
    expected = "'P5', a binary PGM file, or a PNG file";
  } else {
    at += 2;
    if (!read_number (&at, end, G_MAXINT, &self->width))
      expected = "the width";
    else if (!read_number (&at, end, G_MAXINT, &self->height))
      expected = "the height";
    else if (!read_number (&at, end, G_MAXUINT8, &max))
      expected = "a maximum value from 1 to 255";
    else if (at == end || !g_ascii_isspace (*at))
      expected = "white space before the pixels";
  }
  if (expected) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Unsupported region file '%s': byte %" G_GSIZE_FORMAT ": expected %s.", name,
                 (gsize) (at - self->contents), expected);
    return FALSE;
  }

  at++;
  if ((guint64) self->width * self->height > (guint64) (end - at)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Unsupported region file '%s': it ends at byte %" G_GSIZE_FORMAT
                 ", before the last of its %ux%u pixels.",
                 name, size, self->width, self->height);
    return FALSE;
  }
  self->pixels = (const guint8 *) at;
  self->max = (guint8) max;

  return TRUE;
}

#define PNG_SIGNATURE "\211PNG\r\n\032\n"

#ifdef HAVE_PNG
/* Colours become grey, and transparent pixels are blended with black. */
static gboolean
parse_png (GstCclRegion *self, const gchar *name, gsize size, GError **error)
{
  png_image image = { .version = PNG_IMAGE_VERSION };
  const png_color black = { 0, 0, 0 };

  if (!png_image_begin_read_from_memory (&image, self->contents, size))
    goto failed;

  image.format = PNG_FORMAT_GRAY;
  if ((guint64) image.width * image.height > G_MAXUINT) {
    png_image_free (&image);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Unsupported region file '%s': no frame can have %ux%u pixels.", name, image.width,
                 image.height);
    return FALSE;
  }
  self->decoded = g_try_malloc (PNG_IMAGE_SIZE (image));
  if (!self->decoded) {
    png_image_free (&image);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "Not enough memory for the %ux%u pixels of the region file '%s'.", image.width,
                 image.height, name);
    return FALSE;
  }
  if (!png_image_finish_read (&image, &black, self->decoded, 0, NULL))
    goto failed;

  self->pixels = self->decoded;
  self->width = image.width;
  self->height = image.height;
  self->max = G_MAXUINT8;

  return TRUE;

failed:
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
               "Unsupported region file '%s': not a valid PNG file (%s).", name, image.message);
  return FALSE;
}
#else
static gboolean
parse_png (GstCclRegion *self, const gchar *name, gsize size, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
               "Unsupported region file '%s': this build has no libpng to read PNG files. Convert "
               "it to a PGM file.",
               name);
  return FALSE;
}
#endif

static gboolean
read_file (GstCclRegion *self, const gchar *name, GError **error)
{
  GError *reason = NULL;
  gsize size;

  if (!g_file_get_contents (name, &self->contents, &size, &reason)) {
    gint code = g_error_matches (reason, G_FILE_ERROR, G_FILE_ERROR_NOENT)
                    ? GST_RESOURCE_ERROR_NOT_FOUND
                    : GST_RESOURCE_ERROR_OPEN_READ;

    g_set_error (error, GST_RESOURCE_ERROR, code, "Could not read the region file: %s.",
                 reason->message);
    g_error_free (reason);
    return FALSE;
  }

  if (size >= strlen (PNG_SIGNATURE) &&
      memcmp (self->contents, PNG_SIGNATURE, strlen (PNG_SIGNATURE)) == 0)
    return parse_png (self, name, size, error);

  return parse_pgm (self, name, size, error);
}

gboolean
gst_ccl_check_property (const gchar *property, CclStatus status, GError **error)
{
  if (status != CCL_OK)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "Invalid value of %s: %s.",
                 property, ccl_last_error ());

  return status == CCL_OK;
}

/* Checks the polygons, which do not depend on the frame size. */
static gboolean
check_polygons (const gchar *property, const gchar *include, const gchar *exclude, GError **error)
{
  guint64 word = 0;
  CclMask mask = { &word, 1, 1, 1, CCL_MEMORY_HOST };

  return gst_ccl_check_property (property, ccl_region_parse (include, exclude, &mask), error);
}

GstCclRegion *
gst_ccl_region_new (const gchar *include, const gchar *exclude, const gchar *file, GError **error)
{
  GstCclRegion *self = g_new0 (GstCclRegion, 1);

  self->include = dup_text (include);
  self->exclude = dup_text (exclude);
  if (!check_polygons ("include", self->include, NULL, error) ||
      !check_polygons ("exclude", NULL, self->exclude, error) ||
      (!is_blank (file) && !read_file (self, file, error)))
    g_clear_pointer (&self, gst_ccl_region_free);

  return self;
}

void
gst_ccl_region_free (GstCclRegion *self)
{
  g_free (self->include);
  g_free (self->exclude);
  g_free (self->contents);
  g_free (self->decoded);
  g_free (self);
}

/* Makes the dark pixels of the region file background. */
static void
remove_dark_pixels (const GstCclRegion *self, CclMask *mask)
{
  guint32 *columns = g_new (guint32, mask->width);
  guint32 x, y;

  for (x = 0; x < mask->width; x++)
    columns[x] = (guint32) ((2 * (guint64) x + 1) * self->width / (2 * (guint64) mask->width));

  for (y = 0; y < mask->height; y++) {
    guint64 row = (2 * (guint64) y + 1) * self->height / (2 * (guint64) mask->height);
    const guint8 *pixels = self->pixels + row * self->width;
    uint64_t *words = mask->words + y * mask->pitch;

    for (x = 0; x < mask->width; x++) {
      if (pixels[columns[x]] <= self->max / 2)
        words[x / 64] &= ~(UINT64_C (1) << x % 64);
    }
  }
  g_free (columns);
}

CclStatus
gst_ccl_region_draw (const GstCclRegion *self, guint32 width, guint32 height, CclMask *mask)
{
  CclStatus status;

  *mask = (CclMask){ NULL };
  if (!self->include && !self->exclude && !self->pixels)
    return CCL_OK;

  status = ccl_mask_alloc (width, height, mask);
  if (status == CCL_OK)
    status = ccl_region_parse (self->include, self->exclude, mask);
  if (status != CCL_OK) {
    ccl_mask_free (mask);
    return status;
  }
  if (self->pixels)
    remove_dark_pixels (self, mask);

  return CCL_OK;
}
