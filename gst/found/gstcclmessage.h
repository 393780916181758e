/* cudaccl - components as element messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MESSAGE_H__
#define __GST_CCL_MESSAGE_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Creates the element message @name for the frame @buffer, with its times in @segment, its size,
 * the number of components found and a list of @components with the fields that they have.
 * @class_names may be NULL. */
GstMessage *gst_ccl_components_message_new (GstObject *source, const gchar *name,
                                            const GstSegment *segment, GstBuffer *buffer,
                                            guint width, guint height, guint found,
                                            const GstCclComponent *components, guint n_components,
                                            GstCclClassNames *class_names);

G_END_DECLS

#endif /* __GST_CCL_MESSAGE_H__ */
