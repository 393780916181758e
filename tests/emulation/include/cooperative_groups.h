/* cudaccl - emulation: cooperative groups, as far as kernels use them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef EMULATION_COOPERATIVE_GROUPS_H
#define EMULATION_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

namespace cooperative_groups {

struct grid_group
{
  void
  sync (void) const
  {
    emulated_sync_grid ();
  }
};

static inline grid_group
this_grid (void)
{
  return {};
}

} // namespace cooperative_groups

#endif
