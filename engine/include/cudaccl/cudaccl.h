/* cudaccl - all of libcudaccl but EGL images
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDACCL_H
#define CCL_CUDACCL_H

#include <cudaccl/batch.h>
#include <cudaccl/ccl.h>
#include <cudaccl/crop.h>
#include <cudaccl/mask.h>
#include <cudaccl/motion.h>
#include <cudaccl/signature.h>
#include <cudaccl/volume.h>

#endif
