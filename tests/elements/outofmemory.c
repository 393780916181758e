/* cudaccl - tests of the elements without memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* check-outofmemory [--all]
 *
 * Each of the first 20 000 allocations of the start and five frames fails once, each in a process
 * of its own: with --all each, otherwise one in many. Then there is an error message, or all goes
 * well. GLib aborts if it gets no memory; that is counted apart, and must not be because of an
 * allocation of libcudaccl. After an error as after success, no memory is held that a cycle without
 * failures does not hold, either.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <gst/gst.h>

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST_ALLOCATIONS 20000
#define FRAMES 5
#define WIDTH 64
#define HEIGHT 48
#define SECONDS 20 /* of one process */
#define SHORT_STEP 13
#define MOST_LIBRARIES 32

typedef enum
{
  WENT_WELL,
  CLEAR_ERROR,
  GLIB_ABORT,
  NO_PLUGIN, /* GStreamer fails an assertion where a plugin cannot be loaded */
  /* Failures of ours: */
  SILENT_ERROR,
  CRITICAL,
  ABORT,
  CRASH,
  HANG,
  LEAK,
  N_OUTCOMES,
} Outcome;

static const char *const outcomes[N_OUTCOMES] = { "went well",     "clear errors",
                                                  "GLib's aborts", "plugins not loaded",
                                                  "silent errors", "criticals",
                                                  "aborts",        "crashes",
                                                  "hangs",         "leaks" };

/* Written by a process before it ends, and read by its parent. */
typedef struct
{
  char library[64]; /* whose allocation failed */
  char crash[256];  /* where it crashed, or what is wrong */
  int64_t made;
  bool failed;
} Report;

static Report *report;

/* Of this process. */
static _Atomic int64_t made, held;
static _Atomic int64_t until_0 = -1; /* allocations until one fails; below 0: none fails */

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t count, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);
extern void __libc_free (void *memory);

static void
get_library (const void *address, char *name, size_t size)
{
  Dl_info info;
  const char *slash;

  if (!dladdr (address, &info) || !info.dli_fname) {
    g_strlcpy (name, "?", size);
    return;
  }
  slash = strrchr (info.dli_fname, '/');
  g_strlcpy (name, slash ? slash + 1 : info.dli_fname, size);
}

/* Counts one allocation; returns whether it is to fail. */
static bool
fails (const void *caller)
{
  made++;
  if (until_0 >= 0 && until_0-- == 0) {
    get_library (caller, report->library, sizeof report->library);
    report->failed = true;
    errno = ENOMEM;
    return true;
  }
  held++;
  return false;
}

/* Libraries must find these. */
#pragma GCC visibility push(default)

void *
malloc (size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_malloc (size);
}

void *
calloc (size_t count, size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_calloc (count, size);
}

void *
realloc (void *memory, size_t size)
{
  if (fails (__builtin_return_address (0)))
    return NULL;
  held -= memory != NULL;
  return __libc_realloc (memory, size);
}

void *
memalign (size_t alignment, size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_memalign (alignment, size);
}

void *
aligned_alloc (size_t alignment, size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_memalign (alignment, size);
}

int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  if (fails (__builtin_return_address (0)))
    return ENOMEM;
  *memory = __libc_memalign (alignment, size);
  return *memory ? 0 : ENOMEM;
}

void
free (void *memory)
{
  held -= memory != NULL;
  __libc_free (memory);
}

#pragma GCC visibility pop

static const char *const lines[] = {
  "cudaccl backend=cpu threads=3 features=ellipse+holes+perimeter+luma include=\"0,0 1,0 0,1\" "
  "morphology=median5,close5x11,fill,drop5 post-messages=true",
  "cclcolor backend=cpu",
  "cclmotion warm-up=0 threads=2 ! ccltrack min-persistence=1 ! cclzones zones=\"0,0 60,0 60,40\"",
  "cclmask warm-up=0 scale=2",
};

static void
end (Outcome outcome, const char *what)
{
  if (what)
    g_strlcpy (report->crash, what, sizeof report->crash);
  report->made = made;
  _exit (outcome);
}

static void
check_message (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  until_0 = -1;
  if (strstr (message, "failed to allocate"))
    end (GLIB_ABORT, NULL);
  if (level & G_LOG_LEVEL_ERROR)
    end (ABORT, message);
  if (level & G_LOG_LEVEL_CRITICAL)
    end (g_str_has_prefix (report->library, "ld-") ? NO_PLUGIN : CRITICAL, message);
}

/* Whether GLib called abort(): without a message of its log, where vasprintf() or its own malloc()
 * fails. */
