/* cudaccl - CPU backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_MOTION_H
#define CCL_CPU_MOTION_H

#include "engine/account.h"
#include "engine/cpu/pool.h"
#include "engine/motion/model.h"

/* The state of all pixels, and scratch memory of a frame. */
typedef struct CclCpuModel CclCpuModel;

/* How many parts a frame is cut into, with this many threads. One needs no pool. */
uint32_t ccl_cpu_model_strips (const CclModel *model, unsigned threads);

/* Makes the state of @model, for frames and threads of @config. @pool: NULL, or one that outlives
 * it. @created must be freed even on failure. */
CclStatus ccl_cpu_model_new (CclModel *model, const CclConfig *config, CclPool *pool,
                             CclAccount *account, CclCpuModel **created);
void ccl_cpu_model_free (CclCpuModel *self);

/* Does the model's step with a frame: finds its foreground, and learns. */
void ccl_cpu_model_apply (CclCpuModel *self, const CclImage *image);

/* The last frame's foreground and shadows, of the frame's size. */
const CclMask *ccl_cpu_model_mask (const CclCpuModel *self);
const CclMask *ccl_cpu_model_shadows (const CclCpuModel *self);

/* As CclBackendClass.background(). */
void ccl_cpu_model_background (const CclCpuModel *self, uint8_t *pixels, size_t stride);

#endif
