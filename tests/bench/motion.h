/* cudaccl - ccl-bench motion: peers of the background model
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_MOTION_H
#define TESTS_BENCH_MOTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library's background subtraction, with the conversion of colours that it needs, a closing by
 * 5x5 pixels, and connected components with their boxes; one thread. */
typedef struct MotionPeer
{
  const char *name;

  /* NULL if this build of the library does not have it. */
  void *(*open) (void);

  /* Processes the next frame, in NV12, rows without padding. Returns the nanoseconds that it took,
   * 0 if it failed; @model: of these, without closing and components. */
  uint64_t (*run) (void *state, const uint8_t *pixels, uint32_t width, uint32_t height,
                   uint64_t *model, uint32_t *components);
  void (*close) (void *state);
} MotionPeer;

#define MOTION_PEERS 4

extern const MotionPeer motion_opencv[MOTION_PEERS];

int motion_main (int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