static bool
glib_aborts (void)
{
  void *frames[32];
  int n = backtrace (frames, (int) G_N_ELEMENTS (frames)), i;
  char library[64];
  Dl_info info;

  for (i = 0; i + 1 < n; i++) {
    if (dladdr (frames[i], &info) && info.dli_sname && strcmp (info.dli_sname, "abort") == 0) {
      get_library (frames[i + 1], library, sizeof library);
      return g_str_has_prefix (library, "libglib");
    }
  }

  return false;
}

static void
catch_signal (int number, siginfo_t *info, void *context)
{
  const ucontext_t *where = context;
  Dl_info symbol = { 0 };
  const void *address = NULL;
  char what[256], library[64];

  until_0 = -1;
#if defined __x86_64__
  address = (const void *) where->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  address = (const void *) where->uc_mcontext.pc;
#endif
  dladdr (address, &symbol);
  get_library (address, library, sizeof library);
  snprintf (what, sizeof what, "signal %d in %s of %s", number,
            symbol.dli_sname ? symbol.dli_sname : "a function", library);
  if (number == SIGABRT && glib_aborts ())
    end (GLIB_ABORT, NULL);
  end (number == SIGALRM ? HANG : number == SIGABRT || number == SIGTRAP ? ABORT : CRASH, what);
}

static void
catch_signals (void)
{
  static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM };
  struct sigaction action = { .sa_sigaction = catch_signal, .sa_flags = SA_SIGINFO };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &action, NULL);
}

/* A square that moves. */
static GstBuffer *
frame_new (guint index)
{
  GstBuffer *buffer;
  guint y;

  /* Without memory there is none from GStreamer 1.28 on, but only one allocation fails. */
  do
    buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3 / 2, NULL);
  while (!buffer);
  gst_buffer_memset (buffer, 0, 90, WIDTH * HEIGHT * 3 / 2);
  for (y = 10; y < 30; y++)
    gst_buffer_memset (buffer, y * WIDTH + 5 * index, 220, 20);
  GST_BUFFER_PTS (buffer) = index * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;

  return buffer;
}

static bool
pop_error (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  bool found = message != NULL;

  gst_clear_message (&message);

  return found;
}

static GstFlowReturn
take_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);

  return GST_FLOW_OK;
}

/* A pad without a template, linked with the element's. */
static GstPad *
pad_new (GstElement *element, GstPadDirection direction)
{
  GstPad *pad = gst_object_ref_sink (gst_pad_new (NULL, direction));
  GstPad *peer = gst_element_get_static_pad (element, direction == GST_PAD_SRC ? "sink" : "src");

  if (direction == GST_PAD_SRC) {
    gst_pad_link (pad, peer);
  } else {
    gst_pad_set_chain_function (pad, take_buffer);
    gst_pad_link (peer, pad);
  }
  gst_pad_set_active (pad, TRUE);
  gst_object_unref (peer);

  return pad;
}

static void
pad_free (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  gst_pad_set_active (pad, FALSE);
  if (GST_PAD_IS_SRC (pad))
    gst_pad_unlink (pad, peer);
  else
    gst_pad_unlink (peer, pad);
  gst_object_unref (peer);
  gst_object_unref (pad);
}

static GstFlowReturn
push_frames (GstPad *pad)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "NV12", "width",
                                       G_TYPE_INT, WIDTH, "height", G_TYPE_INT, HEIGHT, "framerate",
                                       GST_TYPE_FRACTION, 25, 1, NULL);
  GstFlowReturn flow = GST_FLOW_OK;
  GstSegment segment;
  guint i;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("memory"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  for (i = 0; i < FRAMES && flow == GST_FLOW_OK; i++)
    flow = gst_pad_push (pad, frame_new (i));
  gst_pad_push_event (pad, gst_event_new_eos ());

  return flow;
}

