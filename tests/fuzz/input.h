/* cudaccl - fuzzing: reads structured values from a fuzzer's bytes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every input is valid: past its end all values are 0. So a target never refuses an input, and
 * mutations of a good one stay good. */

#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include "tests/lib/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FuzzInput
{
  const uint8_t *data;
  size_t size; /* bytes left */
} FuzzInput;

/* A target implements libFuzzer's functions, which standalone.c calls without libFuzzer. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
int LLVMFuzzerInitialize (int *argc, char ***argv);

/* Ends the program with a message, which the fuzzer takes as a crash, unless @condition holds. */
void fuzz_check (bool condition, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

uint8_t fuzz_u8 (FuzzInput *input);
uint32_t fuzz_u32 (FuzzInput *input);
uint64_t fuzz_u64 (FuzzInput *input);

/* A number below @n, which is at least 1. */
uint32_t fuzz_below (FuzzInput *input, uint32_t n);

/* True once in @n times; false past the end. */
bool fuzz_one_in (FuzzInput *input, uint32_t n);

/* Numbers of which the edges of their type are likely. */
uint32_t fuzz_hostile_u32 (FuzzInput *input);
uint64_t fuzz_hostile_u64 (FuzzInput *input);
double fuzz_hostile_double (FuzzInput *input);

/* Text of at most @most bytes, up to the next byte 0, to be freed with free(). */
char *fuzz_text (FuzzInput *input, size_t most);

/* Draws an image of 0 and 255: noise, lines, blobs, or the input's own bits. */
void fuzz_image (FuzzInput *input, TestImage *image);

/* Fills @pixels with bytes of the input, repeated, or noise. */
void fuzz_bytes (FuzzInput *input, uint8_t *bytes, size_t size);

#endif
