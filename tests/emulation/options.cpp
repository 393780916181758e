/* cudaccl - emulation: options
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/emulation/emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint32_t random_state = 1;

static Options options;

static void
set_option (const char *name, size_t length, uint64_t value)
{
  const struct
  {
    const char *name;
    bool *flag;
    uint32_t *number;
  } table[] = {
    { "seed", NULL, &options.seed },
    { "processors", NULL, &options.processors },
    { "delay-stores", &options.delay_stores, NULL },
    { "races", &options.find_races, NULL },
    { "uninitialised", &options.find_uninitialised, NULL },
    { "cooperative", &options.cooperative, NULL },
    { "integrated", &options.integrated, NULL },
    { "capture", &options.capture, NULL },
    { "overlap", &options.overlap, NULL },
  };

  for (const auto &o : table) {
    if (strlen (o.name) != length || memcmp (o.name, name, length) != 0)
      continue;
    if (o.flag)
      *o.flag = value != 0;
    else
      *o.number = (uint32_t) value;
    return;
  }
  fprintf (stderr, "CCL_EMULATION: no option '%.*s'; there are:", (int) length, name);
  for (const auto &o : table)
    fprintf (stderr, " %s", o.name);
  fprintf (stderr, "\n");
  exit (2);
}

static void
parse_options (const char *text)
{
  while (*text) {
    size_t length = strcspn (text, "=,");
    uint64_t value = 1;
    char *end = (char *) text + length;

    if (*end == '=')
      value = strtoull (end + 1, &end, 10);
    set_option (text, length, value);
    if (*end && *end != ',') {
      fprintf (stderr, "CCL_EMULATION: no number: %s\n", text);
      exit (2);
    }
    text = *end ? end + 1 : end;
  }
}

const Options *
options_get (void)
{
  static bool ready;
  const char *text;

  if (ready)
    return &options;
  ready = true;
  text = getenv ("CCL_EMULATION");
  options.seed = (uint32_t) time (NULL);
  options.processors = 3;
  options.delay_stores = options.find_races = options.find_uninitialised = true;
  options.cooperative = options.capture = options.overlap = true;
  options.memory = (uint64_t) 4 << 30;
  if (text)
    parse_options (text);
  fprintf (stderr, "emulated CUDA device: CCL_EMULATION=seed=%u\n", options.seed);
  return &options;
}
