/* cudaccl - functions for host and device alike
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_DEVICE_H
#define CCL_DEVICE_H

#ifdef __CUDACC__
#define CCL_HOST_DEVICE __host__ __device__
#else
#define CCL_HOST_DEVICE
#endif

#endif
