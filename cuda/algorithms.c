/* cudaccl - CUDA backend: the table of algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/frame.h"

/* FLSL's versions differ in their features. */
#define FLSL(id, text, function)                                                                \
  {                                                                                             \
    .info = { id, text, CCL_BACKEND_CUDA, 4 | 8 }, .uses_runs = true, .enqueue = function,      \
    .compact = ccl_cuda_compact, .histogram = ccl_cuda_histogram, .paint = ccl_cuda_flsl_paint, \
  }

/* HA4's, in these and in the pixels of a thread. */
#define HA4(id, text, function)                                                                \
  {                                                                                            \
    .info = { id, text, CCL_BACKEND_CUDA, 4 | 8 }, .enqueue = function,                        \
    .compact = ccl_cuda_compact, .histogram = ccl_cuda_histogram, .paint = ccl_cuda_ha4_paint, \
  }

static const CclCudaAlgorithm algorithms[] = {
  {
      .info = { "tile",
                "Bits, runs and components of a tile in shared memory, then the seams between "
                "tiles",
                CCL_BACKEND_CUDA, 4 | 8 },
      .uses_tiles = true,
      .enqueue = ccl_cuda_tile,
      .compact = ccl_cuda_tile_compact,
      .histogram = ccl_cuda_tile_histogram,
      .paint = ccl_cuda_tile_paint,
  },
  FLSL ("flsl-cd",
        "FLSL with conflict detection: full runs, features summed up in each warp "
        "(Lemaitre et al. 2021)",
        ccl_cuda_flsl_cd),
  FLSL ("flsl-otf", "FLSL with features merged on the fly (Lemaitre et al. 2021)",
        ccl_cuda_flsl_otf),
  FLSL ("flsl", "FLSL: full runs, each added to its component by itself (Lemaitre et al. 2021)",
        ccl_cuda_flsl),
  HA4 ("ha4-otf", "HA4 with features merged on the fly (Lemaitre et al. 2021)", ccl_cuda_ha4_otf),
  HA4 ("ha4-cd", "HA4 with conflict detection (Lemaitre et al. 2021)", ccl_cuda_ha4_cd),
  HA4 ("ha4", "HA4: strips of bitmasks, two pixels a thread (Hennequin et al. 2018)", ccl_cuda_ha4),
  CCL_CUDA_LABELLER ("bke", "BKE: block-based Komura equivalence (Allegretti et al. 2020)", 8,
                     ccl_cuda_bke, true),
  CCL_CUDA_LABELLER ("bke-ic", "BKE with inline compression (Allegretti et al. 2020)", 8,
                     ccl_cuda_bke_ic, true),
  CCL_CUDA_LABELLER ("buf", "BUF: block-based union-find (Allegretti et al. 2020)", 8, ccl_cuda_buf,
                     true),
  CCL_CUDA_LABELLER ("buf-ic", "BUF with inline compression (Allegretti et al. 2020)", 8,
                     ccl_cuda_buf_ic, true),
  CCL_CUDA_LABELLER ("uf", "UF: union-find over pixels, in tiles first (Oliveira and Lotufo 2010)",
                     4 | 8, ccl_cuda_uf, false),
  CCL_CUDA_LABELLER ("lbuf",
                     "LBUF: union-find over pixels, in lines first (Yonehara and Aizawa 2015)",
                     4 | 8, ccl_cuda_lbuf, false),
  CCL_CUDA_LABELLER ("ke", "KE: Komura equivalence (Komura 2015)", 4 | 8, ccl_cuda_ke, false),
  CCL_CUDA_LABELLER ("playne",
                     "Komura equivalence without redundant unions (Playne and Hawick 2018)", 4,
                     ccl_cuda_playne, false),
  CCL_CUDA_LABELLER ("dlp", "DLP: distanceless label propagation (Cabaret et al. 2017)", 4 | 8,
                     ccl_cuda_dlp, false),
  CCL_CUDA_LABELLER ("be", "BE: block equivalence, iterative (Zavalishin et al. 2016)", 8,
                     ccl_cuda_be, true),
  CCL_CUDA_LABELLER ("label-equivalence",
                     "OLE: label equivalence, iterative (Kalentev et al. 2011)", 4 | 8,
                     ccl_cuda_label_equivalence, false),
  CCL_CUDA_LABELLER ("row-col-unify",
                     "Lowest labels along rows and columns, iterative (Kalentev et al. 2011)", 4,
                     ccl_cuda_row_col_unify, false),
  HA4 ("ha4-32", "HA4 with one pixel a thread (Hennequin et al. 2018)", ccl_cuda_ha4_32),
  HA4 ("naive", "Every pixel added to its component by itself, after HA4's labelling",
       ccl_cuda_naive),
};

const CclCudaAlgorithm *
ccl_cuda_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index] : NULL;
}
