/* cudaccl - Kalman filter of a position with constant velocity
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_KALMAN_H__
#define __GST_CCL_KALMAN_H__

#include <glib.h>

G_BEGIN_DECLS

/* One axis. Times are in seconds. */
typedef struct
{
  gdouble position, velocity;
  gdouble pp, pv, vv; /* their covariances */
} GstCclKalman;

/* Starts at rest. @variance is that of the position. */
void gst_ccl_kalman_init (GstCclKalman *self, gdouble position, gdouble variance,
                          gdouble velocity_variance);

/* Advances by @dt. @density is the spectral density of the acceleration, which is white noise. */
void gst_ccl_kalman_predict (GstCclKalman *self, gdouble dt, gdouble density);

void gst_ccl_kalman_measure (GstCclKalman *self, gdouble position, gdouble variance);

G_END_DECLS

#endif /* __GST_CCL_KALMAN_H__ */
