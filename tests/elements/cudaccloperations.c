/* cudaccl - tests of the element cudaccl: operations, regions, size limits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <glib/gstdio.h>
#include <string.h>

#define WIDTH 24
#define HEIGHT 20

static void
draw (GstBuffer *buffer, guint x, guint y, guint width, guint height, guint8 value)
{
  guint row;

  for (row = y; row < y + height; row++)
    gst_buffer_memset (buffer, row * GST_ROUND_UP_4 (WIDTH) + x, value, width);
}

/* A box with a hole, and two specks. */
static GstBuffer *
mask_new (void)
{
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

  draw (buffer, 3, 3, 8, 8, 255);
  draw (buffer, 5, 5, 3, 3, 0);
  draw (buffer, 15, 2, 1, 1, 255);
  draw (buffer, 14, 14, 3, 2, 255);

  return buffer;
}

static GstBuffer *
white_new (void)
{
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

  draw (buffer, 0, 0, WIDTH, HEIGHT, 255);

  return buffer;
}

#define DOT                   \
  {                           \
    15, 2, 1, 1, 1, 15.0, 2.0 \
  }
#define BOX                                \
  {                                        \
    3, 3, 8, 8, 55, 362.0 / 55, 362.0 / 55 \
  }
#define FILLED               \
  {                          \
    3, 3, 8, 8, 64, 6.5, 6.5 \
  }
#define ROUNDED              \
  {                          \
    3, 3, 8, 8, 60, 6.5, 6.5 \
  }
#define BAR                     \
  {                             \
    14, 14, 3, 2, 6, 15.0, 14.5 \
  }
#define THIN_BAR                \
  {                             \
    15, 14, 1, 2, 2, 15.0, 14.5 \
  }

static const struct
{
  const gchar *morphology;
  guint n;
  Blob blobs[3];
} lists[] = {
  { NULL, 3, { DOT, BOX, BAR } },
  { " ", 3, { DOT, BOX, BAR } },
  { "median3", 2, { { 3, 3, 8, 8, 55, 360.0 / 55, 360.0 / 55 }, THIN_BAR } },
  { "median3,fill", 2, { ROUNDED, THIN_BAR } },
  { "median3,fill,drop5", 1, { ROUNDED } },
  { " median3 , fill , drop5 ", 1, { ROUNDED } },
  { "fill", 3, { DOT, FILLED, BAR } },
  { "fill8", 3, { DOT, BOX, BAR } },
  { "fill9", 3, { DOT, FILLED, BAR } },
  { "drop2", 2, { BOX, BAR } },
  { "drop6", 2, { BOX, BAR } },
  { "drop7", 1, { BOX } },
  { "close3x3", 3, { DOT, BOX, BAR } },
  { "dilate3x3",
    3,
    { { 14, 1, 3, 3, 9, 15.0, 2.0 },
      { 2, 2, 10, 10, 99, 644.0 / 99, 644.0 / 99 },
      { 13, 13, 5, 4, 20, 15.0, 14.5 } } },
  { "fill,erode3x3", 1, { { 4, 4, 6, 6, 36, 6.5, 6.5 } } },
  { "fill,open3x3", 1, { FILLED } },
  { "drop100", 0, { DOT } },
};

GST_START_TEST (test_morphology)
{
  static const gchar *const uploads[] = { "auto", "pixels", "bits" };
  static const guint threads[] = { 0, 1, 3 };
  static const gchar *const routes[] = { "bits", "pixels", "bits" }; /* of pageable memory */
  guint i, backend;

  for (backend = 0; backend < ccl_test_n_backends (); backend++) {
    for (i = 0; i < G_N_ELEMENTS (uploads); i++) {
      GstElement *element =
          ccl_test_element_new (ccl_test_backend ((gint) backend), "morphology",
                                lists[__i__].morphology, "threads", threads[i], NULL);
      GstHarness *h;

      GST_INFO ("%s", lists[__i__].morphology);
      gst_util_set_object_arg (G_OBJECT (element), "upload", uploads[i]);
      h = ccl_test_harness_new (element, "GRAY8", WIDTH, HEIGHT);
      ccl_test_push_blobs (h, mask_new (), lists[__i__].blobs, lists[__i__].n, lists[__i__].n);
      ccl_test_check_stat (h->element, "upload", backend == 0 ? "none" : routes[i]);
      ccl_test_harness_free (h);
    }
  }
}
GST_END_TEST;

