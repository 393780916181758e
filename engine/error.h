/* cudaccl - the last error of each thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ERROR_H
#define CCL_ERROR_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the message of ccl_last_error() and returns @status. */
CclStatus ccl_fail (CclStatus status, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The same for functions that need the CUDA backend, in builds without it. */
CclStatus ccl_fail_without_cuda (void);

/* The same for an algorithm that CclBackendClass.lacks(). */
CclStatus ccl_fail_without_papers (const char *algorithm);

#ifdef __cplusplus
}
#endif

#endif
