/* cudaccl - colour signatures: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_SIGNATURE_REFERENCE_H
#define CCL_SIGNATURE_REFERENCE_H

#include <cudaccl/mask.h>
#include <cudaccl/signature.h>

/* Writes the signature of @box in @image, which is in host memory, with chroma if there is any, and
 * of the pixels of @mask only, unless it is NULL. Arguments are trusted. */
void ccl_reference_signature (const CclImage *image, const CclBox *box, const CclMask *mask,
                              CclSignature *signature);

#endif
