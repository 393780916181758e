/* cudaccl - the last error of each thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[512];

CclStatus
ccl_fail (CclStatus status, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (last_error, sizeof last_error, format, args);
  va_end (args);
  return status;
}

CclStatus
ccl_fail_without_cuda (void)
{
  return ccl_fail (CCL_ERROR_UNSUPPORTED,
                   "this build has no CUDA backend; build where nvcc is installed, or use backend "
                   "cpu, or backend auto with any device");
}

CclStatus
ccl_fail_without_papers (const char *algorithm)
{
  return ccl_fail (CCL_ERROR_UNSUPPORTED,
                   "algorithm %s is not in this build; choose auto or a listed one, or build with "
                   "-Dpapers=true",
                   algorithm);
}

const char *
ccl_last_error (void)
{
  return last_error;
}

const char *
ccl_status_name (CclStatus status)
{
  switch (status) {
  case CCL_OK:
    return "CCL_OK";
  case CCL_ERROR_INVALID:
    return "CCL_ERROR_INVALID";
  case CCL_ERROR_UNSUPPORTED:
    return "CCL_ERROR_UNSUPPORTED";
  case CCL_ERROR_NO_DEVICE:
    return "CCL_ERROR_NO_DEVICE";
  case CCL_ERROR_NO_MEMORY:
    return "CCL_ERROR_NO_MEMORY";
  case CCL_ERROR_DEVICE:
    return "CCL_ERROR_DEVICE";
  }
  return "unknown";
}

const char *
ccl_version (void)
{
  return PACKAGE_VERSION;
}
