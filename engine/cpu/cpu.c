/* cudaccl - CPU backend
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/backend.h"
#include "engine/cpu/filters/chain.h"
#include "engine/cpu/clock.h"
#include "engine/cpu/runs/compact.h"
#include "engine/cpu/runs/labels.h"
#include "engine/cpu/motion/model.h"
#include "engine/cpu/runs/shapes.h"
#include "engine/cpu/signature.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct CpuSession
{
  CclSession base;
  CclPool *pool;      /* NULL with one thread */
  CclCpuModel *model; /* NULL without config.motion */
  CclMask region;     /* without words: the whole frame */
  CclMask mask;       /* the cleaned foreground; no words if it is not needed */
  CclChain chain;
  CclRuns runs;
  CclCompaction compaction;
  CclComponents result;    /* of the frame in flight */
  CclLabelMap map;         /* with config.labels */
  CclShapeFinder finder;   /* with config.shapes */
  CclSignatureFrame frame; /* with config.signatures: the frame submitted last */
} CpuSession;

static const CclAlgorithm algorithms[] = {
  { "runs", "Run-based union-find with features on the fly, in one pass over bit-packed rows",
    CCL_BACKEND_CPU, 4 | 8 },
};

static int
cpu_device_count (void)
{
  return 1;
}

static const CclAlgorithm *
cpu_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index] : NULL;
}

static void
cpu_close (CclSession *session)
{
  CpuSession *self = (CpuSession *) session;

  ccl_shape_finder_clear (&self->finder);
  ccl_label_map_clear (&self->map);
  ccl_runs_clear (&self->runs);
  ccl_chain_clear (&self->chain);
  ccl_mask_free (&self->mask);
  ccl_mask_free (&self->region);
  ccl_cpu_model_free (self->model);
  ccl_pool_free (self->pool);
  free (self->compaction.shares);
  free (self->compaction.items);
  free (session->shapes);
  free (session->values);
  free (self);
}

static CclStatus
init_compaction (CpuSession *self)
{
  CclAccount *account = &self->base.account;
  CclCompaction *compaction = &self->compaction;

  if (self->base.config.values == CCL_VALUES_EQUAL) {
    self->base.values = ccl_account_malloc (account, self->base.config.max_components,
                                            sizeof *self->base.values, "the values of components");
    if (!self->base.values)
      return CCL_ERROR_NO_MEMORY;
  }

  compaction->runs = &self->runs;
  compaction->keep = self->base.config.max_components;
  compaction->result_labels = self->map.result_labels;
  compaction->values = self->base.values;
  compaction->items = ccl_account_malloc (account, compaction->keep, sizeof *compaction->items,
                                          "the components of a frame");
  if (compaction->items)
    compaction->shares = ccl_account_malloc (account, self->runs.n_strips,
                                             sizeof *compaction->shares, "the parts of a frame");
  return compaction->shares ? CCL_OK : CCL_ERROR_NO_MEMORY;
}

/* Prepares the region, the operations and the mask. */
static CclStatus
init_masks (CpuSession *self)
{
  const CclConfig *config = &self->base.config;
  CclAccount *account = &self->base.account;
  CclStatus status = CCL_OK;

  if (self->base.frame_height > 0) /* opened to check a batch, see engine/batch.c */
    return CCL_OK;
  if (config->region) {
    status = ccl_account_mask (account, config->width, config->height, &self->region);
    for (uint32_t y = 0; status == CCL_OK && y < config->height; y++)
      ccl_foreground_copy (self->region.words + y * self->region.pitch,
                           config->region->words + y * config->region->pitch, config->width, false);
  }
  if (status == CCL_OK && config->n_operations > 0)
    status = ccl_chain_init (&self->chain, config, self->pool, account);
  if (status == CCL_OK &&
      (config->n_operations > 0 || config->mask || config->shapes & CCL_SHAPES_PERIMETER))
    status = ccl_account_mask (account, config->width, config->height, &self->mask);
  return status;
}

static CclStatus
init_shapes (CpuSession *self)
{
  CclSession *base = &self->base;

  if (base->config.shapes == 0)
    return CCL_OK;
  base->shapes = ccl_account_malloc (&base->account, base->config.max_components,
                                     sizeof *base->shapes, "the shapes of a frame");
  return base->shapes ? ccl_shape_finder_init (&self->finder, &self->map, base->config.shapes,
                                               base->shapes, &base->account)
                      : CCL_ERROR_NO_MEMORY;
}

