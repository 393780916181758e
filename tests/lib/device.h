/* cudaccl - device and pinned memory for tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything works on CUDA device TEST_DEVICE. CUDA errors end the program with a message. In a
 * build without CUDA, test_device_available() is false and nothing else may be called. */

#ifndef TESTS_LIB_DEVICE_H
#define TESTS_LIB_DEVICE_H

#include <cudaccl/ccl.h>

#define TEST_DEVICE 0

bool test_device_available (void);

/* @memory is CCL_MEMORY_DEVICE or CCL_MEMORY_PINNED. */
void *test_device_alloc (CclMemory memory, size_t bytes);
void test_device_free (CclMemory memory, void *pointer);

/* The device's free memory in bytes. */
size_t test_device_free_bytes (void);

/* Allocate all of the device's memory, and free it. */
void *test_device_fill (void);
void test_device_empty (void *ballast);

/* Runs a kernel that traps in the current context, which is lost then. */
void test_device_trap (void);

/* The size of the L2 cache. */
size_t test_device_cache_bytes (void);

/* Copies from host memory; complete on return. */
void test_device_upload (void *device, const void *host, size_t bytes);

/* Copies to host memory, after all work of the default stream; complete on return. */
void test_device_download (void *host, const void *device, size_t bytes);

/* A CUDA array of bytes with a copy of the pixels, which are in host memory. */
void *test_device_array_new (const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height);
void test_device_array_free (void *array);

void *test_device_stream_new (void);
void test_device_stream_free (void *stream);
void test_device_stream_wait (void *stream);

/* Enqueues a copy from pinned memory behind so much other work that it is still pending on
 * return. Until then the memory holds other bytes. */
void test_device_upload_late (void *device, const void *host, size_t bytes, void *stream);

/* Blocks a stream of the current context, and so everything that waits for all streams, for ten
 * seconds or until freed. Freeing it returns whether it was still blocked. */
void *test_device_hold_new (void);
bool test_device_hold_free (void *hold);

/* Makes a context beside the device's primary one, not current. The functions above use the current
 * context. */
void *test_device_context_new (void);
void test_device_context_free (void *context);
void test_device_context_enter (void *context);
void test_device_context_leave (void);
void *test_device_context_current (void);

/* The rate of copies inside the device's memory, read plus written bytes, in GB/s. */
double test_device_rate (void);

#endif
