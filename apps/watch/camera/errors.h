/* cudaccl-watch - what is wrong with a camera, in words
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ERRORS_H__
#define __WATCH_ERRORS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Says in words what is wrong and what to do, without credentials. @uri is the
 * address, @source the name of the element's factory that failed, or NULL. */
gchar *watch_error_to_text (const GError *error, const gchar *debug, const gchar *source,
                            const gchar *uri, const gchar *password);
/* The same if there is no decoder for @caps, or no element @name. */
gchar *watch_missing_decoder_to_text (const GstCaps *caps);
gchar *watch_missing_element_to_text (const gchar *name);

G_END_DECLS

#endif /* __WATCH_ERRORS_H__ */
