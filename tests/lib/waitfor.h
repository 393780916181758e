/* cudaccl - tests: waits in the main loop
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_WAIT_FOR_H
#define TESTS_LIB_WAIT_FOR_H

#include <gst/check/gstcheck.h>

/* Runs the main loop until @done, a condition, is true, for a minute at most. */
#define WAIT_FOR(done)                                                             \
  G_STMT_START {                                                                   \
    gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;                    \
                                                                                   \
    while (!(done)) {                                                              \
      fail_unless (g_get_monotonic_time () < end, "waited in vain for %s", #done); \
      g_main_context_iteration (NULL, FALSE);                                      \
      g_usleep (10000);                                                            \
    }                                                                              \
  }                                                                                \
  G_STMT_END

#endif /* TESTS_LIB_WAIT_FOR_H */
