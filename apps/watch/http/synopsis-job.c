/* cudaccl-watch - makes a synopsis while the cameras are watched
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/synopsis-job.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "apps/web/json.h"
#include "apps/web/reason.h"

/* -20 to 19. */
#define NICE 10

typedef enum
{
  NONE,
  RUNNING,
  DONE,
  FAILED,
} State;

struct _WatchSynopsisJob
{
  gint refs; /* owner and pending callbacks */
  gchar *program, *output;
  State state;
  GSubprocess *process; /* or NULL; with the state NONE, it was cancelled and has not ended yet */
  GDataInputStream *lines;
  guint pending; /* callbacks that must come before the process has ended */
  gchar *camera, *day;
  guint max_seconds;
  gdouble progress;
  JsonObject *result; /* the last line of the process, or NULL */
  gchar *error;
  gchar *reason; /* JSON */
};

static void
unref (WatchSynopsisJob *self)
{
  if (--self->refs > 0)
    return;
  g_clear_object (&self->process);
  g_clear_object (&self->lines);
  g_clear_pointer (&self->result, json_object_unref);
  g_free (self->program);
  g_free (self->output);
  g_free (self->camera);
  g_free (self->day);
  g_free (self->error);
  g_free (self->reason);
  g_free (self);
}

static void
remove_files (WatchSynopsisJob *self)
{
  g_autofree gchar *part = g_strconcat (self->output, ".part", NULL);

  g_unlink (self->output);
  g_unlink (part);
}

/* --- The process --- */

/* Called between fork() and exec(). */
static void
set_up_child (gpointer data)
{
  setpriority (PRIO_PROCESS, 0, NICE);
  /* The process ends with this program, also if that is killed. */
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static WebReason *
get_reason (WatchSynopsisJob *self, const gchar *text)
{
  g_autofree gchar *number = NULL;
  gint signal_number;

  if (text)
    return web_reason_new (WEB_REASON_SYNOPSIS_FAILED, "detail", text, NULL);
  if (!g_subprocess_get_if_signaled (self->process))
    return web_reason_new (WEB_REASON_SYNOPSIS_LOST, NULL);
  signal_number = g_subprocess_get_term_sig (self->process);
  number = g_strdup_printf ("%d", signal_number);
  return web_reason_new (WEB_REASON_SYNOPSIS_KILLED, "signal", number, "detail",
                         g_strsignal (signal_number), NULL);
}

static gchar *
read_argument (JsonNode *node)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!JSON_NODE_HOLDS_VALUE (node))
    return g_strdup ("");
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return json_node_dup_string (node);
  return g_strdup (g_ascii_dtostr (number, sizeof (number), json_node_get_double (node)));
}

/* Returns the reason in a line of the process, or NULL. json-glib's generator does not escape all
 * control characters, so it is written anew. */
static WebReason *
read_reason (JsonObject *result)
{
  JsonNode *node = json_object_get_member (result, "reason");
  JsonObject *given = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  const gchar *code =
      given ? json_object_get_string_member_with_default (given, "code", NULL) : NULL;
  JsonNode *arguments = code ? json_object_get_member (given, "arguments") : NULL;
  GPtrArray *list = g_ptr_array_new ();
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *value;
  WebReason *self;

  if (arguments && JSON_NODE_HOLDS_OBJECT (arguments)) {
    json_object_iter_init (&iter, json_node_get_object (arguments));
    while (json_object_iter_next (&iter, &name, &value)) {
      g_ptr_array_add (list, g_strdup (name));
      g_ptr_array_add (list, read_argument (value));
    }
  }
  g_ptr_array_add (list, NULL);
  self = g_new0 (WebReason, 1);
  self->code = g_strdup (code);
  self->arguments = (gchar **) g_ptr_array_free (list, FALSE);
  self->text = g_strdup (json_object_get_string_member_with_default (result, "error", ""));
  if (!code)
    g_clear_pointer (&self, web_reason_free);
  return self;
}

static void
set_error (WatchSynopsisJob *self)
{
  const gchar *text = self->result
                          ? json_object_get_string_member_with_default (self->result, "error", NULL)
                          : NULL;
  g_autoptr (WebReason) reason = text ? read_reason (self->result) : NULL;

  if (!reason)
    reason = get_reason (self, text);
  self->error = g_strdup (text ? text : reason->text);
  self->reason = web_reason_to_json (reason);
}

/* The process has ended, and all its output was read. */
static void
end (WatchSynopsisJob *self)
{
  gboolean good = g_subprocess_get_successful (self->process) && self->result &&
                  g_file_test (self->output, G_FILE_TEST_EXISTS);

  if (self->state == RUNNING)
    self->state = good ? DONE : FAILED;
  if (self->state == FAILED)
    set_error (self);
  if (self->state != DONE)
    remove_files (self);
  g_clear_object (&self->process);
  g_clear_object (&self->lines);
}

static void
finish_one (WatchSynopsisJob *self)
{
  if (--self->pending == 0)
    end (self);
  unref (self);
}

static void
on_ended (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL);
  finish_one (user_data);
}

