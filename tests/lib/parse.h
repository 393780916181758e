/* cudaccl - what command lines of tests and benchmarks have in common
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_COMMON_PARSE_H
#define TESTS_COMMON_PARSE_H

#include "ccl/ccl.h"

/* A number at *@text, which moves behind it. What is no such number ends the program. */
uint64_t test_parse_number (const char **text, uint64_t least, uint64_t most);

/* The same where nothing may follow. */
uint64_t test_parse_whole_number (const char *text, uint64_t least, uint64_t most);

/* Ends the program unless @text, what is left of an argument, is empty. */
void test_parse_end (const char *text);

/* cpu, cuda or auto. */
CclBackend test_parse_backend (const char *name);

#endif
