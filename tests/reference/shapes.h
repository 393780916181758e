/* cudaccl - shapes: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_SHAPES_REFERENCE_H
#define CCL_SHAPES_REFERENCE_H

#include <cudaccl/ccl.h>

/* Writes the shapes of the @count components of @image, which is in host memory, with the label map
 * @labels: those that @config asks for. Arguments are trusted. */
void ccl_reference_shapes (const CclConfig *config, const CclImage *image, const uint32_t *labels,
                           uint32_t count, CclShape *shapes);

#endif