/* The threads of the analysis or of the model, whichever has more to share. */
static CclStatus
init_pool (CpuSession *self)
{
  const CclConfig *config = &self->base.config;
  bool shared = ccl_runs_strips (config) > 1 ||
                (config->motion && ccl_cpu_model_strips (&self->base.model, config->threads) > 1);

  return shared ? ccl_pool_new (config->threads, &self->base.account, &self->pool) : CCL_OK;
}

static CclStatus
cpu_open (const CclSession *wanted, CclSession **session)
{
  CclAccount account = { 0, 0 };
  CpuSession *self = ccl_account_malloc (&account, 1, sizeof *self, "an analyzer");
  CclStatus status;

  if (!self)
    return CCL_ERROR_NO_MEMORY;
  if (wanted->config.updates) {
    free (self);
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "the CPU backend counts no updates; use backend cuda");
  }
  *self = (CpuSession){ .base = *wanted };
  self->base.account = account;
  self->base.config.operations = self->base.operations;
  if (self->base.config.threads == 0)
    self->base.config.threads = ccl_pool_cpus ();
  status = init_pool (self);
  if (status == CCL_OK && self->base.config.motion)
    status = ccl_cpu_model_new (&self->base.model, &self->base.config, self->pool,
                                &self->base.account, &self->model);
  if (status == CCL_OK)
    status = init_masks (self);
  if (status == CCL_OK)
    status = ccl_runs_init (&self->runs, &self->base.config, self->pool, &self->base.account);
  if (status == CCL_OK && self->base.config.labels)
    status = ccl_label_map_init (&self->map, &self->runs, &self->base.account);
  if (status == CCL_OK)
    status = init_compaction (self);
  if (status == CCL_OK)
    status = init_shapes (self);
  if (status != CCL_OK) {
    cpu_close (&self->base);
    return status;
  }
  snprintf (self->base.device_name, sizeof self->base.device_name, "CPU (%s)",
            self->runs.functions->name);
  *session = &self->base;
  return CCL_OK;
}

/* Packs a frame into the mask. */
typedef struct PackJob
{
  const CclForeground *foreground;
  const CpuSession *session;
} PackJob;

static void
pack_strip (void *data, uint32_t index)
{
  const PackJob *job = data;
  const CclStrip *strip = &job->session->runs.strips[index];
  const CclMask *mask = &job->session->mask;

  for (uint32_t y = strip->y; y < strip->bottom; y++)
    ccl_foreground_row (job->foreground, y, mask->words + y * mask->pitch);
}

/* Labels the clean mask instead of the frame. */
static void
label_clean (CpuSession *self, CclForeground *foreground, CclChainKind kind)
{
  CclChainRange range = ccl_cleaning_range (&self->base.cleaning, kind);
  PackJob job = { foreground, self };
  CclImage image = ccl_mask_image (&self->mask);

  ccl_pool_run (self->pool, pack_strip, &job, self->runs.n_strips);
  ccl_chain_apply (&self->chain, range.first, range.n, &self->mask);
  foreground->image = &image;
  foreground->region = NULL;
  foreground->cut.invert = false;
  ccl_runs_label (&self->runs, foreground);
}

static bool
can_read (const CclSession *session, const CclImage *image)
{
  const CclMotionConfig *motion = session->config.motion;
  bool chroma = motion && motion->format == CCL_MOTION_LUMA_420;

  return image->memory < CCL_MEMORY_DEVICE &&
         (!chroma || (image->chroma->planes[0].memory < CCL_MEMORY_DEVICE &&
                      image->chroma->planes[1].memory < CCL_MEMORY_DEVICE));
}

/* Gives the values of 16-bit samples the host's byte order. */
static void
order_values (uint16_t *values, uint32_t n, CclFormat format)
{
  const bool swapped =
      (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) == (format == CCL_FORMAT_GRAY16_BE);

  for (uint32_t i = 0; format != CCL_FORMAT_BYTES && swapped && i < n; i++)
    values[i] = (uint16_t) (values[i] << 8 | values[i] >> 8);
}

/* Remembers where the frame is; chroma counts if the model reads it. */
static void
set_frame (CpuSession *self, const CclImage *image)
{
  const CclMotionConfig *motion = self->base.config.motion;
  CclImage used = *image;

  if (!motion || motion->format != CCL_MOTION_LUMA_420)
    used.chroma = NULL;
  self->frame = ccl_signature_frame (&used);
}

