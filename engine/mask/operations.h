/* cudaccl - operations on masks: their parameters
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_OPERATIONS_H
#define CCL_OPERATIONS_H

#include <cudaccl/mask.h>

/* The parameters of an operation. */
typedef enum CclOperationForm
{
  CCL_FORM_SQUARE,      /* width and height, both 3 or both 5: median3 */
  CCL_FORM_RECTANGLE,   /* width and height, odd: erode3x5 */
  CCL_FORM_SIZE,        /* size, at least 1: drop20 */
  CCL_FORM_SIZE_OR_ALL, /* size, 0 for all: fill20, fill */
} CclOperationForm;

/* The number of kinds. */
unsigned ccl_operation_kinds (void);

CclOperationForm ccl_operation_form (CclOperationKind kind);

#endif
