/* cudaccl - fuzzing: reads structured values from a fuzzer's bytes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/input.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
fuzz_check (bool condition, const char *format, ...)
{
  va_list args;

  if (condition)
    return;
  va_start (args, format);
  vfprintf (stderr, format, args);
  va_end (args);
  fputc ('\n', stderr);
  abort ();
}

static uint64_t
take (FuzzInput *input, size_t bytes)
{
  uint64_t value = 0;

  for (size_t i = 0; i < bytes && input->size > 0; i++) {
    value |= (uint64_t) *input->data++ << 8 * i;
    input->size--;
  }
  return value;
}

uint8_t
fuzz_u8 (FuzzInput *input)
{
  return (uint8_t) take (input, 1);
}

uint32_t
fuzz_u32 (FuzzInput *input)
{
  return (uint32_t) take (input, 4);
}

uint64_t
fuzz_u64 (FuzzInput *input)
{
  return take (input, 8);
}

uint32_t
fuzz_below (FuzzInput *input, uint32_t n)
{
  return (uint32_t) take (input, n <= 1 ? 0 : n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n;
}

bool
fuzz_one_in (FuzzInput *input, uint32_t n)
{
  return fuzz_below (input, n) == n - 1;
}

uint64_t
fuzz_hostile_u64 (FuzzInput *input)
{
  uint8_t kind = fuzz_u8 (input);

  switch (kind % 8) {
  case 0:
    return kind / 8;
  case 1:
    return fuzz_u8 (input);
  case 2:
    return take (input, 2);
  case 3:
    return take (input, 4);
  case 4: /* near a power of two: 2^0 to 2^64, from 4 below to 3 above */
    return (UINT64_C (1) << fuzz_below (input, 64)) + (uint64_t) (kind / 8 % 8) - 4;
  case 5:
    return ~(uint64_t) (kind / 8);
  default:
    return fuzz_u64 (input);
  }
}

uint32_t
fuzz_hostile_u32 (FuzzInput *input)
{
  uint8_t kind = fuzz_u8 (input);

  switch (kind % 8) {
  case 0:
  case 1:
    return kind / 8;
  case 2:
    return fuzz_u8 (input);
  case 3:
    return (uint32_t) take (input, 2);
  case 4:
    return (UINT32_C (1) << fuzz_below (input, 32)) + (uint32_t) (kind / 8 % 8) - 4;
  case 5:
    return ~(uint32_t) (kind / 8);
  default:
    return fuzz_u32 (input);
  }
}

double
fuzz_hostile_double (FuzzInput *input)
{
  static const double special[] = {
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1e22,
    -1e22,
    1e300,
    -1e300,
    5e-324,
    1e-300,
    1e15,
    1e16,
    INFINITY,
    -INFINITY,
    NAN,
    4294967295.0,
    2147483648.0,
    9223372036854775808.0,
    18446744073709551616.0,
    0.1,
    1.0 / 3,
  };
  uint8_t kind = fuzz_u8 (input);
  uint64_t bits;
  double value;

  switch (kind % 4) {
  case 0:
    return special[kind / 4 % (sizeof special / sizeof *special)];
  case 1:
    return (double) take (input, 2) / 16;
  case 2:
    return (double) (int32_t) fuzz_u32 (input) / 7;
  default:
    bits = fuzz_u64 (input);
    memcpy (&value, &bits, sizeof value);
    return value;
  }
}

char *
fuzz_text (FuzzInput *input, size_t most)
{
  size_t length = 0;
  char *text;

  while (length < most && length < input->size && input->data[length] != 0)
    length++;
  text = test_alloc (length + 1);
  memcpy (text, input->data, length);
  text[length] = '\0';
  if (length < most && length < input->size)
    length++; /* the 0 */
  input->data += length;
  input->size -= length;
  return text;
}

/* Noise that is cheaper than the Mersenne Twister, whose seeding alone takes microseconds. */
static uint32_t
xorshift (uint32_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

void
fuzz_bytes (FuzzInput *input, uint8_t *bytes, size_t size)
{
  size_t own = fuzz_u8 (input);
  uint32_t state = fuzz_u32 (input) | 1;

  own = own < input->size ? own : input->size;
  for (size_t i = 0; i < size; i++)
    bytes[i] = own ? input->data[i % own] : (uint8_t) (xorshift (&state) >> 11);
  input->data += own;
  input->size -= own;
}

static void
noise (FuzzInput *input, TestImage *image)
{
  uint32_t state = fuzz_u32 (input) | 1, density = fuzz_u8 (input),
           block = 1 + fuzz_below (input, 5);

  for (uint32_t y = 0; y < image->height; y++) {
    uint8_t *row = image->pixels + (size_t) y * image->width;

    for (uint32_t x = 0; x < image->width; x++) {
      if (y % block)
        row[x] = (row - image->width)[x];
      else if (x % block)
        row[x] = row[x - 1];
      else
        row[x] = (xorshift (&state) >> 9 & 255) < density ? 255 : 0;
    }
  }
}

static void
own_bits (FuzzInput *input, TestImage *image)
{
  size_t pixels = (size_t) image->width * image->height, bytes = 1 + fuzz_u8 (input);

  bytes = bytes < input->size ? bytes : input->size;
  for (size_t i = 0; bytes && i < pixels; i++)
    image->pixels[i] = input->data[i / 8 % bytes] >> i % 8 & 1 ? 255 : 0;
  input->data += bytes;
  input->size -= bytes;
}

/* Rows of runs, whose lengths are the input's bytes, each row repeated a few times. */
static void
runs (FuzzInput *input, TestImage *image)
{
  uint32_t unit = 1 + fuzz_below (input, 70), repeat = 1 + fuzz_below (input, 4);

  for (uint32_t y = 0; y < image->height; y++) {
    uint8_t *row = image->pixels + (size_t) y * image->width;
    uint8_t value = 0;

    if (y % repeat) {
      memcpy (row, row - image->width, image->width);
      continue;
    }
    for (uint32_t x = 0; x < image->width;) {
      uint32_t length = input->size ? 1 + fuzz_u8 (input) * unit / 16 : image->width;

      for (; length > 0 && x < image->width; length--)
        row[x++] = value;
      value = (uint8_t) ~value;
    }
  }
}

/* Rectangles and frames, drawn over each other. */
static void
rectangles (FuzzInput *input, TestImage *image)
{
  uint32_t n = fuzz_below (input, 24);

  for (uint32_t i = 0; i < n; i++) {
    uint32_t x1 = fuzz_below (input, image->width), y1 = fuzz_below (input, image->height);
    uint32_t x2 = x1 + 1 + fuzz_u8 (input), y2 = y1 + 1 + fuzz_u8 (input) / 4;
    uint8_t kind = fuzz_u8 (input);

    for (uint32_t y = y1; y < y2 && y < image->height; y++)
      for (uint32_t x = x1; x < x2 && x < image->width; x++)
        if (kind % 4 || x == x1 || y == y1 || x == x2 - 1 || y == y2 - 1)
          image->pixels[(size_t) y * image->width + x] = kind % 4 == 1 ? 0 : 255;
  }
}

void
fuzz_image (FuzzInput *input, TestImage *image)
{
  memset (image->pixels, 0, (size_t) image->width * image->height);
  switch (fuzz_below (input, 5)) {
  case 0:
    noise (input, image);
    break;
  case 1:
    own_bits (input, image);
    break;
  case 2:
    runs (input, image);
    break;
  case 3:
    rectangles (input, image);
    break;
  default:
    noise (input, image);
    rectangles (input, image);
  }
}
