/* cudaccl - whether a sanitizer is compiled in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_SANITIZER_H
#define TESTS_LIB_SANITIZER_H

/* 1: with the address or the thread sanitizer, for which GCC has macros and clang features. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TEST_SANITIZER 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZER 1
#endif
#endif
#ifndef TEST_SANITIZER
#define TEST_SANITIZER 0
#endif

#endif
