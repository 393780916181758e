/* cudaccl - ccl-bench: peers, which are other libraries
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_PEERS_PEERS_H
#define TESTS_PEERS_PEERS_H

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
  uint64_t area;  /* their total number of pixels; UINT64_MAX: unknown */
} PeerResult;

/* Another library that finds the components of an image of 0 and 255. */
typedef struct Peer
{
  const char *name;
  const char *description;
  unsigned connectivity; /* 4, 8, or 4 | 8 */
  bool on_device;        /* works in device memory */
  bool apart;            /* works in another process */

  /* Allocates everything in advance; NULL if that fails. */
  void *(*open) (uint32_t width, uint32_t height, unsigned connectivity);

  /* Prepares for an image in host memory, which remains valid. */
  bool (*load) (void *state, const uint8_t *pixels);

  /* The timed work. @ns: set to its duration by peers with their own clock, else unchanged. */
  bool (*run) (void *state, uint64_t *ns);

  /* The result of the last run. */
  bool (*result) (void *state, PeerResult *result);

  void (*close) (void *state);
} Peer;

/* The peers of this build; NULL past the last. */
const Peer *peer (size_t index);

extern const Peer peer_opencv, peer_npp, peer_cupy;

#ifdef __cplusplus
}
#endif

#endif
