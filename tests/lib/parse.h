/* cudaccl - command lines of tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_PARSE_H
#define TESTS_LIB_PARSE_H

#include <cudaccl/ccl.h>

#include <stddef.h>

/* An option of a command line, --name or --name=ARGUMENT. It sets a member of the structure that
 * the options are parsed into, or calls a function with that structure. */
typedef struct TestOption
{
  const char *name; /* NULL ends a table */
  enum
  {
    TEST_FLAG,     /* no argument; the member is a bool and becomes true */
    TEST_TEXT,     /* the member is a const char * */
    TEST_NUMBER,   /* the member is a uint32_t; the argument is from @least to @most */
    TEST_CALL,     /* @call gets the argument */
    TEST_CALL_FLAG /* no argument; @call gets NULL */
  } kind;
  size_t member; /* offset in the structure */
  uint32_t least, most;
  void (*call) (void *data, const char *argument);
  bool early; /* handled before the others, wherever it stands */
} TestOption;

/* Parses the command line into @data. --help prints @usage and exits with 0; anything that is not
 * an option of the table ends the program with a message of @program. */
void test_parse_options (const TestOption *options, const char *program, const char *usage,
                         int argc, char **argv, void *data);

/* Parses a number at *@text and moves *@text behind it. Ends the program if there is none in
 * range. */
uint64_t test_parse_number (const char **text, uint64_t least, uint64_t most);

/* The same; nothing may follow. */
uint64_t test_parse_whole_number (const char *text, uint64_t least, uint64_t most);

/* Ends the program unless @text, the rest of an argument, is empty. */
void test_parse_end (const char *text);

/* The value of "NAME=VALUE" in @argument, or NULL. */
const char *test_argument_value (const char *argument, const char *name);

/* cpu, cuda or auto. */
CclBackend test_parse_backend (const char *name);

#endif
