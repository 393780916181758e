/* cudaccl - libcudaccl for C++20: owners, exceptions and spans
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Only wraps the C functions, whose headers describe them:
 *
 *   cudaccl::Analyzer analyzer (cudaccl::config (1920, 1080));
 *
 *   for (const CclComponent &component : analyzer.analyze (cudaccl::image (pixels, 1920)))
 *     use (component);
 *
 * What fails throws cudaccl::Error. Spans belong to the object and stay valid until its next
 * analysis or its end, also after a move. */

#ifndef CCL_CUDACCL_HPP
#define CCL_CUDACCL_HPP

#include <cudaccl/cudaccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace cudaccl {

/* what() says why a function failed, and a remedy. */
class Error : public std::runtime_error {
public:
  explicit Error (CclStatus status) : std::runtime_error (ccl_last_error ()), status (status)
  {
  }

  CclStatus status;
};

inline void
check (CclStatus status)
{
  if (status != CCL_OK)
    throw Error (status);
}

/* The defaults. */
inline CclConfig
config (std::uint32_t width, std::uint32_t height)
{
  CclConfig config;

  ccl_config_init (&config, width, height);
  return config;
}

inline CclVolumeConfig
volume_config (std::uint32_t width, std::uint32_t height, std::uint32_t depth)
{
  CclVolumeConfig config;

  ccl_volume_config_init (&config, width, height, depth);
  return config;
}

inline CclParams
params ()
{
  CclParams params;

  ccl_params_init (&params);
  return params;
}

/* Bytes in host memory, rows @stride bytes apart. */
inline CclImage
image (const std::uint8_t *data, std::size_t stride)
{
  CclImage image;

  ccl_image_init (&image, data, stride);
  return image;
}

namespace detail {

template <auto function> struct Free
{
  template <typename T>
  void
  operator() (T *object) const
  {
    function (object);
  }
};

template <typename T, auto function> using Owner = std::unique_ptr<T, Free<function>>;

} // namespace detail

/* Analyses frames of one size. */
class Analyzer {
public:
  explicit Analyzer (const CclConfig &config)
  {
    CclAnalyzer *made = nullptr;

    check (ccl_analyzer_new (&config, &made));
    self.reset (made);
  }

  std::span<const CclComponent>
  analyze (const CclImage &image, const CclParams &params = cudaccl::params ())
  {
    check (ccl_analyzer_analyze (get (), &image, &params, &components));
    return { components.items, components.count };
  }

  void
  submit (const CclImage &image, const CclParams &params = cudaccl::params ())
  {
    check (ccl_analyzer_submit (get (), &image, &params));
  }

  std::span<const CclComponent>
  collect ()
  {
    check (ccl_analyzer_collect (get (), &components));
    return { components.items, components.count };
  }

  /* Of the last frame: components that passed the filters, and whether all of them are there. */
  std::uint32_t
  found () const
  {
    return components.found;
  }

  bool
  are_all () const
  {
    return ccl_components_are_all (&components);
  }

  CclLabels
  labels ()
  {
    CclLabels labels;

    check (ccl_analyzer_labels (get (), &labels));
    return labels;
  }

  /* Rows @stride bytes apart. */
  void
  write_labels (std::uint32_t *labels, std::size_t stride, CclMemory memory = CCL_MEMORY_HOST)
  {
    check (ccl_analyzer_write_labels (get (), labels, stride, memory));
  }

  std::span<const CclShape>
  shapes ()
  {
    const CclShape *shapes = nullptr;

    check (ccl_analyzer_shapes (get (), &shapes));
    return { shapes, components.count };
  }

  std::vector<CclSignature>
  signatures (std::span<const CclBox> boxes)
  {
    std::vector<CclSignature> found (boxes.size ());

    check (ccl_analyzer_signatures (get (), boxes.data (),
                                    static_cast<std::uint32_t> (boxes.size ()), found.data ()));
    return found;
  }