/* A line is {"progress": …}, {"error": …}, or the result. */
static void
take_line (WatchSynopsisJob *self, const gchar *line)
{
  g_autoptr (JsonNode) root = json_from_string (line, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;

  if (!object)
    return;
  if (json_object_has_member (object, "progress")) {
    self->progress = json_object_get_double_member_with_default (object, "progress", 0);
    return;
  }
  g_clear_pointer (&self->result, json_object_unref);
  self->result = json_object_ref (object);
}

static void
on_line (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WatchSynopsisJob *self = user_data;
  GDataInputStream *lines = G_DATA_INPUT_STREAM (source);
  g_autofree gchar *line = g_data_input_stream_read_line_finish (lines, result, NULL, NULL);

  if (!line) {
    finish_one (self);
    return;
  }
  take_line (self, line);
  g_data_input_stream_read_line_async (lines, G_PRIORITY_DEFAULT, NULL, on_line, self);
}

static void
follow (WatchSynopsisJob *self)
{
  self->lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->process));
  self->pending = 2;
  self->refs += 2;
  g_data_input_stream_read_line_async (self->lines, G_PRIORITY_DEFAULT, NULL, on_line, self);
  g_subprocess_wait_async (self->process, NULL, on_ended, self);
}

/* --- Interface --- */

WatchSynopsisJob *
watch_synopsis_job_new (const gchar *data)
{
  WatchSynopsisJob *self = g_new0 (WatchSynopsisJob, 1);

  self->refs = 1;
  self->program = g_strdup ("/proc/self/exe");
  self->output = g_build_filename (data, "synopsis.mp4", NULL);
  remove_files (self);
  return self;
}

void
watch_synopsis_job_set_program (WatchSynopsisJob *self, const gchar *program)
{
  g_free (self->program);
  self->program = g_strdup (program);
}

/* Leaves no files behind, even if the main loop no longer runs. */
void
watch_synopsis_job_free (WatchSynopsisJob *self)
{
  watch_synopsis_job_cancel (self);
  if (self->process) {
    g_subprocess_wait (self->process, NULL, NULL);
    remove_files (self);
  }
  unref (self);
}

gboolean
watch_synopsis_job_start (WatchSynopsisJob *self, const WatchSettings *settings,
                          const gchar *camera, const gchar *day, guint seconds, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autofree gchar *camera_option = g_strconcat ("--synopsis=", camera, NULL);
  g_autofree gchar *seconds_option = g_strdup_printf ("--seconds=%u", seconds);

  if (self->process) {
    g_propagate_error (error, web_reason_to_error (web_reason_new (WEB_REASON_SYNOPSIS_BUSY,
                                                                   "camera", self->camera, NULL)));
    return FALSE;
  }
  remove_files (self);
  g_subprocess_launcher_set_child_setup (launcher, set_up_child, NULL, NULL);
  self->process = g_subprocess_launcher_spawn (
      launcher, error, self->program, camera_option, "--day", day, seconds_option, "--settings",
      settings->path, "--data", settings->data, "--output", self->output, "--report", NULL);
  self->state = self->process ? RUNNING : NONE;
  if (!self->process)
    return FALSE;
  g_free (self->camera);
  g_free (self->day);
  self->camera = g_strdup (camera);
  self->day = g_strdup (day);
  self->max_seconds = seconds;
  self->progress = 0;
  g_clear_pointer (&self->result, json_object_unref);
  g_clear_pointer (&self->error, g_free);
  g_clear_pointer (&self->reason, g_free);
  follow (self);
  return TRUE;
}

void
watch_synopsis_job_cancel (WatchSynopsisJob *self)
{
  self->state = NONE;
  if (self->process)
    g_subprocess_force_exit (self->process);
  else
    remove_files (self);
}

static void
add_result (WatchSynopsisJob *self, GString *json)
{
  static const gchar *const names[] = { "objects", "recordings", "unreadable" };
  const gchar *type;

  g_free (watch_synopsis_job_get_video (self, &type, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    web_json_add_int (json, names[i],
                      json_object_get_int_member_with_default (self->result, names[i], 0));
  web_json_add_double (json, "length",
                       json_object_get_double_member_with_default (self->result, "seconds", 0));
  web_json_add_string (json, "video", "/api/synopsis/video");
  web_json_add_string (json, "type", type);
}

void
watch_synopsis_job_describe (WatchSynopsisJob *self, GString *json)
{
  static const gchar *const states[] = { "none", "running", "done", "failed" };

  web_json_add_string (json, "state",
                       self->state == NONE && self->process ? "ending" : states[self->state]);
  if (self->state == NONE)
    return;
  web_json_add_string (json, "camera", self->camera);
  web_json_add_string (json, "day", self->day);
  web_json_add_int (json, "seconds", self->max_seconds);
  web_json_add_double (json, "progress", self->state == DONE ? 1 : self->progress);
  web_json_add_string (json, "error", self->error);
  if (self->reason)
    web_json_add_json (json, "reason", self->reason);
  if (self->state == DONE)
    add_result (self, json);
}

gchar *
watch_synopsis_job_get_video (WatchSynopsisJob *self, const gchar **type, gchar **name)
{
  gboolean jpeg;

  if (self->state != DONE)
    return NULL;
  jpeg = json_object_get_boolean_member_with_default (self->result, "jpeg", FALSE);
  *type = jpeg ? "video/x-matroska" : "video/mp4";
  if (name)
    *name = g_strdup_printf ("%s-%s.%s", self->camera, self->day, jpeg ? "mkv" : "mp4");
  return g_strdup (self->output);
}
