/* cudaccl - command lines of tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/parse.h"
#include "tests/lib/image.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 64
#define HELP 1000 /* what getopt_long() returns for --help; for others, their index and FIRST */
#define FIRST 1001

static void
set_option (const TestOption *option, void *data, const char *argument)
{
  void *member = (char *) data + option->member;

  switch (option->kind) {
  case TEST_FLAG:
    *(bool *) member = true;
    break;
  case TEST_TEXT:
    *(const char **) member = argument;
    break;
  case TEST_NUMBER:
    *(uint32_t *) member =
        (uint32_t) test_parse_whole_number (argument, option->least, option->most);
    break;
  default:
    option->call (data, argument);
    break;
  }
}

void
test_parse_options (const TestOption *options, const char *program, const char *usage, int argc,
                    char **argv, void *data)
{
  struct option table[MOST_OPTIONS] = { { "help", no_argument, NULL, HELP } };
  int found;

  for (int i = 0; options[i].name && i < MOST_OPTIONS - 2; i++) {
    bool flag = options[i].kind == TEST_FLAG || options[i].kind == TEST_CALL_FLAG;

    table[i + 1] =
        (struct option){ options[i].name, flag ? no_argument : required_argument, NULL, FIRST + i };
  }
  for (int early = 1; early >= 0; early--) {
    optind = 0; /* from the start */
    while ((found = getopt_long (argc, argv, "", table, NULL)) != -1) {
      if (found == HELP) {
        fputs (usage, stdout);
        exit (EXIT_SUCCESS);
      }
      if (found < FIRST) {
        fprintf (stderr, "Try %s --help.\n", program);
        exit (EXIT_FAILURE);
      }
      if (options[found - FIRST].early == early)
        set_option (&options[found - FIRST], data, optarg);
    }
  }
  if (optind < argc)
    test_fatal ("'%s' is not an option; try %s --help", argv[optind], program);
}

uint64_t
test_parse_number (const char **text, uint64_t least, uint64_t most)
{
  char *end;
  unsigned long long value;

  errno = 0;
  value = strtoull (*text, &end, 10);
  if (errno || end == *text || **text == '-' || value < least || value > most)
    test_fatal ("'%s' is not a number from %" PRIu64 " to %" PRIu64, *text, least, most);
  *text = end;
  return value;
}

void
test_parse_end (const char *text)
{
  if (*text)
    test_fatal ("unexpected '%s'; try --help", text);
}

uint64_t
test_parse_whole_number (const char *text, uint64_t least, uint64_t most)
{
  uint64_t value = test_parse_number (&text, least, most);

  test_parse_end (text);
  return value;
}

const char *
test_argument_value (const char *argument, const char *name)
{
  size_t length = strlen (name);

  if (strncmp (argument, name, length) != 0 || argument[length] != '=')
    return NULL;
  return argument + length + 1;
}

CclBackend
test_parse_backend (const char *name)
{
  if (strcmp (name, "cuda") == 0)
    return CCL_BACKEND_CUDA;
  if (strcmp (name, "cpu") == 0)
    return CCL_BACKEND_CPU;
  if (strcmp (name, "auto") != 0)
    test_fatal ("no backend '%s'; use cpu or cuda", name);
  return CCL_BACKEND_AUTO;
}
