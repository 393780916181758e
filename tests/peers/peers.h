/* cudaccl - peers: other libraries, for ccl-bench to measure beside ours
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_PEERS_PEERS_H
#define TESTS_PEERS_PEERS_H

#include <cudaccl/mask.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The components that a peer found in an image. */
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

/* Another library with the same operations on masks, on images of 0 and 255. */
typedef struct MorphologyPeer
{
  const char *name;

  /* Does @operation once more on @from, of @width x @height pixels, into @to; one thread. Returns
   * the nanoseconds that it took, 0 if it cannot do that or failed. */
  uint64_t (*run) (const CclOperation *operation, const uint8_t *from, uint8_t *to, uint32_t width,
                   uint32_t height);
} MorphologyPeer;

extern const MorphologyPeer morphology_opencv, morphology_scipy;

/* The Python of SciPy; "python3" unless set. */
extern const char *morphology_python;

/* Another library's background subtraction, with the conversion of colours that it needs, a closing
 * by 5x5 pixels, and connected components with their boxes; one thread. */
typedef struct MotionPeer
{
  const char *name;

  /* NULL if this build of the library does not have it. */
  void *(*open) (void);

  /* Processes the next frame, in NV12, rows without padding. Returns the nanoseconds that it took,
   * 0 if it failed; @model: the model's share, without closing and components. */
  uint64_t (*run) (void *state, const uint8_t *pixels, uint32_t width, uint32_t height,
                   uint64_t *model, uint32_t *components);
  void (*close) (void *state);
} MotionPeer;

#define MOTION_PEERS 4

extern const MotionPeer motion_opencv[MOTION_PEERS];

#ifdef __cplusplus
}
#endif

#endif
