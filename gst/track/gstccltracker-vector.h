/* cudaccl - vectors for the tracker
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Vectors of two doubles and of four floats, by the extension of GCC and clang, with functions for
 * what its operators lack or compile badly to SSE2. Not aligned to their size: allocators of 32-bit
 * systems only align to 8 bytes. */

#ifndef __GST_CCL_TRACKER_VECTOR_H__
#define __GST_CCL_TRACKER_VECTOR_H__

#include <glib.h>
#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

G_BEGIN_DECLS

/* Two tracks, or x and y. */
typedef gdouble Vector2 __attribute__ ((vector_size (16), aligned (8), may_alias));
typedef gint64 Mask2 __attribute__ ((vector_size (16), aligned (8), may_alias));

/* The floats of a Vector4: as many detections are compared with a track at a time. */
#define LANES 4

typedef gfloat Vector4 __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef gint32 Mask4 __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));

static inline Vector2
vector2_load (const gdouble *values)
{
  return *(const Vector2 *) values;
}

static inline void
vector2_store (gdouble *values, Vector2 vector)
{
  *(Vector2 *) values = vector;
}

/* Those of @a where the mask is set, and of @b elsewhere. */
static inline Vector2
vector2_select (Mask2 mask, Vector2 a, Vector2 b)
{
#ifdef __SSE2__
  return (Vector2) _mm_or_pd (_mm_and_pd ((__m128d) mask, (__m128d) a),
                              _mm_andnot_pd ((__m128d) mask, (__m128d) b));
#else
  return (Vector2) (((Mask2) a & mask) | ((Mask2) b & ~mask));
#endif
}

static inline Mask2
mask2_and (Mask2 a, Mask2 b)
{
#ifdef __SSE2__
  return (Mask2) _mm_and_pd ((__m128d) a, (__m128d) b);
#else
  return a & b;
#endif
}

/* 0 where the mask is not set. */
static inline Vector2
vector2_and (Vector2 a, Mask2 mask)
{
#ifdef __SSE2__
  return (Vector2) _mm_and_pd ((__m128d) a, (__m128d) mask);
#else
  return (Vector2) ((Mask2) a & mask);
#endif
}

static inline Mask2
mask2_or (Mask2 a, Mask2 b)
{
#ifdef __SSE2__
  return (Mask2) _mm_or_pd ((__m128d) a, (__m128d) b);
#else
  return a | b;
#endif
}

static inline Vector2
vector2_min (Vector2 a, Vector2 b)
{
#ifdef __SSE2__
  return (Vector2) _mm_min_pd ((__m128d) a, (__m128d) b);
#else
  return vector2_select (a < b, a, b);
#endif
}

static inline Vector2
vector2_max (Vector2 a, Vector2 b)
{
#ifdef __SSE2__
  return (Vector2) _mm_max_pd ((__m128d) a, (__m128d) b);
#else
  return vector2_select (a > b, a, b);
#endif
}

static inline Vector2
vector2_sqrt (Vector2 a)
{
#ifdef __SSE2__
  return (Vector2) _mm_sqrt_pd ((__m128d) a);
#else
  return (Vector2){ sqrt (a[0]), sqrt (a[1]) };
#endif
}

static inline Vector4
vector4_load (const gfloat *values)
{
  return *(const Vector4 *) values;
}

static inline void
vector4_store (gfloat *values, Vector4 lanes)
{
  *(Vector4 *) values = lanes;
}

static inline Vector4
vector4_set (gfloat value)
{
  return (Vector4){ value, value, value, value };
}

static inline Vector4
vector4_abs (Vector4 lanes)
{
  return (Vector4) ((Mask4) lanes & G_MAXINT32);
}

/* The first two lanes are those of @a, the others those of @b. */
static inline Vector4
vector4_from_vector2 (Vector2 a, Vector2 b)
{
#ifdef __SSE2__
  return (Vector4) _mm_movelh_ps (_mm_cvtpd_ps ((__m128d) a), _mm_cvtpd_ps ((__m128d) b));
#else
  return (Vector4){ (gfloat) a[0], (gfloat) a[1], (gfloat) b[0], (gfloat) b[1] };
#endif
}

/* Four doubles, as floats. */
static inline Vector4
vector4_load_doubles (const gdouble *values)
{
  return vector4_from_vector2 (vector2_load (values), vector2_load (values + 2));
}

static inline guint
mask4_bits (Mask4 mask)
{
#ifdef __SSE2__
  return (guint) _mm_movemask_ps ((__m128) mask);
#else
  Mask4 bits = mask & (Mask4){ 1, 2, 4, 8 };

  return (guint) (bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

/* Those of @a where the mask is set, and of @b elsewhere. */
static inline Vector4
vector4_select (Mask4 mask, Vector4 a, Vector4 b)
{
  return (Vector4) (((Mask4) a & mask) | ((Mask4) b & ~mask));
}

static inline Vector4
vector4_min (Vector4 a, Vector4 b)
{
#ifdef __SSE2__
  return (Vector4) _mm_min_ps ((__m128) a, (__m128) b);
#else
  return vector4_select (a < b, a, b);
#endif
}

static inline Vector4
vector4_max (Vector4 a, Vector4 b)
{
#ifdef __SSE2__
  return (Vector4) _mm_max_ps ((__m128) a, (__m128) b);
#else
  return vector4_select (a > b, a, b);
#endif
}

static inline void
vector4_transpose (Vector4 rows[LANES])
{
#ifdef __SSE2__
  _MM_TRANSPOSE4_PS (rows[0], rows[1], rows[2], rows[3]);
#else
  guint i, j;

  for (i = 0; i < LANES; i++) {
    for (j = 0; j < i; j++) {
      gfloat value = rows[i][j];

      rows[i][j] = rows[j][i];
      rows[j][i] = value;
    }
  }
#endif
}

G_END_DECLS

#endif
