/* cudaccl - tests: writing random headers bit by bit
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_BITWRITER_H
#define TESTS_LIB_BITWRITER_H

#include <gst/base/gstbitwriter.h>

typedef struct
{
  GstBitWriter bits;
  GRand *random;
} Writer;

/* Prints the seed. */
static void
writer_init (Writer *self)
{
  const guint32 seed = g_random_int ();

  g_printerr ("seed %u\n", seed);
  self->random = g_rand_new_with_seed (seed);
  gst_bit_writer_init (&self->bits);
}

static void
writer_clear (Writer *self)
{
  g_rand_free (self->random);
  gst_bit_writer_reset (&self->bits);
}

static guint
draw (Writer *self, guint n)
{
  return (guint) g_rand_int_range (self->random, 0, (gint32) n);
}

static void
put (Writer *self, guint32 value, guint n)
{
  if (n > 0)
    gst_bit_writer_put_bits_uint32 (&self->bits, value, n);
}

/* Puts any @n bits. */
static guint32
put_any (Writer *self, guint n)
{
  guint32 value = 0;

  for (guint i = 0; i < n; i++) {
    value = value << 1 | draw (self, 2);
    put (self, value & 1, 1);
  }
  return value;
}

static void
writer_restart (Writer *self)
{
  gst_bit_writer_reset (&self->bits);
  gst_bit_writer_init (&self->bits);
}

#endif /* TESTS_LIB_BITWRITER_H */