/* Writes a temporary file. Free the name with g_free() after g_unlink(). */
static gchar *
write_file (const gchar *contents, gsize size)
{
  GError *error = NULL;
  gchar *name;
  gint fd = g_file_open_tmp ("region-XXXXXX.pgm", &name, &error);

  fail_unless (fd >= 0, "%s", error ? error->message : "");
  g_close (fd, NULL);
  fail_unless (g_file_set_contents (name, contents, (gssize) size, NULL));

  return name;
}

#define QUARTER "0,0 0.5,0 0.5,0.5 0,0.5"
#define RIGHT_HALF "0.5,0 1,0 1,1 0.5,1"
/* The upper left pixel of four. */
#define QUARTER_FILE "P5\n# a comment\n2 2\n255\n\377\0\0\0"

#ifdef HAVE_PNG
/* The same in 8 and 1 bits of grey, and in RGBA, white and transparent elsewhere. */
#define PNG_GREY                                                                             \
  "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\002\000\000" \
  "\000\002\010\000\000\000\000\127\335\122\370\000\000\000\014\111\104\101\124\170\234\143" \
  "\370\317\000\004\000\005\001\001\000\273\031\020\256\000\000\000\000\111\105\116\104\256" \
  "\102\140\202"
#define PNG_BITS                                                                             \
  "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\002\000\000" \
  "\000\002\001\000\000\000\000\132\315\060\211\000\000\000\014\111\104\101\124\170\234\143" \
  "\150\140\140\000\000\001\204\000\201\371\376\145\210\000\000\000\000\111\105\116\104\256" \
  "\102\140\202"
#define PNG_RGBA                                                                             \
  "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\002\000\000" \
  "\000\002\010\006\000\000\000\162\266\015\044\000\000\000\020\111\104\101\124\170\234\143" \
  "\370\017\001\014\014\040\002\204\001\177\222\014\364\033\141\032\137\000\000\000\000\111" \
  "\105\116\104\256\102\140\202"
/* Its header says 100000x100000. */
#define PNG_HUGE                                                                             \
  "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\001\206\240\000\001" \
  "\206\240\010\000\000\000\000\215\071\124\024\000\000\000\012\111\104\101\124\170\234\143" \
  "\140\000\000\000\002\000\001\110\257\244\161\000\000\000\000\111\105\116\104\256\102\140" \
  "\202"
#define QUARTER_OF(file)                        \
  {                                             \
    NULL, NULL, file, sizeof file - 1, NULL, 1, \
    {                                           \
      {                                         \
        0, 0, 12, 10, 120, 5.5, 4.5             \
      }                                         \
    }                                           \
  }
#endif

/* The components of a white frame. */
static const struct
{
  const gchar *include, *exclude, *file;
  gsize size; /* of the file */
  const gchar *morphology;
  guint n;
  Blob blobs[2];
} regions[] = {
  { NULL, NULL, NULL, 0, NULL, 1, { { 0, 0, 24, 20, 480, 11.5, 9.5 } } },
  { " ", " ", NULL, 0, NULL, 1, { { 0, 0, 24, 20, 480, 11.5, 9.5 } } },
  { QUARTER, NULL, NULL, 0, NULL, 1, { { 0, 0, 12, 10, 120, 5.5, 4.5 } } },
  { NULL, RIGHT_HALF, NULL, 0, NULL, 1, { { 0, 0, 12, 20, 240, 5.5, 9.5 } } },
  { QUARTER, QUARTER, NULL, 0, NULL, 0, { { 0 } } },
  { "0,0 0.25,0 0.25,1 0,1; " RIGHT_HALF,
    "0.75,0 1,0 1,1 0.75,1",
    NULL,
    0,
    NULL,
    2,
    { { 0, 0, 6, 20, 120, 2.5, 9.5 }, { 12, 0, 6, 20, 120, 14.5, 9.5 } } },
  { NULL,
    NULL,
    QUARTER_FILE,
    sizeof QUARTER_FILE - 1,
    NULL,
    1,
    { { 0, 0, 12, 10, 120, 5.5, 4.5 } } },
  { NULL, NULL, "P5 3 1 6 \3\4\4", 12, NULL, 1, { { 8, 0, 16, 20, 320, 15.5, 9.5 } } },
  /* A pixel of the frame has the value at its centre. */
  { NULL,
    NULL,
    "P5 5 3 9 \0\0\0\0\0\0\0\0\11\0\0\0\0\0\0",
    24,
    NULL,
    1,
    { { 14, 7, 5, 6, 30, 16.0, 9.5 } } },
  { "0,0 1,0 1,0.25 0,0.25",
    NULL,
    QUARTER_FILE,
    sizeof QUARTER_FILE - 1,
    NULL,
    1,
    { { 0, 0, 12, 5, 60, 5.5, 2.0 } } },
#ifdef HAVE_PNG
  QUARTER_OF (PNG_GREY),
  QUARTER_OF (PNG_BITS),
  QUARTER_OF (PNG_RGBA),
#endif
  /* Regions come before operations. */
  { QUARTER, NULL, NULL, 0, "dilate3x3", 1, { { 0, 0, 13, 11, 143, 6.0, 5.0 } } },
};