/* Makes the elements, pushes frames, and frees all. */
static Outcome
run (const char *line)
{
  GError *error = NULL;
  GstElement *element = gst_parse_bin_from_description (line, TRUE, &error);
  bool said = error != NULL, played = false;
  GstPad *src, *sink;
  GstBus *bus;

  g_clear_error (&error);
  if (!element)
    return said ? CLEAR_ERROR : SILENT_ERROR;
  gst_object_ref_sink (element);
  bus = gst_bus_new ();
  gst_element_set_bus (element, bus);
  src = pad_new (element, GST_PAD_SRC);
  sink = pad_new (element, GST_PAD_SINK);
  if (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    played = push_frames (src) == GST_FLOW_OK;
  said |= pop_error (bus);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  pad_free (src);
  pad_free (sink);
  gst_object_unref (element);
  gst_object_unref (bus);

  return played ? WENT_WELL : said ? CLEAR_ERROR : SILENT_ERROR;
}

static Outcome
run_failing (const char *line, int64_t n)
{
  Outcome outcome;

  made = 0;
  until_0 = n;
  outcome = run (line);
  until_0 = -1;

  return outcome;
}

static void
run_with_init (const char *line, int64_t n)
{
  GError *error = NULL;

  made = 0;
  until_0 = n;
  if (!gst_init_check (NULL, NULL, &error))
    end (error ? CLEAR_ERROR : SILENT_ERROR, NULL);
  end (run (line), NULL);
}

/* Twice: the first error of its kind adds types and names that stay. */
static void
run_twice (const char *line, int64_t n)
{
  Outcome outcome = run_failing (line, n);
  int64_t before = held;

  if (outcome < SILENT_ERROR)
    outcome = run_failing (line, n);
  if (outcome < SILENT_ERROR && held > before) {
    char what[64];

    snprintf (what, sizeof what, "%d allocations are left", (int) (held - before));
    end (LEAK, what);
  }
  end (outcome, NULL);
}

static void
run_child (const char *line, int64_t n, bool init)
{
  int null = open ("/dev/null", O_WRONLY);

  /* GLib says why it aborts. */
  if (null >= 0)
    dup2 (null, STDERR_FILENO);
  catch_signals ();
  alarm (SECONDS);
  if (init)
    run_with_init (line, n);
  else
    run_twice (line, n);
}

/* Runs the line in a process, in which allocation @n fails. @init: GStreamer starts there, too. */
static Outcome
fork_child (const char *line, int64_t n, bool init)
{
  pid_t child;
  int status;

  memset (report, 0, sizeof *report);
  fflush (NULL);
  child = fork ();
  if (child == 0)
    run_child (line, n, init);
  if (child < 0 || waitpid (child, &status, 0) != child) {
    perror ("fork");
    exit (EXIT_FAILURE);
  }

  return WIFEXITED (status) && WEXITSTATUS (status) < N_OUTCOMES ? (Outcome) WEXITSTATUS (status)
                                                                 : CRASH;
}

/* How the failures of each library's allocations ended. */
static struct
{
  char name[64];
  guint counts[N_OUTCOMES];
} libraries[MOST_LIBRARIES];

static void
count (const char *name, Outcome outcome)
{
  guint i = 0;

  while (i < MOST_LIBRARIES - 1 && libraries[i].name[0] && strcmp (libraries[i].name, name) != 0)
    i++;
  g_strlcpy (libraries[i].name, name, sizeof libraries[i].name);
  libraries[i].counts[outcome]++;
}

static bool
is_engine (const char *library)
{
  return strncmp (library, "libcudaccl", 10) == 0;
}

/* Fails every @step-th allocation; returns how many ended badly. */
static guint
test_line (const char *line, bool init, int64_t step)
{
  Outcome outcome;
  int64_t all, n;
  guint bad = 0;

  /* The first process may write GStreamer's registry. */
  fork_child (line, -1, init);
  outcome = fork_child (line, -1, init);
  all = report->made;
  printf ("%s%s: %d allocations\n", init ? "GStreamer and " : "", line, (int) all);
  if (outcome != WENT_WELL) {
    printf ("without a failure: %s %s\n", outcomes[outcome], report->crash);
    return 1;
  }
  for (n = 0; n < all && n < MOST_ALLOCATIONS; n += step) {
    outcome = fork_child (line, n, init);
    count (report->failed ? report->library : "did not happen", outcome);
    if (outcome >= SILENT_ERROR || (outcome == GLIB_ABORT && is_engine (report->library))) {
      printf ("allocation %d, of %s: %s: %s\n", (int) n, report->library, outcomes[outcome],
              report->crash);
      bad++;
    }
  }

  return bad;
}

int
main (int argc, char **argv)
{
  int64_t step = argc > 1 && strcmp (argv[1], "--all") == 0 ? 1 : SHORT_STEP;
  guint bad = 0, i, k;

  report = mmap (NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (report == MAP_FAILED)
    return EXIT_FAILURE;
  g_log_set_default_handler (check_message, NULL);
  g_log_set_always_fatal (G_LOG_FLAG_RECURSION | G_LOG_LEVEL_ERROR);
  bad += test_line (lines[0], true, step);

  gst_init (NULL, NULL);
  for (i = 0; i < G_N_ELEMENTS (lines); i++) {
    /* Types and names stay. */
    run (lines[i]);
    bad += test_line (lines[i], false, step);
  }

  for (i = 0; i < MOST_LIBRARIES && libraries[i].name[0]; i++) {
    printf ("%s:", libraries[i].name);
    for (k = 0; k < N_OUTCOMES; k++)
      if (libraries[i].counts[k] > 0)
        printf (" %u %s", libraries[i].counts[k], outcomes[k]);
    printf ("\n");
  }
  printf ("%u ended badly\n", bad);

  return bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
