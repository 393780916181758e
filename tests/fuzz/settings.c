/* cudaccl - fuzzing: the settings of cudaccl-watch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text as a file of settings, raw or made of groups and keys. It is accepted or refused with a
 * message, and what is accepted is what cameras need. */

#include "apps/watch/settings/values.h"
#include "apps/watch/settings/settings.h"
#include "tests/fuzz/input.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSWORD "s3cret%2Fword"

static gchar *folder;

static void
remove_folder (void)
{
  fuzz_check (rmdir (folder) == 0, "something was written");
  g_free (folder);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  gst_init (argc, argv);
  folder = g_dir_make_tmp ("fuzz-XXXXXX", NULL);
  atexit (remove_folder);
  return 0;
}

/* Lines that mostly exist, with values that mostly do not. */
static GString *
make_text (FuzzInput *input)
{
  static const gchar *const lines[] = {
    "[watch]",     "[server]",   "[record]",
    "[mqtt]",      "[kafka]",    "[lines]",
    "[webhooks]",  "[camera a]", "[camera b]",
    "[camera ",    "spool=",     "listen=",
    "pre-roll=",   "size=",      "broker=",
    "prefix=",     "discovery=", "brokers=",
    "topic=",      "urls=",      "kinds=",
    "uri=test://", "uri=",       "record-uri=",
    "zones=",      "tripwires=", "schedule=",
    "classes=",    "enabled=",   "frozen-after=",
    "dwell-time=", "memory=",    "record-uri=rtsp://me:" PASSWORD "@",
    "#",           "data=",
  };
  GString *text = g_string_new (NULL);

  for (guint n = fuzz_below (input, 24); n > 0; n--) {
    g_autofree gchar *value = fuzz_text (input, fuzz_below (input, 48));

    g_string_append_printf (text, "%s%s\n", lines[fuzz_below (input, G_N_ELEMENTS (lines))],
                            fuzz_one_in (input, 3) ? "" : value);
  }
  return text;
}

static void
check_camera (const WatchCameraSettings *camera)
{
  static const gchar *const schemes[] = { "rtsp", "http", "file:///", "v4l2:///dev/", "test://" };
  g_autofree gchar *user = NULL, *password = NULL, *again = NULL,
                   *redacted = watch_uri_redact (camera->uri);
  const gchar *expected;
  gboolean allowed = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    allowed = allowed || g_str_has_prefix (camera->uri, schemes[i]);
  fuzz_check (allowed, "the address %s", camera->uri);
  fuzz_check (!strpbrk (redacted, "?#@"), "%s is not redacted", camera->uri);
  again = watch_parse_camera_uri (camera->uri, &user, &password, &expected);
  fuzz_check (again && g_str_equal (again, camera->uri) && !user, "%s is not stable", camera->uri);
  fuzz_check (!camera->schedule || watch_parse_schedule (camera->schedule), "a schedule");
  watch_schedule_includes (camera->schedule, 1769860800000000);
  fuzz_check (camera->frozen_after >= 1 && camera->frozen_after <= 3600, "frozen-after");
  fuzz_check (!camera->classes || camera->detect, "classes without a network");
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  g_autofree gchar *path = g_build_filename (folder, "conf", NULL), *raw = NULL;
  g_autoptr (GString) made = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings = NULL;

  if (fuzz_one_in (&input, 2))
    raw = fuzz_text (&input, 4096);
  else
    made = make_text (&input);
  settings = watch_settings_parse (path, raw ? raw : made->str, &error);
  fuzz_check ((settings != NULL) == (error == NULL), "neither settings nor an error, or both");
  if (error) {
    fuzz_check (g_str_has_prefix (error->message, path) &&
                    g_utf8_validate (error->message, -1, NULL),
                "the message %s", error->message);
    return 0;
  }
  for (guint i = 0; i < settings->cameras->len; i++)
    check_camera (g_ptr_array_index (settings->cameras, i));
  return 0;
}