static CclStatus
cpu_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CpuSession *self = (CpuSession *) session;
  uint64_t start = session->config.timing ? ccl_cpu_now () : 0;
  CclImage moving;
  CclForeground foreground = {
    .functions = self->runs.functions,
    .image = image,
    .region = self->region.words ? &self->region : NULL,
    .width = session->config.width,
    .cut = session->cut,
  };

  if (!can_read (session, image))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "backend cpu cannot read device memory; use backend cuda or download frames");
  if (session->config.signatures)
    set_frame (self, image);
  if (self->model) {
    ccl_cpu_model_apply (self->model, image);
    moving = ccl_mask_image (ccl_cpu_model_mask (self->model));
    foreground.image = &moving;
    if (session->config.timing)
      session->timing.model = ccl_cpu_now () - start;
  }
  if (self->mask.words)
    label_clean (self, &foreground, ccl_cleaning_chain (&session->cleaning));
  else
    ccl_runs_label (&self->runs, &foreground);
  ccl_label_map_reset (&self->map);
  self->result = ccl_compact (&self->compaction, params);
  if (session->values)
    order_values (session->values, self->result.count, image->format);
  if (session->config.shapes) {
    ccl_label_map_spread (&self->map);
    ccl_shape_finder_run (&self->finder, self->result.count, &self->mask, image);
  }
  if (session->config.timing) {
    session->timing.measured = true;
    session->timing.analysis = ccl_cpu_now () - start;
  }
  return CCL_OK;
}

static CclStatus
cpu_collect (CclSession *session, CclComponents *components)
{
  *components = ((CpuSession *) session)->result;
  return CCL_OK;
}

static CclStatus
cpu_collect_small (CclSession *session, const CclParams *params, CclComponents *components)
{
  CpuSession *self = (CpuSession *) session;
  uint64_t start = session->config.timing ? ccl_cpu_now () : 0;
  CclImage moving = ccl_mask_image (ccl_cpu_model_mask (self->model));
  CclForeground foreground = {
    .functions = self->runs.functions,
    .image = &moving,
    .region = self->region.words ? &self->region : NULL,
    .width = session->config.width,
    .cut = session->cut,
  };

  label_clean (self, &foreground, CCL_CHAIN_SMALL);
  *components = ccl_compact (&self->compaction, params);
  if (session->config.timing)
    session->timing.analysis += ccl_cpu_now () - start;
  return CCL_OK;
}

static CclStatus
cpu_labels (CclSession *session, CclLabels *labels)
{
  CpuSession *self = (CpuSession *) session;

  *labels = (CclLabels){ self->map.map, session->config.width * sizeof *self->map.map };
  if (!self->map.is_current)
    ccl_label_map_write (&self->map, self->map.map, labels->stride);
  self->map.is_current = true;
  return CCL_OK;
}

static CclStatus
cpu_write_labels (CclSession *session, uint32_t *labels, size_t stride, CclMemory memory)
{
  ccl_label_map_write (&((CpuSession *) session)->map, labels, stride);
  return CCL_OK;
}

static void
cpu_paint (CclSession *session, const CclPalette *palette, uint8_t *pixels, size_t stride)
{
  ccl_label_map_paint (&((CpuSession *) session)->map, palette, pixels, stride);
}

static CclStatus
cpu_mask (CclSession *session, CclMask *mask)
{
  *mask = ((CpuSession *) session)->mask;
  return CCL_OK;
}

static CclStatus
cpu_shadows (CclSession *session, CclMask *shadows)
{
  *shadows = *ccl_cpu_model_shadows (((CpuSession *) session)->model);
  return CCL_OK;
}

static CclStatus
cpu_background (CclSession *session, uint8_t *pixels, size_t stride)
{
  ccl_cpu_model_background (((CpuSession *) session)->model, pixels, stride);
  return CCL_OK;
}

static CclStatus
cpu_signatures (CclSession *session, const CclBox *boxes, uint32_t n, CclSignature *signatures)
{
  const CclSignatureFrame *frame = &((CpuSession *) session)->frame;

  for (uint32_t i = 0; i < n; i++)
    ccl_signature_find (frame, &boxes[i], NULL, &signatures[i]);
  return CCL_OK;
}

static bool
cpu_has_classes (const CclAlgorithm *algorithm)
{
  return true;
}

const CclBackendClass ccl_backend_cpu = {
  .id = CCL_BACKEND_CPU,
  .has_classes = cpu_has_classes,
  .device_count = cpu_device_count,
  .algorithm = cpu_algorithm,
  .open = cpu_open,
  .submit = cpu_submit,
  .collect = cpu_collect,
  .collect_small = cpu_collect_small,
  .labels = cpu_labels,
  .write_labels = cpu_write_labels,
  .paint = cpu_paint,
  .mask = cpu_mask,
  .shadows = cpu_shadows,
  .background = cpu_background,
  .signatures = cpu_signatures,
  .close = cpu_close,
};
