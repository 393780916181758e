/* cudaccl - finds the components of a mask and of a volume with libcudaccl in C++20
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.hpp>
#include <array>
#include <iostream>
#include <utility>

int
main ()
try {
  const std::array<std::uint8_t, 32> pixels = { 255, 255, 0, 0, 0, 0,   0,   0, //
                                                255, 255, 0, 0, 0, 255, 255, 0, //
                                                0,   0,   0, 0, 0, 0,   255, 0, //
                                                0,   0,   0, 0, 0, 0,   0,   255 };
  CclConfig config = cudaccl::config (8, 4);
  config.connectivity = 4;
  config.shapes = CCL_SHAPES_TOPOLOGY;
  cudaccl::Analyzer first (config), analyzer = std::move (first);

  for (const CclComponent &component : analyzer.analyze (cudaccl::image (pixels.data (), 8)))
    std::cout << component.label << ": area " << component.area << ", euler "
              << analyzer.shapes ()[component.label - 1].euler << '\n';

  cudaccl::Volume volume (cudaccl::volume_config (4, 4, 2));
  std::cout << volume.analyze (cudaccl::image (pixels.data (), 4)).size () << " in a volume\n";

  std::array<CclImage, 2> images;
  images.fill (cudaccl::image (pixels.data (), 8));
  config.shapes = 0;
  cudaccl::Batch batch (config, 2);
  for (const CclComponents &components : batch.analyze (images))
    std::cout << components.count << " in a frame of a batch\n";
  return 0;
} catch (const cudaccl::Error &error) {
  std::cerr << ccl_status_name (error.status) << ": " << error.what () << '\n';
  return 1;
}
