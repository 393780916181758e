/* cudaccl - ccl-bench: other people's connected component analysis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_PEERS_H
#define TESTS_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Something else that gives boxes, areas and centroids of an image of 0 and 255 in host memory. */
typedef struct Peer
{
  const char *name;
  const char *description;
  unsigned connectivity; /* 4, 8, or 4 | 8 */

  /* Allocates what can be allocated beforehand; NULL if that fails. */
  void *(*open) (uint32_t width, uint32_t height, unsigned connectivity);

  /* What is timed. @found: how many components; @area: how many pixels they have together. */
  bool (*run) (void *state, const uint8_t *pixels, uint32_t *found, uint64_t *area);

  void (*close) (void *state);
} Peer;

/* The peers of this build, NULL past the last. */
const Peer *peer (size_t index);

extern const Peer peer_opencv;

#ifdef __cplusplus
}
#endif

#endif
