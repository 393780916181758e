/* cudaccl - symbol visibility of libcudaccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_API_H
#define CCL_API_H

/* A function of libcudaccl. */
#define CCL_API __attribute__ ((visibility ("default")))

#endif
