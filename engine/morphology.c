/* cudaccl - morphology: chains of operations on their own
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/backend.h"
#include "engine/cpu/filters/chain.h"
#include "engine/mask/mask.h"

#include <inttypes.h>
#include <stdlib.h>

struct CclMorphology
{
  CclAccount account;
  CclPool *pool;
  CclChain chain;
};

CclStatus
ccl_morphology_new (uint32_t width, uint32_t height, unsigned connectivity,
                    const CclOperation *operations, uint32_t n, unsigned threads,
                    CclMorphology **morphology)
{
  CclMorphology *self;
  CclConfig config;
  CclStatus status;

  if (!morphology)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_morphology_new: morphology is NULL");
  *morphology = NULL;
  ccl_config_init (&config, width, height);
  config.connectivity = connectivity;
  config.backend = CCL_BACKEND_CPU;
  config.threads = threads;
  config.operations = operations;
  config.n_operations = n;
  status = ccl_config_check (&config);
  if (status != CCL_OK)
    return status;
  if (threads == 0)
    config.threads = ccl_pool_cpus ();
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a chain of operations");
  if (ccl_runs_strips (&config) > 1)
    status = ccl_pool_new (config.threads, &self->account, &self->pool);
  if (status == CCL_OK)
    status = ccl_chain_init (&self->chain, &config, self->pool, &self->account);
  if (status != CCL_OK) {
    ccl_morphology_free (self);
    return status;
  }
  *morphology = self;
  return CCL_OK;
}

CclStatus
ccl_morphology_apply (CclMorphology *morphology, CclMask *mask)
{
  CclStatus status;

  if (!morphology)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_morphology_apply: morphology is NULL");
  status = ccl_check_mask (mask, "ccl_morphology_apply");
  if (status != CCL_OK)
    return status;
  if (mask->width != morphology->chain.width || mask->height != morphology->chain.height)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a mask of %" PRIu32 "x%" PRIu32
                     " does not fit operations on masks of %" PRIu32 "x%" PRIu32
                     "; use the same size",
                     mask->width, mask->height, morphology->chain.width, morphology->chain.height);
  ccl_chain_apply (&morphology->chain, 0, morphology->chain.n, mask);
  return CCL_OK;
}

void
ccl_morphology_free (CclMorphology *morphology)
{
  if (!morphology)
    return;
  ccl_chain_clear (&morphology->chain);
  ccl_pool_free (morphology->pool);
  free (morphology);
}
