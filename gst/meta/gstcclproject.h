/* cudaccl - projects points of metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PROJECT_H__
#define __GST_CCL_PROJECT_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

#if GST_CHECK_VERSION(1, 28, 0)
/* Projects a point with the matrix. Returns the homogeneous coordinate, which is not positive for
 * points behind the projection. */
static inline gdouble
gst_ccl_project_point (const GstVideoMetaTransformMatrix *trans, gdouble *x, gdouble *y)
{
  gdouble in_x = *x - trans->in_rectangle.x;
  gdouble in_y = *y - trans->in_rectangle.y;
  gdouble w = trans->matrix[2][0] * in_x + trans->matrix[2][1] * in_y + trans->matrix[2][2];

  *x = (trans->matrix[0][0] * in_x + trans->matrix[0][1] * in_y + trans->matrix[0][2]) / w +
       trans->out_rectangle.x;
  *y = (trans->matrix[1][0] * in_x + trans->matrix[1][1] * in_y + trans->matrix[1][2]) / w +
       trans->out_rectangle.y;

  return w;
}

/* Negative if the matrix mirrors the picture. */
static inline gdouble
gst_ccl_project_get_determinant (const GstVideoMetaTransformMatrix *trans)
{
  gdouble m[3][3];
  guint i;

  for (i = 0; i < 9; i++)
    m[i / 3][i % 3] = trans->matrix[i / 3][i % 3];

  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

#endif

G_END_DECLS

#endif /* __GST_CCL_PROJECT_H__ */
