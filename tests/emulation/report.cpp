/* cudaccl - emulation: reports
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/emulation/emulation.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Asks addr2line, which comes with the compiler. */
const char *
report_name (const void *address, bool function)
{
  static char name[512];
  char command[512], lines[2][512] = { "", "" };
  char program[256];
  ssize_t length = readlink ("/proc/self/exe", program, sizeof program - 1);
  Dl_info info;
  FILE *output;

  snprintf (name, sizeof name, "%p", address);
  if (!address || length < 0 || !dladdr (address, &info))
    return name;
  program[length] = 0;
  snprintf (command, sizeof command, "addr2line -Cfse '%s' %#zx 2>/dev/null", program,
            (size_t) ((const char *) address - (const char *) info.dli_fbase) - !function);
  output = popen (command, "r");
  if (!output)
    return name;
  for (char *line : { lines[0], lines[1] }) {
    if (fgets (line, sizeof lines[0], output))
      line[strcspn (line, "\n(")] = 0;
  }
  pclose (output);
  if (function && lines[0][0] && lines[0][0] != '?')
    snprintf (name, sizeof name, "%.500s", lines[0]);
  if (!function && lines[1][0] && lines[1][0] != '?')
    snprintf (name, sizeof name, "%.200s, %.200s", lines[0], lines[1]);
  return name;
}

void
report (const void *where, const char *format, ...)
{
  const Thread *thread = current;
  va_list args;

  fflush (stdout);
  fprintf (stderr, "\nemulation: ");
  va_start (args, format);
  vfprintf (stderr, format, args);
  va_end (args);
  fprintf (stderr, "\n");
  if (where)
    fprintf (stderr, "  at %s\n", report_name (where, false));
  if (thread) {
    const Block *block = thread->block;

    fprintf (stderr, "  in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)\n",
             report_name (block->grid->kernel, true), block->index.x, block->index.y,
             block->index.z, thread->index.x, thread->index.y, thread->index.z);
  }
  fprintf (stderr, "  repeat with CCL_EMULATION=seed=%u and the program's seed\n",
           options_get ()->seed);
  fflush (stderr);
  current = NULL;
  abort ();
}

/* The undefined-behaviour sanitizer ends the program by abort(), whose handler says where. */
extern "C" __attribute__ ((visibility ("default"), used)) const char *
__ubsan_default_options (void)
{
  return "abort_on_error=1:print_stacktrace=0";
}

extern "C" __attribute__ ((visibility ("default"), used)) void
__ubsan_on_report (void)
{
  if (current) {
    const Block *block = current->block;

    fprintf (stderr, "emulation: in kernel %s, block (%u,%u,%u), thread (%u,%u,%u), seed=%u:\n",
             report_name (block->grid->kernel, true), block->index.x, block->index.y,
             block->index.z, current->index.x, current->index.y, current->index.z,
             options_get ()->seed);
  }
}
