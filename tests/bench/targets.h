/* cudaccl - ccl-bench targets: this project's targets
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_TARGETS_H
#define TESTS_BENCH_TARGETS_H

/* The main function of ccl-bench targets; @argv[0] is "targets". */
int targets_main (int argc, char **argv);

#endif
