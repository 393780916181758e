/* cudaccl - tests of the properties of all elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

static const gchar *const names[] = { "cudaccl",   "cclcolor",  "cclmotion",    "cclmask",
                                      "ccltrack",  "cclzones",  "ccljson",      "cclonvif",
                                      "cclmerge",  "ccldetect", "cclonvifread",
#ifdef HAVE_OVERLAY
                                      "ccloverlay"
#endif
};

/* Sets @value to another valid value than the default of @spec. Returns FALSE for types without
 * one. */
static gboolean
get_other (GParamSpec *spec, GValue *value)
{
  g_value_init (value, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (value, !G_PARAM_SPEC_BOOLEAN (spec)->default_value);
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    const GParamSpecUInt *s = G_PARAM_SPEC_UINT (spec);
    g_value_set_uint (value, s->default_value == s->maximum ? s->minimum : s->default_value + 1);
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    const GParamSpecUInt64 *s = G_PARAM_SPEC_UINT64 (spec);
    g_value_set_uint64 (value, s->default_value == s->maximum ? s->minimum : s->default_value + 1);
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *s = G_PARAM_SPEC_INT (spec);
    g_value_set_int (value, s->default_value == s->maximum ? s->minimum : s->default_value + 1);
  } else if (G_IS_PARAM_SPEC_FLOAT (spec)) {
    const GParamSpecFloat *s = G_PARAM_SPEC_FLOAT (spec);
    g_value_set_float (value, s->default_value == s->maximum ? s->minimum : s->maximum);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *s = G_PARAM_SPEC_DOUBLE (spec);
    g_value_set_double (value, s->default_value == s->maximum ? s->minimum : s->maximum);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GParamSpecEnum *s = G_PARAM_SPEC_ENUM (spec);
    g_value_set_enum (value, s->enum_class->values[0].value == s->default_value
                                 ? s->enum_class->values[1].value
                                 : s->enum_class->values[0].value);
  } else if (G_IS_PARAM_SPEC_FLAGS (spec)) {
    const GParamSpecFlags *s = G_PARAM_SPEC_FLAGS (spec);
    g_value_set_flags (value, s->flags_class->mask ^ s->default_value);
  } else if (G_IS_PARAM_SPEC_STRING (spec)) {
    g_value_set_static_string (value, "other");
  } else {
    return FALSE;
  }

  return TRUE;
}

static void
check_value (GObject *object, GParamSpec *spec, const GValue *expected, const gchar *what)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_object_get_property (object, spec->name, &value);
  fail_unless (g_param_values_cmp (spec, &value, expected) == 0, "%s::%s: %s",
               G_OBJECT_TYPE_NAME (object), spec->name, what);
  g_value_unset (&value);
}

/* Properties have their documented defaults, and the values that they are set to. */
GST_START_TEST (test_properties)
{
  GstElement *element = gst_element_factory_make (names[__i__], NULL);
  GObject *object = G_OBJECT (element);
  guint n, i;
  GParamSpec **specs;

  fail_unless (element != NULL);
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  for (i = 0; i < n; i++) {
    GValue other = G_VALUE_INIT;

    if (specs[i]->owner_type == GST_TYPE_OBJECT || g_str_equal (specs[i]->name, "qos") ||
        (specs[i]->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE)
      continue;
    check_value (object, specs[i], g_param_spec_get_default_value (specs[i]), "the default");
    if (get_other (specs[i], &other)) {
      g_object_set_property (object, specs[i]->name, &other);
      check_value (object, specs[i], &other, "another value");
    }
    g_value_unset (&other);
  }
  g_free (specs);
  gst_object_unref (element);
}
GST_END_TEST;

/* A string can be unset, unless the element needs one: then NULL sets the subclass's default.
 * Instances do not share strings. */
GST_START_TEST (test_strings)
{
  static const struct
  {
    const gchar *element, *property, *unset;
  } cases[] = {
    { "cudaccl", "morphology", "none" }, { "cclmotion", "morphology", "auto" },
    { "cclmask", "morphology", "auto" }, { "cclcolor", "roi-type", "blob" },
    { "cudaccl", "include", NULL },      { "ccldetect", "model", NULL },
    { "cclzones", "zones", NULL },       { "ccljson", "source", NULL },
#ifdef HAVE_OVERLAY
    { "ccloverlay", "font", NULL },
#endif
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make (cases[i].element, NULL);
    GstElement *other = gst_element_factory_make (cases[i].element, NULL);
    g_autofree gchar *before = NULL, *set = NULL, *unset = NULL, *after = NULL;

    g_object_get (other, cases[i].property, &before, NULL);
    g_object_set (element, cases[i].property, "other", NULL);
    g_object_get (element, cases[i].property, &set, NULL);
    g_object_set (element, cases[i].property, NULL, NULL);
    g_object_get (element, cases[i].property, &unset, NULL);
    g_object_get (other, cases[i].property, &after, NULL);
    fail_unless_equals_string (set, "other");
    fail_unless_equals_string (unset, cases[i].unset);
    fail_unless_equals_string (before, after);
    gst_object_unref (element);
    gst_object_unref (other);
  }
}
GST_END_TEST;

/* Text of cameras may be in any encoding; the element writes UTF-8. */
GST_START_TEST (test_source)
{
  GstElement *element = gst_element_factory_make ("ccljson", NULL);
  g_autofree gchar *source = NULL;

  g_object_set (element, "source", "caf\xe9", NULL);
  g_object_get (element, "source", &source, NULL);
  fail_unless_equals_string (source, "caf\xef\xbf\xbd");
  gst_object_unref (element);
}
GST_END_TEST;

/* Contexts reach every element, which is not locked then. */
GST_START_TEST (test_context)
{
  GstElement *element = gst_element_factory_make (names[__i__], NULL);
  GstContext *context = gst_context_new ("test.context", FALSE);
  GstContext *got;

  gst_element_set_context (element, context);
  gst_element_set_context (element, context);
  got = gst_element_get_context (element, "test.context");
  fail_unless (got == context);
  gst_context_unref (got);
  gst_context_unref (context);
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
cclproperties_suite (void)
{
  Suite *s = suite_create ("cclproperties");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_properties, 0, G_N_ELEMENTS (names));
  tcase_add_loop_test (tc, test_context, 0, G_N_ELEMENTS (names));
  tcase_add_test (tc, test_strings);
  tcase_add_test (tc, test_source);

  return s;
}

GST_CHECK_MAIN (cclproperties);
