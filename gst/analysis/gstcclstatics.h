/* cudaccl - components that stand, and what has become of them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_STATICS_H__
#define __GST_CCL_STATICS_H__

#include <gst/gst.h>
#include <gst/ccl/gstccl.h>

#include "gstcclpatch.h"

G_BEGIN_DECLS

typedef struct
{
  GstClockTime static_time;  /* how long a component stands until it is static */
  GstClockTime static_limit; /* how long it stays so; 0: until it leaves */
  GstClockTime learning_time;
  guint width, height; /* of the frame */
} GstCclStaticsParams;

/* Reads a patch, which was placed, of the frame or of its @background. Returns FALSE on failure. */
typedef gboolean (*GstCclReadPatchFunc) (gpointer data, gboolean background, GstCclPatch *patch);

/* Finds out which components stand. For a component that has not moved for a while, it keeps two
 * pictures: of the background that it hides, and of itself. The model may then learn it: as long as
 * the background, or the frame, looks like the second picture, it is there, even if there is no
 * component any more, or if that of something else covers it. */
typedef struct _GstCclStatics GstCclStatics;

GstCclStatics *gst_ccl_statics_new (void);
void gst_ccl_statics_free (GstCclStatics *self);

/* Forgets all. */
void gst_ccl_statics_reset (GstCclStatics *self);

/* The model started anew. Static components stay if the frames still show them. */
void gst_ccl_statics_restart (GstCclStatics *self);

/* Advances by a frame, @elapsed after the last one. @read is called with @data if a decision needs
 * it, which is rare. */
void gst_ccl_statics_update (GstCclStatics *self, const GstCclStaticsParams *params,
                             GstClockTime elapsed, const GstCclComponent *components, guint n,
                             GstCclReadPatchFunc read, gpointer data);

/* Advances by a frame whose components say nothing. */
void gst_ccl_statics_skip (GstCclStatics *self);

/* Flags the components of the last update, and appends static ones that are not among them, with
 * labels of their own. Returns their number. */
guint gst_ccl_statics_apply (const GstCclStatics *self, GstCclComponent **components, guint n);

G_END_DECLS

#endif /* __GST_CCL_STATICS_H__ */
