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

/* What a peer found in an image. */
typedef struct PeerResult
{
  uint64_t found; /* components */
  uint64_t area;  /* pixels that they have together; UINT64_MAX: it doesn't say */
} PeerResult;

/* Something else that finds the components of an image of 0 and 255. */
typedef struct Peer
{
  const char *name;
  const char *description;
  unsigned connectivity; /* 4, 8, or 4 | 8 */
  bool on_device;        /* takes images in device memory */
  bool apart;            /* works in a process of its own */

  /* Allocates what can be allocated beforehand; NULL if that fails. */
  void *(*open) (uint32_t width, uint32_t height, unsigned connectivity);

  /* Gets ready for an image in host memory, which stays there. */
  bool (*load) (void *state, const uint8_t *pixels);

  /* What is timed. @ns: its duration, if it has its own clock, else left alone. */
  bool (*run) (void *state, uint64_t *ns);

  /* What the last run found. */
  bool (*result) (void *state, PeerResult *result);

  void (*close) (void *state);
} Peer;

/* The peers of this build, NULL past the last. */
const Peer *peer (size_t index);

extern const Peer peer_opencv, peer_npp, peer_cupy;

#ifdef __cplusplus
}
#endif

#endif
