/* cudaccl - ccl-bench morphology: OpenCV's medianBlur, erode, dilate and morphologyEx
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/peers/peers.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <chrono>
#include <cstdio>

namespace {

/* Whether OpenCV has such an operation. */
bool
operate (const CclOperation *operation, const cv::Mat &from, cv::Mat &to, const cv::Mat &rectangle)
{
  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    cv::medianBlur (from, to, static_cast<int> (operation->width));
    return true;
  case CCL_OPERATION_ERODE:
    cv::erode (from, to, rectangle);
    return true;
  case CCL_OPERATION_DILATE:
    cv::dilate (from, to, rectangle);
    return true;
  case CCL_OPERATION_OPEN:
    cv::morphologyEx (from, to, cv::MORPH_OPEN, rectangle);
    return true;
  case CCL_OPERATION_CLOSE:
    cv::morphologyEx (from, to, cv::MORPH_CLOSE, rectangle);
    return true;
  default:
    return false;
  }
}

uint64_t
run (const CclOperation *operation, const uint8_t *from, uint8_t *to, uint32_t width,
     uint32_t height)
{
  const int columns = static_cast<int> (width), rows = static_cast<int> (height);
  const cv::Mat source (rows, columns, CV_8UC1, const_cast<uint8_t *> (from));
  cv::Mat target (rows, columns, CV_8UC1, to), rectangle;

  try {
    cv::setNumThreads (1);
    if (operation->kind != CCL_OPERATION_MEDIAN && operation->width > 0)
      rectangle = cv::getStructuringElement (
          cv::MORPH_RECT,
          cv::Size (static_cast<int> (operation->width), static_cast<int> (operation->height)));
    const auto start = std::chrono::steady_clock::now ();
    if (!operate (operation, source, target, rectangle))
      return 0;
    const auto end = std::chrono::steady_clock::now ();
    return static_cast<uint64_t> (
        std::chrono::duration_cast<std::chrono::nanoseconds> (end - start).count ());
  } catch (const cv::Exception &exception) {
    std::fprintf (stderr, "opencv: %s\n", exception.what ());
    return 0;
  }
}

} /* namespace */

extern "C" const MorphologyPeer morphology_opencv = { "OpenCV " CV_VERSION, run };
