/* cudaccl - device and page-locked memory for tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of it works on CUDA device TEST_DEVICE. Failures of CUDA end the program with its message. In
 * a build without CUDA nothing is available, and the rest must not be called. */

#ifndef TESTS_COMMON_DEVICE_H
#define TESTS_COMMON_DEVICE_H

#include "ccl/ccl.h"

#define TEST_DEVICE 0

bool test_device_available (void);

/* @memory is CCL_MEMORY_DEVICE or CCL_MEMORY_PINNED. */
void *test_device_alloc (CclMemory memory, size_t bytes);
void test_device_free (CclMemory memory, void *pointer);

/* How much of the device's memory nobody has. */
size_t test_device_free_bytes (void);

/* The size of the cache between the device and its memory. */
size_t test_device_cache_bytes (void);

/* From host memory; done on return. */
void test_device_upload (void *device, const void *host, size_t bytes);

/* A CUDA array of bytes with these pixels, which are in host memory. */
void *test_device_array_new (const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height);
void test_device_array_free (void *array);

void *test_device_stream_new (void);
void test_device_stream_free (void *stream);
void test_device_stream_wait (void *stream);

/* From page-locked memory; on return it is not over, since enough work is enqueued on the stream
 * before it. In the meantime the memory holds other bytes. */
void test_device_upload_late (void *device, const void *host, size_t bytes, void *stream);

/* Holds up a stream of the current context, and with it what waits for such streams, as its legacy
 * stream does: for ten seconds, or until it is freed, which tells whether it held until then. */
void *test_device_hold_new (void);
bool test_device_hold_free (void *hold);

/* A context of its own, beside the device's primary one, and made current by nobody. While a
 * context is current, the functions above work in it. */
void *test_device_context_new (void);
void test_device_context_free (void *context);
void test_device_context_enter (void *context);
void test_device_context_leave (void);
void *test_device_context_current (void);

/* The rate at which the device copies in its own memory, read and written bytes together, in GB/s.
 */
double test_device_rate (void);

#endif
