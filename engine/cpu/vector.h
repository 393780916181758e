/* cudaccl - CPU backend: vectors of words, as wide as the instruction set has them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An instruction set's file defines CCL_VECTOR_AVX512, CCL_VECTOR_AVX2 or CCL_VECTOR_NEON before; a
 * vector is one word without. Operators work on all of them; here is the rest. */

#ifndef CCL_CPU_VECTOR_H
#define CCL_CPU_VECTOR_H

#include <stdint.h>

#if defined CCL_VECTOR_AVX512
#include <immintrin.h>

typedef uint64_t Vector __attribute__ ((vector_size (64)));
#define VECTOR_WORDS 8

static inline Vector
vector_set (uint64_t word)
{
  return (Vector) _mm512_set1_epi64 ((int64_t) word);
}

static inline Vector
vector_load (const uint64_t *words)
{
  return (Vector) _mm512_loadu_si512 (words);
}

/* The first @n words, the others 0. */
static inline Vector
vector_load_part (const uint64_t *words, unsigned n)
{
  return (Vector) _mm512_maskz_loadu_epi64 ((__mmask8) ((1u << n) - 1), words);
}

static inline void
vector_store (uint64_t *words, Vector v)
{
  _mm512_storeu_si512 (words, (__m512i) v);
}

static inline void
vector_store_part (uint64_t *words, Vector v, unsigned n)
{
  _mm512_mask_storeu_epi64 (words, (__mmask8) ((1u << n) - 1), (__m512i) v);
}

/* Each word's next one: those of @v without the first, then the first of @after. */
static inline Vector
vector_next (Vector v, Vector after)
{
  return (Vector) _mm512_alignr_epi64 ((__m512i) after, (__m512i) v, 1);
}

/* Each word's previous one: the last of @before, then those of @v without the last. */
static inline Vector
vector_previous (Vector before, Vector v)
{
  return (Vector) _mm512_alignr_epi64 ((__m512i) v, (__m512i) before, 7);
}

static inline Vector
vector_xor3 (Vector a, Vector b, Vector c)
{
  return (Vector) _mm512_ternarylogic_epi64 ((__m512i) a, (__m512i) b, (__m512i) c, 0x96);
}

static inline Vector
vector_majority (Vector a, Vector b, Vector c)
{
  return (Vector) _mm512_ternarylogic_epi64 ((__m512i) a, (__m512i) b, (__m512i) c, 0xe8);
}

static inline Vector
vector_or3 (Vector a, Vector b, Vector c)
{
  return (Vector) _mm512_ternarylogic_epi64 ((__m512i) a, (__m512i) b, (__m512i) c, 0xfe);
}

/* (a | b) & c */
static inline Vector
vector_or_and (Vector a, Vector b, Vector c)
{
  return (Vector) _mm512_ternarylogic_epi64 ((__m512i) a, (__m512i) b, (__m512i) c, 0xa8);
}

#elif defined CCL_VECTOR_AVX2
#include <immintrin.h>

typedef uint64_t Vector __attribute__ ((vector_size (32)));
#define VECTOR_WORDS 4

static inline Vector
vector_set (uint64_t word)
{
  return (Vector) _mm256_set1_epi64x ((int64_t) word);
}

static inline Vector
vector_load (const uint64_t *words)
{
  return (Vector) _mm256_loadu_si256 ((const __m256i *) words);
}

static inline __m256i
vector_part (unsigned n)
{
  static const int64_t part[8] = { -1, -1, -1, -1, 0, 0, 0, 0 };

  return _mm256_loadu_si256 ((const __m256i *) (part + 4 - n));
}

static inline Vector
vector_load_part (const uint64_t *words, unsigned n)
{
  return (Vector) _mm256_maskload_epi64 ((const long long *) words, vector_part (n));
}

static inline void
vector_store (uint64_t *words, Vector v)
{
  _mm256_storeu_si256 ((__m256i *) words, (__m256i) v);
}

static inline void
vector_store_part (uint64_t *words, Vector v, unsigned n)
{
  _mm256_maskstore_epi64 ((long long *) words, vector_part (n), (__m256i) v);
}

static inline Vector
vector_next (Vector v, Vector after)
{
  __m256i middle = _mm256_permute2x128_si256 ((__m256i) v, (__m256i) after, 0x21);

  return (Vector) _mm256_alignr_epi8 (middle, (__m256i) v, 8);
}

static inline Vector
vector_previous (Vector before, Vector v)
{
  __m256i middle = _mm256_permute2x128_si256 ((__m256i) before, (__m256i) v, 0x21);

  return (Vector) _mm256_alignr_epi8 ((__m256i) v, middle, 8);
}

#elif defined CCL_VECTOR_NEON
#include <arm_neon.h>

typedef uint64x2_t Vector;
#define VECTOR_WORDS 2

static inline Vector
vector_set (uint64_t word)
{
  return vdupq_n_u64 (word);
}

static inline Vector
vector_load (const uint64_t *words)
{
  return vld1q_u64 (words);
}

/* @n is 1. */
static inline Vector
vector_load_part (const uint64_t *words, unsigned n)
{
  return vcombine_u64 (vld1_u64 (words), vdup_n_u64 (0));
}

static inline void
vector_store (uint64_t *words, Vector v)
{
  vst1q_u64 (words, v);
}

static inline void
vector_store_part (uint64_t *words, Vector v, unsigned n)
{
  vst1_u64 (words, vget_low_u64 (v));
}

static inline Vector
vector_next (Vector v, Vector after)
{
  return vextq_u64 (v, after, 1);
}

static inline Vector
vector_previous (Vector before, Vector v)
{
  return vextq_u64 (before, v, 1);
}

#else

typedef uint64_t Vector;
#define VECTOR_WORDS 1

static inline Vector
vector_set (uint64_t word)
{
  return word;
}

static inline Vector
vector_load (const uint64_t *words)
{
  return *words;
}

/* No part of a word is left over. */
static inline Vector
vector_load_part (const uint64_t *words, unsigned n)
{
  return 0;
}

static inline void
vector_store (uint64_t *words, Vector v)
{
  *words = v;
}

static inline void
vector_store_part (uint64_t *words, Vector v, unsigned n)
{
}

static inline Vector
vector_next (Vector v, Vector after)
{
  return after;
}

static inline Vector
vector_previous (Vector before, Vector v)
{
  return before;
}

#endif

#ifndef CCL_VECTOR_AVX512
static inline Vector
vector_xor3 (Vector a, Vector b, Vector c)
{
  return a ^ b ^ c;
}

static inline Vector
vector_majority (Vector a, Vector b, Vector c)
{
  return (a & b) | ((a ^ b) & c);
}

static inline Vector
vector_or3 (Vector a, Vector b, Vector c)
{
  return a | b | c;
}

static inline Vector
vector_or_and (Vector a, Vector b, Vector c)
{
  return (a | b) & c;
}
#endif

#endif
