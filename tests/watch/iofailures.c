/* cudaccl-watch - tests of failures of I/O
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* check-watch-iofailures [--step N] [--seed N] [--jobs N]
 *
 * The n-th call that concerns the database or the media fails, once or from then on, in a process
 * that records. Nothing crashes or hangs, the failure is told, and recording goes on by itself when
 * it ends. After a restart, everything that others were told is there, once and unchanged. A short
 * run takes two calls of each kind and file; with --step, each N-th call fails. */

#include "tests/watch/iofailures.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/removetree.h"

#define SECONDS 120 /* of one process */
#define SPACE (G_GUINT64_CONSTANT (512) << 20)
#define DEFAULT_JOBS 8 /* they wait most of the time */

typedef struct
{
  const gchar *name;
  guint kinds;
  int error;
  gboolean partial, lasts;
} Mode;

#define CHANGES (IO_FAULT_ALL & ~IO_FAULT_READS)

static const Mode modes[] = {
  { "ENOSPC once", CHANGES, ENOSPC, FALSE, FALSE },
  { "EIO once", CHANGES, EIO, FALSE, FALSE },
  { "a short write once", IO_FAULT_WRITES, 0, FALSE, FALSE },
  { "ENOSPC from then on", CHANGES, ENOSPC, TRUE, TRUE },
  { "EIO from then on", CHANGES, EIO, FALSE, TRUE },
  { "EIO of a read", IO_FAULT_READS, EIO, FALSE, FALSE },
  { "EIO of reads from then on", IO_FAULT_READS, EIO, FALSE, TRUE },
};

typedef struct
{
  const IoScenario *scenario;
  const Mode *mode; /* NULL: nothing fails */
  gint64 call;
  gboolean heals, killed;
} Plan;

static IoCase *current; /* of this process */

/* --- For scenarios --- */

void
io_case_fail (IoCase *self, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_vsnprintf (self->error, sizeof self->error, format, args);
  va_end (args);
  _exit (EXIT_FAILURE);
}

void
io_case_heal (IoCase *self)
{
  self->fault.fail_end = 0;
}

gchar *
io_make_folder (void)
{
  static const gchar memory[] = "/dev/shm";
  struct statvfs space;
  gchar *folder;

  /* Nothing waits for a disk there. */
  if (statvfs (memory, &space) == 0 && g_access (memory, W_OK) == 0 &&
      (guint64) space.f_bavail * space.f_frsize > SPACE)
    folder = g_mkdtemp (g_build_filename (memory, "watch-io-XXXXXX", NULL));
  else
    folder = g_dir_make_tmp ("watch-io-XXXXXX", NULL);
  if (!folder)
    g_error ("no folder: %s", g_strerror (errno));
  return folder;
}

gboolean
io_case_has_message (IoCase *self, const gchar *text, const gchar *other)
{
  for (guint i = 0; i < MIN (self->n_messages, MAX_MESSAGES); i++)
    if (strstr (self->messages[i], text) && strstr (self->messages[i], other))
      return TRUE;
  return FALSE;
}

/* --- Processes --- */

static void
take_message (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  static GMutex lock;

  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    io_case_fail (current, "%s", message);
  if (!(level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE)))
    return;
  g_mutex_lock (&lock);
  if (current->n_messages < MAX_MESSAGES)
    g_strlcpy (current->messages[current->n_messages], message, sizeof current->messages[0]);
  current->n_messages++;
  g_mutex_unlock (&lock);
}

gboolean
io_case_run_process (IoCase *self, void (*func) (IoCase *self), const gchar *name)
{
  pid_t child = fork ();
  int status;

  if (child == 0) {
    current = self;
    alarm (SECONDS);
    func (self);
    _exit (EXIT_SUCCESS);
  }
  if (child < 0 || waitpid (child, &status, 0) != child) {
    g_snprintf (self->error, sizeof self->error, "no process: %s", g_strerror (errno));
    return FALSE;
  }
  if (WIFSIGNALED (status))
    g_snprintf (self->error, sizeof self->error, "%s: %s", name,
                WTERMSIG (status) == SIGALRM ? "hangs" : g_strsignal (WTERMSIG (status)));
  else if (WEXITSTATUS (status) && !self->error[0])
    g_snprintf (self->error, sizeof self->error, "%s: exit %d", name, WEXITSTATUS (status));
  return !self->error[0];
}

