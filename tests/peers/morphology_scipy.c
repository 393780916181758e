/* cudaccl - ccl-bench morphology: SciPy's binary_fill_holes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A child process (morphology_scipy.py) gets masks through a pipe and sends them back. */

#include "tests/peers/peers.h"

#include "morphology_scipy_script.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const char *morphology_python = "python3";

static FILE *to_python, *from_python;
static bool started;

static void
start (void)
{
  int in[2], out[2];
  char line[32];
  pid_t child;

  started = true;
  if (pipe (in) != 0 || pipe (out) != 0)
    return;
  signal (SIGPIPE, SIG_IGN); /* where there is no SciPy, the child is gone at once */
  child = fork ();
  if (child == 0) {
    dup2 (in[0], STDIN_FILENO);
    dup2 (out[1], STDOUT_FILENO);
    close (in[0]);
    close (in[1]);
    close (out[0]);
    close (out[1]);
    execlp (morphology_python, morphology_python, "-c", morphology_scipy_script, (char *) NULL);
    _exit (127);
  }
  close (in[0]);
  close (out[1]);
  to_python = fdopen (in[1], "w");
  from_python = fdopen (out[0], "r");
  if (child > 0 && to_python && from_python && fgets (line, sizeof line, from_python) &&
      strcmp (line, "ready\n") == 0)
    return;
  fprintf (stderr, "%s has no SciPy; name one that does with --python\n", morphology_python);
  to_python = NULL;
}

static uint64_t
run (const CclOperation *operation, const uint8_t *from, uint8_t *to, uint32_t width,
     uint32_t height)
{
  size_t pixels = (size_t) width * height;
  char line[32];
  uint64_t ns;

  if (operation->kind != CCL_OPERATION_FILL || operation->size > 0)
    return 0;
  if (!started)
    start ();
  if (!to_python || fprintf (to_python, "%" PRIu32 " %" PRIu32 "\n", width, height) < 0 ||
      fwrite (from, 1, pixels, to_python) < pixels || fflush (to_python) != 0 ||
      !fgets (line, sizeof line, from_python) || sscanf (line, "%" SCNu64, &ns) != 1 ||
      fread (to, 1, pixels, from_python) < pixels)
    return 0;
  return ns;
}

const MorphologyPeer morphology_scipy = { "SciPy", run };