GST_START_TEST (test_region)
{
  guint backend;

  for (backend = 0; backend < ccl_test_n_backends (); backend++) {
    gchar *name =
        regions[__i__].file ? write_file (regions[__i__].file, regions[__i__].size) : NULL;
    GstHarness *h = ccl_test_harness_new (
        ccl_test_element_new (ccl_test_backend ((gint) backend), "include", regions[__i__].include,
                              "exclude", regions[__i__].exclude, "region-file", name, "morphology",
                              regions[__i__].morphology, NULL),
        "GRAY8", WIDTH, HEIGHT);

    ccl_test_push_blobs (h, white_new (), regions[__i__].blobs, regions[__i__].n, regions[__i__].n);
    ccl_test_harness_free (h);
    if (name)
      g_unlink (name);
    g_free (name);
  }
}
GST_END_TEST;

/* The region is drawn anew for each frame size. */
GST_START_TEST (test_region_renegotiation)
{
  static const Blob small = { 0, 0, 4, 2, 8, 1.5, 0.5 }, large = { 0, 0, 12, 10, 120, 5.5, 4.5 };
  GstHarness *h = ccl_test_harness_new (
      ccl_test_element_new (ccl_test_backend (__i__), "include", QUARTER, NULL), "GRAY8", WIDTH,
      HEIGHT);
  guint i;

  for (i = 0; i < 4; i++) {
    GstBuffer *buffer = i % 2 ? ccl_test_black_new (8, 4) : white_new ();

    if (i % 2)
      gst_buffer_memset (buffer, 0, 255, gst_buffer_get_size (buffer));
    ccl_test_set_caps (h, "GRAY8", i % 2 ? 8 : WIDTH, i % 2 ? 4 : HEIGHT);
    ccl_test_push_blobs (h, buffer, i % 2 ? &small : &large, 1, 1);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Errors name the property, the position and the expected token. */
static const struct
{
  const gchar *property, *value, *position, *expected;
} bad_strings[] = {
  { "morphology", "median4", "position 6", "median3 or median5" },
  { "morphology", "median3,blur", "position 8", "median3" },
  { "morphology", "open3", "position 5", "height" },
  { "morphology", "close4x3", "position 5", "odd" },
  { "morphology", "erode3x257", "position 7", "at most 255" },
  { "morphology", "drop", "position 4", "number of pixels" },
  { "morphology", "median3,", "position 8", "median3" },
  { "include", "0,0 1,0", "position 0", "3 corners" },
  { "include", "0,0 1,0 1,1.5", "position 10", "more than 1" },
  { "exclude", "0,0 1 1,1", "position 5", "comma" },
  { "exclude", "0,0 1,0 1,1; x", "position 13", "fraction of the frame" },
};

GST_START_TEST (test_bad_string)
{
  const gchar *texts[] = { bad_strings[__i__].property, bad_strings[__i__].position,
                           bad_strings[__i__].expected };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    ccl_test_check_start_fails (
        ccl_test_element_new ("cpu", bad_strings[__i__].property, bad_strings[__i__].value, NULL),
        GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, texts[i]);
}
GST_END_TEST;

#define TEXT(text) text, sizeof text - 1

static const struct
{
  const gchar *contents;
  gsize size;
  const gchar *text;
} bad_files[] = {
  { TEXT (""), "byte 0: expected 'P5'" },
  { TEXT ("P2 1 1 255 0"), "byte 0: expected 'P5'" },
  { TEXT ("P5"), "byte 2: expected the width" },
  { TEXT ("P5\n0 2\n255\n"), "byte 3: expected the width" },
  { TEXT ("P5 2 -2 255 "), "byte 5: expected the height" },
  { TEXT ("P5 99999999999 1 255 "), "byte 3: expected the width" },
  { TEXT ("P5 2 2 65535 "), "byte 7: expected a maximum value" },
  { TEXT ("P5 2 2 255"), "byte 10: expected white space" },
  { TEXT ("P5 2 2 255\nabc"), "ends at byte 14, before the last of its 2x2 pixels" },
#ifdef HAVE_PNG
  { TEXT ("\211PNG\r\n\032\n"), "not a valid PNG file" },
  { PNG_GREY, sizeof PNG_GREY - 20, "not a valid PNG file" },
  { TEXT (PNG_HUGE), "100000x100000" },
#else
  { TEXT ("\211PNG\r\n\032\n"), "does not read PNG files" },
#endif
};

GST_START_TEST (test_bad_file)
{
  gchar *name = write_file (bad_files[__i__].contents, bad_files[__i__].size);

  ccl_test_check_start_fails (ccl_test_element_new ("cpu", "region-file", name, NULL),
                              GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, bad_files[__i__].text);
  g_unlink (name);
  g_free (name);
}
GST_END_TEST;

GST_START_TEST (test_missing_file)
{
  ccl_test_check_start_fails (
      ccl_test_element_new ("cpu", "region-file", "/no/such/region.pgm", NULL), GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NOT_FOUND, "/no/such/region.pgm");
  ccl_test_check_start_fails (ccl_test_element_new ("cpu", "region-file", "/", NULL),
                              GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, "/");
}
GST_END_TEST;

/* The limits apply from the next frame on, the operations from the next start on. */
GST_START_TEST (test_change_in_playing)
{
  static const struct
  {
    const gchar *name, *value, *reset;
    guint n;
    Blob blobs[3];
  } changes[] = {
    { "min-width", "2", "1", 2, { BOX, BAR } },
    { "min-width", "4", "0", 1, { BOX } },
    { "min-height", "2", "1", 2, { BOX, BAR } },
    { "min-height", "9", "0", 0, { BOX } },
    { "min-relative-area", "0.0125", "0", 2, { BOX, BAR } }, /* 6 pixels */
    { "min-relative-area", "0.0126", "0", 1, { BOX } },
    { "min-relative-area", "1", "0", 0, { BOX } },
    { "min-area", "7", "1", 1, { BOX } },
    { "morphology", "drop7", "", 3, { DOT, BOX, BAR } },
    { "exclude", QUARTER, "", 3, { DOT, BOX, BAR } },
  };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cudaccl backend=%s", ccl_test_backend (__i__));
  guint i;

  for (i = 0; i < G_N_ELEMENTS (changes); i++) {
    gst_util_set_object_arg (G_OBJECT (h->element), changes[i].name, changes[i].value);
    ccl_test_push_blobs (h, mask_new (), changes[i].blobs, changes[i].n, changes[i].n);
    gst_util_set_object_arg (G_OBJECT (h->element), changes[i].name, changes[i].reset);
  }

  g_object_set (h->element, "morphology", "drop7", NULL);
  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
  ccl_test_push_blobs (h, mask_new (), changes[1].blobs, 1, 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A relative minimum above the maximum area gives a warning, too. */
GST_START_TEST (test_area_warning)
{
  GstHarness *h = ccl_test_harness_new (
      ccl_test_element_new ("cpu", "min-relative-area", 0.5, "max-area", (guint64) 239, NULL),
      "GRAY8", WIDTH, HEIGHT);

  gst_harness_set_drop_buffers (h, TRUE);
  gst_harness_push (h, mask_new ());
  fail_unless_equals_int (ccl_test_check_warnings (h, "min-relative-area (240 pixels)"), 1);

  g_object_set (h->element, "min-relative-area", 0.49, NULL);
  gst_harness_push (h, mask_new ());
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_WARNING));
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cudaccloperations_suite (void)
{
  Suite *s = suite_create ("cudaccloperations");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_morphology, 0, G_N_ELEMENTS (lists));
  tcase_add_loop_test (tc, test_region, 0, G_N_ELEMENTS (regions));
  tcase_add_loop_test (tc, test_region_renegotiation, 0, n_backends);
  tcase_add_loop_test (tc, test_bad_string, 0, G_N_ELEMENTS (bad_strings));
  tcase_add_loop_test (tc, test_bad_file, 0, G_N_ELEMENTS (bad_files));
  tcase_add_test (tc, test_missing_file);
  tcase_add_loop_test (tc, test_change_in_playing, 0, n_backends);
  tcase_add_test (tc, test_area_warning);

  return s;
}

GST_CHECK_MAIN (cudaccloperations);