static const IoScenario *scenario_of_process;

static void
run_failing (IoCase *self)
{
  scenario_of_process->begin (self);
  io_fault = &self->fault;
  scenario_of_process->run (self);
}

static void *
share (gsize size)
{
  void *memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED)
    g_error ("no memory");
  return memory;
}

static gboolean
run_case (IoCase *self, const Plan *plan)
{
  g_autofree gchar *folder = io_make_folder ();
  gboolean ok;

  memset (self, 0, sizeof *self);
  g_strlcpy (self->folder, folder, sizeof self->folder);
  g_snprintf (self->fault.folder, sizeof self->fault.folder, "%s%s", folder,
              plan->scenario->folder);
  self->heals = plan->heals;
  self->killed = plan->killed;
  self->fault.kinds = plan->mode ? plan->mode->kinds : IO_FAULT_ALL;
  if (plan->mode) {
    self->fault.error = plan->mode->error;
    self->fault.partial = plan->mode->partial;
    self->fault.fail_at = plan->call;
    self->fault.fail_end = plan->mode->lasts ? G_MAXINT64 : plan->call + 1;
  }
  scenario_of_process = plan->scenario;
  ok = io_case_run_process (self, run_failing, "running") &&
       io_case_run_process (self, plan->scenario->check, "after a restart");
  remove_tree (folder);
  return ok;
}

/* --- Which calls fail --- */

/* Takes the first call of each kind and file, and one more: rare ones matter as much. With @step,
 * takes each of that many. */
static void
add_plans (GArray *plans, const IoScenario *scenario, const IoCase *trace, const Mode *mode,
           guint step, GRand *random)
{
  g_autoptr (GHashTable) classes =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  const gint64 n = MIN (trace->fault.calls, IO_FAULT_TRACE);
  gint64 number = 0;
  GHashTableIter iter;
  gpointer value;

  for (gint64 i = 0; i < n; i++) {
    const guint kind = trace->fault.trace[i].kind;
    /* With a step, each call is its own. */
    const guint class = step ? (guint) number : kind * 256 + trace->fault.trace[i].file;
    GArray *calls = g_hash_table_lookup (classes, GUINT_TO_POINTER (class));
    gint64 call;

    if (!(mode->kinds & 1u << kind))
      continue;
    call = number++;
    if (step && (guint) call % step)
      continue;
    if (!calls) {
      calls = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_hash_table_insert (classes, GUINT_TO_POINTER (class), calls);
    }
    g_array_append_val (calls, call);
  }
  g_hash_table_iter_init (&iter, classes);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const GArray *calls = value;

    for (guint i = 0; i < MIN (calls->len, 2); i++) {
      const guint which = i ? (guint) g_rand_int_range (random, 1, (gint32) calls->len) : 0;
      const Plan plan = { scenario, mode, g_array_index (calls, gint64, which),
                          !mode->lasts || g_rand_int_range (random, 0, 4) > 0,
                          g_rand_boolean (random) };

      g_array_append_val (plans, plan);
    }
  }
}

typedef struct
{
  _Atomic gint next;
  _Atomic gint bad, happened;
} Progress;

static void
run_worker (const GArray *plans, Progress *progress)
{
  IoCase *self = share (sizeof *self);

  for (;;) {
    const guint i = (guint) progress->next++;
    const Plan *plan;
    gboolean ok;

    if (i >= plans->len)
      return;
    plan = &g_array_index (plans, Plan, i);
    ok = run_case (self, plan);
    progress->happened += self->fault.failed > 0;
    if (ok)
      continue;
    progress->bad++;
    printf ("%s, call %d (%s), %s%s%s: %s\n", plan->scenario->name, (int) plan->call,
            self->fault.first, plan->mode->name, plan->heals ? "" : ", does not end",
            plan->killed ? ", killed" : "", self->error);
    for (guint k = 0; k < MIN (self->n_messages, 8); k++)
      printf ("    log: %s\n", self->messages[k]);
    fflush (stdout);
  }
}

