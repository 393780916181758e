/* cudaccl - the binary interface of DeepStream's metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects in frames of DeepStream 5 and newer: the declarations that we need, for builds without
 * NVIDIA's headers. Newer versions only added fields at the end. */

#ifndef __GST_CCL_NV_DS_META_H__
#define __GST_CCL_NV_DS_META_H__

#include <gst/gst.h>

#ifdef HAVE_NVDSMETA_H
#include <gstnvdsmeta.h>
#include <nvdsmeta.h>
#else

#include <stdint.h>

#define MAX_LABEL_SIZE 128
#define UNTRACKED_OBJECT_ID G_MAXUINT64

typedef struct _NvDsBatchMeta NvDsBatchMeta;

typedef struct
{
  NvDsBatchMeta *batch_meta;
  gint meta_type;
  gpointer uContext;
  gpointer copy_func;
  gpointer release_func;
} NvDsBaseMeta;

struct _NvDsBatchMeta
{
  NvDsBaseMeta base_meta;
  uint32_t max_frames_in_batch;
  uint32_t num_frames_in_batch;
  gpointer frame_meta_pool;
  gpointer obj_meta_pool;
  gpointer classifier_meta_pool;
  gpointer display_meta_pool;
  gpointer user_meta_pool;
  gpointer label_info_meta_pool;
  GList *frame_meta_list; /* of NvDsFrameMeta */
};

typedef struct
{
  NvDsBaseMeta base_meta;
  uint32_t pad_index;
  uint32_t batch_id; /* of the frame in the NvBufSurface */
  gint frame_num;
  guint64 buf_pts;
  guint64 ntp_timestamp;
  guint source_id;
  gint num_surfaces_per_frame;
  guint source_frame_width;
  guint source_frame_height;
  guint surface_type;
  guint surface_index;
  guint num_obj_meta;
  gboolean bInferDone;
  GList *obj_meta_list; /* of NvDsObjectMeta */
} NvDsFrameMeta;

typedef struct
{
  gfloat left, top, width, height; /* in pixels */
} NvBbox_Coords;

typedef struct
{
  NvBbox_Coords org_bbox_coords;
} NvDsComp_BboxInfo;

typedef struct
{
  gdouble red, green, blue, alpha; /* 0 to 1 */
} NvOSD_ColorParams;

typedef struct
{
  gfloat left, top, width, height; /* in pixels */
  guint border_width;
  NvOSD_ColorParams border_color;
  guint has_bg_color;
  guint reserved;
  NvOSD_ColorParams bg_color;
  gint has_color_info;
  gint color_id;
} NvOSD_RectParams;

typedef struct
{
  gfloat *data;
  guint size;
  gfloat threshold;
  guint width, height;
} NvOSD_MaskParams;

typedef struct
{
  gchar *font_name;
  guint font_size;
  NvOSD_ColorParams font_color;
} NvOSD_FontParams;

typedef struct
{
  gchar *display_text; /* freed with the object */
  guint x_offset, y_offset;
  NvOSD_FontParams font_params;
  gint set_bg_clr;
  NvOSD_ColorParams text_bg_clr;
} NvOSD_TextParams;

typedef struct _NvDsObjectMeta NvDsObjectMeta;

struct _NvDsObjectMeta
{
  NvDsBaseMeta base_meta;
  NvDsObjectMeta *parent;
  int32_t unique_component_id;
  int32_t class_id;
  guint64 object_id;
  NvDsComp_BboxInfo detector_bbox_info;
  NvDsComp_BboxInfo tracker_bbox_info;
  gfloat confidence;
  gfloat tracker_confidence;
  NvOSD_RectParams rect_params;
  NvOSD_MaskParams mask_params;
  NvOSD_TextParams text_params;
  gchar obj_label[MAX_LABEL_SIZE];
};
#endif

#endif /* __GST_CCL_NV_DS_META_H__ */
