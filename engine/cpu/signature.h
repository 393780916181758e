/* cudaccl - CPU backend: colour signatures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_SIGNATURE_H
#define CCL_CPU_SIGNATURE_H

#include "engine/shared/signature.h"

/* The planes of a checked image; chroma if it has any. */
CclSignatureFrame ccl_signature_frame (const CclImage *image);

/* Finds the signature of a checked box. @mask may be NULL. */
void ccl_signature_find (const CclSignatureFrame *frame, const CclBox *box, const CclMask *mask,
                         CclSignature *signature);

#endif