/* Leaves some of the plans from @begin on. */
static void
choose (GArray *plans, guint begin, guint most, GRand *random)
{
  while (plans->len - begin > most)
    g_array_remove_index_fast (
        plans, (guint) g_rand_int_range (random, (gint32) begin, (gint32) plans->len));
}

static gboolean
run_plans (const GArray *plans, guint jobs)
{
  Progress *progress = share (sizeof *progress);

  fflush (NULL);
  for (guint i = 0; i < jobs; i++) {
    if (fork () == 0) {
      run_worker (plans, progress);
      _exit (EXIT_SUCCESS);
    }
  }
  while (wait (NULL) > 0)
    ;
  printf ("%u cases, in %d of them a call failed: %d ended badly\n", plans->len,
          (int) progress->happened, (int) progress->bad);
  return progress->bad == 0 && progress->next >= (gint) plans->len;
}

/* Nothing fails: counts the calls. */
static gboolean
trace_calls (IoCase *self, const IoScenario *scenario)
{
  const Plan plan = { scenario, NULL, -1, TRUE, FALSE };

  if (run_case (self, &plan))
    return TRUE;
  printf ("%s without a failure: %s\n", scenario->name, self->error);
  return FALSE;
}

int
main (int argc, char **argv)
{
  static const IoScenario *const scenarios[] = { &io_store, &io_removed, &io_media };
  gint step = 0, jobs = DEFAULT_JOBS, seed = 0, call = -1, mode = 0;
  gboolean ok = TRUE;
  gchar *only = NULL;
  const GOptionEntry entries[] = {
    { "step", 0, 0, G_OPTION_ARG_INT, &step, "Fail each N-th call", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "Choose as a former run did", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &jobs, "Cases at a time", "N" },
    { "call", 0, 0, G_OPTION_ARG_INT, &call, "Fail this call only", "N" },
    { "mode", 0, 0, G_OPTION_ARG_INT, &mode, "How it fails", "0 to 6" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only, "One scenario", "NAME" },
    { NULL },
  };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) plans = g_array_new (FALSE, FALSE, sizeof (Plan));
  g_autoptr (GRand) random = NULL;
  IoCase *trace = share (sizeof *trace);

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return EXIT_FAILURE;
  }
  gst_init (NULL, NULL);
  g_log_set_default_handler (take_message, NULL);
  if (!seed)
    seed = (gint) (g_random_int () >> 1);
  random = g_rand_new_with_seed ((guint32) seed);
  printf ("seed %d\n", seed);
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++) {
    const IoScenario *scenario = scenarios[i];
    guint begin;

    if (only && !g_str_equal (only, scenario->name))
      continue;
    memset (trace, 0, sizeof *trace);
    if (!scenario->prepare (trace)) {
      printf ("%s: %s\n", scenario->name, trace->error);
      continue;
    }
    if (!trace_calls (trace, scenario)) {
      ok = FALSE;
      continue;
    }
    printf ("%s: %d calls\n", scenario->name, (int) trace->fault.calls);
    if (call >= 0) {
      const Plan plan = { scenario, &modes[CLAMP (mode, 0, (gint) G_N_ELEMENTS (modes) - 1)], call,
                          TRUE, FALSE };

      g_array_append_val (plans, plan);
      continue;
    }
    begin = plans->len;
    for (guint m = 0; m < G_N_ELEMENTS (modes); m++)
      add_plans (plans, scenario, trace, &modes[m], (guint) step, random);
    if (!step)
      choose (plans, begin, scenario->most, random);
  }
  ok &= run_plans (plans, (guint) jobs);
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++)
    scenarios[i]->clean_up ();
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
