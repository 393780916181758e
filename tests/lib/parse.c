/* cudaccl - what command lines of tests and benchmarks have in common
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/parse.h"
#include "tests/lib/image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t
test_parse_number (const char **text, uint64_t least, uint64_t most)
{
  char *end;
  unsigned long long value;

  errno = 0;
  value = strtoull (*text, &end, 10);
  if (errno || end == *text || **text == '-' || value < least || value > most)
    test_fatal ("'%s' does not begin with a number from %" PRIu64 " to %" PRIu64, *text, least,
                most);
  *text = end;
  return value;
}

void
test_parse_end (const char *text)
{
  if (*text)
    test_fatal ("'%s' is too much; try --help", text);
}

uint64_t
test_parse_whole_number (const char *text, uint64_t least, uint64_t most)
{
  uint64_t value = test_parse_number (&text, least, most);

  test_parse_end (text);
  return value;
}

CclBackend
test_parse_backend (const char *name)
{
  if (strcmp (name, "cuda") == 0)
    return CCL_BACKEND_CUDA;
  if (strcmp (name, "cpu") == 0)
    return CCL_BACKEND_CPU;
  if (strcmp (name, "auto") != 0)
    test_fatal ("there is no backend '%s': it is cpu or cuda", name);
  return CCL_BACKEND_AUTO;
}
