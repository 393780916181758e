/* cudaccl - a fake of CUDA for tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One device whose memory is the host's and whose kernels do nothing: enough to follow the
 * backend's calls, and its reaction when one fails. Frames have no components, unless
 * test_cuda_fake_fill is set. */

#ifndef TESTS_LIB_CUDA_FAKE_H
#define TESTS_LIB_CUDA_FAKE_H

#include "cuda/runtime/api.h"

/* Fills pinned memory. Anything but 0 looks like more components than fit. */
extern int test_cuda_fake_fill;

/* The size of the fake's EGL images. */
#define TEST_CUDA_FAKE_WIDTH 144
#define TEST_CUDA_FAKE_HEIGHT 116

/* The number of devices: 1 or 0. */
extern int test_cuda_fake_devices;

/* Whether streams write values only when the host queries or synchronises them. */
extern bool test_cuda_fake_late_values;

extern const CclCudaApi test_cuda_fake;

#endif
