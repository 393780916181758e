/* cudaccl - peers: the libraries of this build
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/peers/peers.h"

static const Peer *const peers[] = {
#ifdef HAVE_OPENCV
  &peer_opencv,
#endif
#ifdef HAVE_NPP
  &peer_npp,
#endif
#ifdef HAVE_CUDA
  &peer_cupy,
#endif
  NULL,
};

const Peer *
peer (size_t index)
{
  return index < sizeof peers / sizeof *peers ? peers[index] : NULL;
}
