/* cudaccl - writes components, tracks and events as lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_H__
#define __GST_CCL_JSON_H__

#include "gstcclreport.h"

G_BEGIN_DECLS

/* Kinds of lines. */
typedef enum
{
  GST_CCL_JSON_FRAMES = 1 << 0,
  GST_CCL_JSON_TRACKS = 1 << 1,
  GST_CCL_JSON_EVENTS = 1 << 2,
} GstCclJsonLines;

/* Formats of lines. */
typedef enum
{
  GST_CCL_JSON_CUDACCL,
  GST_CCL_JSON_DEEPSTREAM_MINIMAL,
  GST_CCL_JSON_AXIS,
} GstCclJsonSchema;

#define GST_TYPE_CCL_JSON (gst_ccl_json_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJson, gst_ccl_json, GST, CCL_JSON, GstCclReport)

GST_ELEMENT_REGISTER_DECLARE (ccljson);

G_END_DECLS

#endif /* __GST_CCL_JSON_H__ */
