/* cudaccl - ccl-bench: the peer OpenCV
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* OpenCV no longer has a C interface: hence C++. */

#include "tests/peers/peers.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>

namespace {

struct State
{
  int width, height, connectivity;
  cv::Mat image;                    /* the caller's pixels */
  cv::Mat labels, stats, centroids; /* kept, so that only the first run allocates labels */
  int count;                        /* of labels */
};

void *
opencv_open (uint32_t width, uint32_t height, unsigned connectivity)
{
  State *state = new State;

  cv::setNumThreads (1); /* like our CPU backend */
  state->width = static_cast<int> (width);
  state->height = static_cast<int> (height);
  state->connectivity = static_cast<int> (connectivity);
  return state;
}

bool
opencv_load (void *data, const uint8_t *pixels)
{
  State *state = static_cast<State *> (data);

  state->image = cv::Mat (state->height, state->width, CV_8UC1, const_cast<uint8_t *> (pixels));
  return true;
}

bool
opencv_run (void *data, uint64_t *)
{
  State *state = static_cast<State *> (data);

  try {
    state->count = cv::connectedComponentsWithStats (state->image, state->labels, state->stats,
                                                     state->centroids, state->connectivity, CV_32S);
  } catch (const cv::Exception &exception) {
    std::fprintf (stderr, "opencv: %s\n", exception.what ());
    return false;
  }
  return true;
}

bool
opencv_result (void *data, PeerResult *result)
{
  const State *state = static_cast<State *> (data);

  /* Label 0 is the background. */
  result->found = static_cast<uint64_t> (state->count - 1);
  result->area = static_cast<uint64_t> (state->width) * static_cast<uint64_t> (state->height) -
                 static_cast<uint64_t> (state->stats.at<int> (0, cv::CC_STAT_AREA));
  return true;
}

void
opencv_close (void *data)
{
  delete static_cast<State *> (data);
}

} /* namespace */

extern "C" const Peer peer_opencv = {
  "opencv",     "OpenCV " CV_VERSION ", connectedComponentsWithStats, one thread",
  4 | 8,        false, /* on_device */
  false,               /* apart */
  opencv_open,  opencv_load,
  opencv_run,   opencv_result,
  opencv_close,
};