  std::span<const std::uint16_t>
  values ()
  {
    const std::uint16_t *values = nullptr;

    check (ccl_analyzer_values (get (), &values));
    return { values, components.count };
  }

  CclMask
  mask ()
  {
    CclMask mask;

    check (ccl_analyzer_mask (get (), &mask));
    return mask;
  }

  CclMask
  shadows ()
  {
    CclMask shadows;

    check (ccl_analyzer_shadows (get (), &shadows));
    return shadows;
  }

  /* Rows @stride bytes apart. */
  void
  background (std::uint8_t *pixels, std::size_t stride)
  {
    check (ccl_analyzer_background (get (), pixels, stride));
  }

  void
  reset ()
  {
    ccl_analyzer_reset (get ());
  }

  CclInfo
  info () const
  {
    CclInfo info;

    ccl_analyzer_info (get (), &info);
    return info;
  }

  CclTiming
  timing () const
  {
    CclTiming timing;

    ccl_analyzer_timing (get (), &timing);
    return timing;
  }

  /* For the functions of C. */
  CclAnalyzer *
  get () const
  {
    return self.get ();
  }

private:
  detail::Owner<CclAnalyzer, ccl_analyzer_free> self;
  CclComponents components{};
};

/* Analyses up to @frames frames of one size at a time. */
class Batch {
public:
  Batch (const CclConfig &config, std::uint32_t frames)
  {
    CclBatch *made = nullptr;

    check (ccl_batch_new (&config, frames, &made));
    self.reset (made);
  }

  /* One for each image. */
  std::span<const CclComponents>
  analyze (std::span<const CclImage> images, const CclParams &params = cudaccl::params ())
  {
    components.resize (images.size ());
    check (ccl_batch_analyze (get (), images.data (), static_cast<std::uint32_t> (images.size ()),
                              &params, components.data ()));
    return components;
  }

  CclLabels
  labels (std::uint32_t index)
  {
    CclLabels labels;

    check (ccl_batch_labels (get (), index, &labels));
    return labels;
  }

  /* Rows @stride bytes apart, frames @step bytes. */
  void
  write_labels (std::uint32_t *labels, std::size_t stride, std::size_t step,
                CclMemory memory = CCL_MEMORY_HOST)
  {
    check (ccl_batch_write_labels (get (), labels, stride, step, memory));
  }

  void
  write_areas (std::uint32_t *areas, std::size_t stride, std::size_t step,
               CclMemory memory = CCL_MEMORY_HOST)
  {
    check (ccl_batch_write_areas (get (), areas, stride, step, memory));
  }

  CclBatch *
  get () const
  {
    return self.get ();
  }

private:
  detail::Owner<CclBatch, ccl_batch_free> self;
  std::vector<CclComponents> components;
};

/* Analyses volumes of one size. */
class Volume {
public:
  explicit Volume (const CclVolumeConfig &config)
  {
    CclVolume *made = nullptr;

    check (ccl_volume_new (&config, &made));
    self.reset (made);
  }

  /* Slices follow each other, without a gap. */
  std::span<const CclVolumeComponent>
  analyze (const CclImage &image, const CclParams &params = cudaccl::params ())
  {
    check (ccl_volume_analyze (get (), &image, &params, &components));
    return { components.items, components.count };
  }

  std::uint32_t
  found () const
  {
    return components.found;
  }

  CclLabels
  labels ()
  {
    CclLabels labels;

    check (ccl_volume_labels (get (), &labels));
    return labels;
  }

  /* Rows @stride bytes apart. */
  void
  write_labels (std::uint32_t *labels, std::size_t stride, CclMemory memory = CCL_MEMORY_HOST)
  {
    check (ccl_volume_write_labels (get (), labels, stride, memory));
  }

  CclVolume *
  get () const
  {
    return self.get ();
  }

private:
  detail::Owner<CclVolume, ccl_volume_free> self;
  CclVolumeComponents components{};
};

} // namespace cudaccl

#endif
