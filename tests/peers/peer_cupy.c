/* cudaccl - ccl-bench: the peer CuPy
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CuPy is a Python library: a child process (peer_cupy.py) receives images through a pipe and
 * answers every command with a line. */

#include "tests/peers/peers.h"

#include "peer_cupy_script.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct State
{
  pid_t child;
  FILE *to, *from;
  size_t pixels;
} State;

static void
cupy_close (void *data)
{
  State *self = data;

  if (self->to)
    fclose (self->to);
  if (self->from)
    fclose (self->from);
  if (self->child > 0)
    waitpid (self->child, NULL, 0);
  free (self);
}

/* Runs in the child; never returns. */
static void
become_python (const int in[2], const int out[2], uint32_t width, uint32_t height,
               unsigned connectivity)
{
  char arguments[3][16];

  snprintf (arguments[0], sizeof arguments[0], "%" PRIu32, width);
  snprintf (arguments[1], sizeof arguments[1], "%" PRIu32, height);
  snprintf (arguments[2], sizeof arguments[2], "%u", connectivity);
  dup2 (in[0], STDIN_FILENO);
  dup2 (out[1], STDOUT_FILENO);
  close (in[0]);
  close (in[1]);
  close (out[0]);
  close (out[1]);
  execlp ("python3", "python3", "-c", peer_cupy_script, arguments[0], arguments[1], arguments[2],
          (char *) NULL);
  _exit (127);
}

/* The number after @word in the next line. */
static bool
read_answer (State *self, const char *word, uint64_t *number)
{
  char line[128];
  size_t length = strlen (word);

  *number = 0;
  return fgets (line, sizeof line, self->from) && strncmp (line, word, length) == 0 &&
         sscanf (line + length, "%" SCNu64, number) == 1;
}

static bool
send_command (State *self, char command)
{
  return putc (command, self->to) != EOF && fflush (self->to) == 0;
}

static void *
cupy_open (uint32_t width, uint32_t height, unsigned connectivity)
{
  State *self = calloc (1, sizeof *self);
  int in[2], out[2];
  uint64_t version;

  if (!self)
    return NULL;
  self->pixels = (size_t) width * height;
  if (pipe (in) != 0) {
    free (self);
    return NULL;
  }
  if (pipe (out) != 0) {
    close (in[0]);
    close (in[1]);
    free (self);
    return NULL;
  }
  signal (SIGPIPE, SIG_IGN); /* without CuPy, the child exits at once */
  self->child = fork ();
  if (self->child == 0)
    become_python (in, out, width, height, connectivity);
  close (in[0]);
  close (out[1]);
  self->to = fdopen (in[1], "w");
  self->from = fdopen (out[0], "r");
  if (self->child < 0 || !self->to || !self->from || !read_answer (self, "ready", &version)) {
    cupy_close (self);
    return NULL;
  }
  return self;
}

static bool
cupy_load (void *data, const uint8_t *pixels)
{
  State *self = data;
  uint64_t size;

  return putc ('l', self->to) != EOF &&
         fwrite (pixels, 1, self->pixels, self->to) == self->pixels && fflush (self->to) == 0 &&
         read_answer (self, "loaded", &size) && size == self->pixels;
}

static bool
cupy_run (void *data, uint64_t *ns)
{
  State *self = data;

  return send_command (self, 'r') && read_answer (self, "ns", ns);
}

static bool
cupy_result (void *data, PeerResult *result)
{
  State *self = data;

  result->area = UINT64_MAX;
  return send_command (self, 'f') && read_answer (self, "found", &result->found);
}

const Peer peer_cupy = {
  .name = "cupy",
  .description = "CuPy, cupyx.scipy.ndimage.label (labels only)",
  .connectivity = 4 | 8,
  .on_device = true,
  .apart = true,
  .open = cupy_open,
  .load = cupy_load,
  .run = cupy_run,
  .result = cupy_result,
  .close = cupy_close,
};
