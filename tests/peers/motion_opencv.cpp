/* cudaccl - ccl-bench motion: OpenCV's background subtractors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/peers/peers.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/background_segm.hpp>
#ifdef HAVE_OPENCV_BGSEGM
#include <opencv2/bgsegm.hpp>
#endif

#include <chrono>
#include <cstdio>

namespace {

struct State
{
  cv::Ptr<cv::BackgroundSubtractor> subtractor;
  cv::Mat bgr, mask, closed, labels, stats, centroids;
  cv::Mat rectangle = cv::getStructuringElement (cv::MORPH_RECT, cv::Size (5, 5));
};

void *
open_with (cv::Ptr<cv::BackgroundSubtractor> (*make) ())
{
  try {
    State *state = new State;

    cv::setNumThreads (1);
    state->subtractor = make ();
    return state;
  } catch (const cv::Exception &exception) {
    std::fprintf (stderr, "opencv: %s\n", exception.what ());
    return nullptr;
  }
}

void *
open_mog2 ()
{
  return open_with (
      [] () -> cv::Ptr<cv::BackgroundSubtractor> { return cv::createBackgroundSubtractorMOG2 (); });
}

void *
open_knn ()
{
  return open_with (
      [] () -> cv::Ptr<cv::BackgroundSubtractor> { return cv::createBackgroundSubtractorKNN (); });
}

#ifdef HAVE_OPENCV_BGSEGM
void *
open_cnt ()
{
  return open_with ([] () -> cv::Ptr<cv::BackgroundSubtractor> {
    return cv::bgsegm::createBackgroundSubtractorCNT ();
  });
}

void *
open_gsoc ()
{
  return open_with ([] () -> cv::Ptr<cv::BackgroundSubtractor> {
    return cv::bgsegm::createBackgroundSubtractorGSOC ();
  });
}
#else
void *
open_cnt ()
{
  return nullptr;
}

void *
open_gsoc ()
{
  return nullptr;
}
#endif

uint64_t
nanoseconds (std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to)
{
  return static_cast<uint64_t> (
      std::chrono::duration_cast<std::chrono::nanoseconds> (to - from).count ());
}

uint64_t
run (void *data, const uint8_t *pixels, uint32_t width, uint32_t height, uint64_t *model,
     uint32_t *components)
{
  State *state = static_cast<State *> (data);
  const int columns = static_cast<int> (width), rows = static_cast<int> (height);
  const cv::Mat frame (rows * 3 / 2, columns, CV_8UC1, const_cast<uint8_t *> (pixels));

  try {
    const auto start = std::chrono::steady_clock::now ();
    cv::cvtColor (frame, state->bgr, cv::COLOR_YUV2BGR_NV12);
    state->subtractor->apply (state->bgr, state->mask);
    cv::threshold (state->mask, state->mask, 127, 255, cv::THRESH_BINARY); /* drops shadows */
    const auto middle = std::chrono::steady_clock::now ();
    cv::morphologyEx (state->mask, state->closed, cv::MORPH_CLOSE, state->rectangle);
    const int found = cv::connectedComponentsWithStats (state->closed, state->labels, state->stats,
                                                        state->centroids);
    const auto end = std::chrono::steady_clock::now ();

    *components = static_cast<uint32_t> (found - 1);
    *model = nanoseconds (start, middle);
    return nanoseconds (start, end);
  } catch (const cv::Exception &exception) {
    std::fprintf (stderr, "opencv: %s\n", exception.what ());
    return 0;
  }
}

void
close (void *data)
{
  delete static_cast<State *> (data);
}

} /* namespace */

extern "C" const MotionPeer motion_opencv[MOTION_PEERS] = {
  { "OpenCV " CV_VERSION " MOG2", open_mog2, run, close },
  { "OpenCV " CV_VERSION " KNN", open_knn, run, close },
  { "OpenCV " CV_VERSION " CNT", open_cnt, run, close },
  { "OpenCV " CV_VERSION " GSOC", open_gsoc, run, close },
};
