/* cudaccl - ccl-bench: other people's connected component analysis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/peers.h"

static const Peer *const peers[] = {
#ifdef HAVE_OPENCV
  &peer_opencv,
#endif
  NULL,
};

const Peer *
peer (size_t index)
{
  return index < sizeof peers / sizeof *peers ? peers[index] : NULL;
}
