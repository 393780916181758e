/* cudaccl - CPU backend
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccl/backend.h"
#include "ccl/cpu/labels.h"
#include "ccl/cpu/runs.h"
#include "ccl/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct CpuSession
{
  CclSession base;
  CclRuns runs;
  CclComponent *components; /* base.config.max_components */
  CclComponents result;     /* of the frame in flight */
  CclLabelMap map;          /* with config.labels */
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

  if (session->config.labels)
    ccl_label_map_clear (&self->map);
  ccl_runs_clear (&self->runs);
  free (self->components);
  free (self);
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
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "the CPU backend counts no updates: its components are nobody else's");
  }
  self->base = *wanted;
  self->base.account = account;
  self->components = ccl_account_malloc (&self->base.account, self->base.config.max_components,
                                         sizeof *self->components, "the components of a frame");
  status = self->components ? ccl_runs_init (&self->runs, &self->base.config, &self->base.account)
                            : CCL_ERROR_NO_MEMORY;
  if (status != CCL_OK) {
    free (self->components);
    free (self);
    return status;
  }
  if (self->base.config.labels) {
    status = ccl_label_map_init (&self->map, &self->runs, &self->base.account);
    if (status != CCL_OK) {
      cpu_close (&self->base);
      return status;
    }
  }
  snprintf (self->base.device_name, sizeof self->base.device_name, "CPU (%s)",
            self->runs.functions->name);
  *session = &self->base;
  return CCL_OK;
}

/* Whether label @i is a component that passes the area filter. */
static inline bool
passes (const CclRuns *runs, uint32_t i, const CclParams *params)
{
  return runs->parents[i] == i && runs->labels[i].area >= params->min_area &&
         runs->labels[i].area <= params->max_area;
}

/* The cut that leaves @keep of the components that pass. */
static CclCut
find_cut (const CclRuns *runs, const CclParams *params, uint32_t keep)
{
  CclCutSearch search;

  ccl_cut_begin (&search, keep);
  for (unsigned round = 0; round < CCL_CUT_ROUNDS; round++) {
    uint32_t histogram[CCL_CUT_BINS] = { 0 };

    for (uint32_t i = 0; i < runs->n_labels; i++) {
      int bin =
          passes (runs, i, params) ? ccl_cut_bin (&search, (uint32_t) runs->labels[i].area) : -1;
      if (bin >= 0)
        histogram[bin]++;
    }
    ccl_cut_narrow (&search, histogram);
  }
  return search.cut;
}

static void
fill_component (CclComponent *component, const CclRuns *runs, uint32_t i)
{
  const CclRunsLabel *label = &runs->labels[i];

  *component = (CclComponent){
    .area = label->area,
    .sum_x = label->sum_x,
    .sum_y = label->sum_y,
    .x = label->left,
    .y = label->y,
    .width = label->right - label->left,
    .height = label->bottom - label->y,
    .first_x = label->first_x,
  };
  if (runs->moments) {
    component->sum_xx = runs->moments[i].sum_xx;
    component->sum_yy = runs->moments[i].sum_yy;
    component->sum_xy = runs->moments[i].sum_xy;
  }
}

/* Copies the roots that pass into the result. */
static void
compact (CpuSession *self, const CclParams *params)
{
  const CclRuns *runs = &self->runs;
  uint32_t keep = self->base.config.max_components, count = 0, found = 0;
  CclCut cut = { 0, 0 };

  if (self->base.config.labels)
    ccl_label_map_begin (&self->map, runs);
  for (uint32_t i = 0; i < runs->n_labels; i++)
    found += passes (runs, i, params);
  if (found > keep)
    cut = find_cut (runs, params, keep);
  for (uint32_t i = 0; i < runs->n_labels; i++) {
    if (!passes (runs, i, params) || runs->labels[i].area < cut.area)
      continue;
    if (runs->labels[i].area == cut.area) {
      if (cut.ties == 0)
        continue;
      cut.ties--;
    }
    fill_component (&self->components[count], runs, i);
    self->components[count].label = count + 1;
    count++;
    if (self->base.config.labels)
      self->map.numbers[i] = count;
  }
  self->result = (CclComponents){ self->components, count, found };
}

static uint64_t
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
}

static CclStatus
cpu_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CpuSession *self = (CpuSession *) session;
  uint64_t start = session->config.timing ? now () : 0;

  if (image->memory == CCL_MEMORY_DEVICE)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "backend cpu cannot read device memory; use backend cuda or download frames");
  ccl_runs_label (&self->runs, image, params);
  compact (self, params);
  if (session->config.timing)
    session->timing.analysis = now () - start;
  return CCL_OK;
}

static CclStatus
cpu_collect (CclSession *session, CclComponents *components)
{
  *components = ((CpuSession *) session)->result;
  return CCL_OK;
}

static CclStatus
cpu_labels (CclSession *session, CclLabels *labels)
{
  CpuSession *self = (CpuSession *) session;

  ccl_label_map_paint (&self->map, &self->runs);
  *labels = (CclLabels){ self->map.map, session->config.width * sizeof *self->map.map };
  return CCL_OK;
}

const CclBackendClass ccl_backend_cpu = {
  .id = CCL_BACKEND_CPU,
  .device_count = cpu_device_count,
  .algorithm = cpu_algorithm,
  .open = cpu_open,
  .submit = cpu_submit,
  .collect = cpu_collect,
  .labels = cpu_labels,
  .close = cpu_close,
};
