/* cudaccl-watch - why a camera cannot be used
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ERRORS_H__
#define __WATCH_ERRORS_H__

#include <gst/gst.h>

#include "apps/web/reason.h"

G_BEGIN_DECLS

/* Returns the reason of an element's error, without credentials. @uri is the address, @source the
 * name of the element's factory, or NULL. */
WebReason *watch_error_to_reason (const GError *error, const gchar *debug, const gchar *source,
                                  const gchar *uri, const gchar *password);
/* There is no decoder for @caps, or no element @name. */
WebReason *watch_missing_decoder_to_reason (const GstCaps *caps);
WebReason *watch_missing_element_to_reason (const gchar *name);

G_END_DECLS

#endif /* __WATCH_ERRORS_H__ */
