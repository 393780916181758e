/* cudaccl - Kalman filter of a position with constant velocity
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kalman.h"

void
gst_ccl_kalman_init (GstCclKalman *self, gdouble position, gdouble variance,
                     gdouble velocity_variance)
{
  self->position = position;
  self->velocity = 0.0;
  self->pp = variance;
  self->pv = 0.0;
  self->vv = velocity_variance;
}

void
gst_ccl_kalman_predict (GstCclKalman *self, gdouble dt, gdouble density)
{
  self->position += self->velocity * dt;
  self->pp += dt * (2.0 * self->pv + dt * self->vv) + density * dt * dt * dt / 3.0;
  self->pv += dt * self->vv + density * dt * dt / 2.0;
  self->vv += density * dt;
}

void
gst_ccl_kalman_measure (GstCclKalman *self, gdouble position, gdouble variance)
{
  gdouble total = self->pp + variance, gain_p = self->pp / total, gain_v = self->pv / total;
  gdouble innovation = position - self->position;

  self->position += gain_p * innovation;
  self->velocity += gain_v * innovation;
  self->vv -= gain_v * self->pv;
  self->pv -= gain_p * self->pv;
  self->pp -= gain_p * self->pp;
}
