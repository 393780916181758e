/* cudaccl - ccl-bench: OpenCV's connectedComponentsWithStats
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* OpenCV has no C interface any more: hence the one file of C++. */

#include "tests/bench/peers.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cstdio>

namespace {

struct State
{
  int width, height, connectivity;
  cv::Mat labels, stats, centroids; /* kept, so that no run but the first allocates the labels */
};

void *
opencv_open (uint32_t width, uint32_t height, unsigned connectivity)
{
  State *state = new State;

  cv::setNumThreads (1); /* as our CPU backend */
  state->width = static_cast<int> (width);
  state->height = static_cast<int> (height);
  state->connectivity = static_cast<int> (connectivity);
  return state;
}

bool
opencv_run (void *data, const uint8_t *pixels, uint32_t *found, uint64_t *area)
{
  State *state = static_cast<State *> (data);

  try {
    cv::Mat image (state->height, state->width, CV_8UC1, const_cast<uint8_t *> (pixels));
    int labels = cv::connectedComponentsWithStats (image, state->labels, state->stats,
                                                   state->centroids, state->connectivity, CV_32S);

    /* Label 0 is the background. */
    *found = static_cast<uint32_t> (labels - 1);
    *area = static_cast<uint64_t> (state->width) * static_cast<uint64_t> (state->height) -
            static_cast<uint64_t> (state->stats.at<int> (0, cv::CC_STAT_AREA));
  } catch (const cv::Exception &exception) {
    std::fprintf (stderr, "opencv: %s\n", exception.what ());
    return false;
  }
  return true;
}

void
opencv_close (void *data)
{
  delete static_cast<State *> (data);
}

} /* namespace */

extern "C" const Peer peer_opencv = {
  "opencv",   "OpenCV " CV_VERSION ", connectedComponentsWithStats, one thread",
  4 | 8,      opencv_open,
  opencv_run, opencv_close,
};
