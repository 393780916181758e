/* cudaccl - CPU backend: chains of operations on masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_CHAIN_H
#define CCL_CPU_CHAIN_H

#include "engine/cpu/runs/runs.h"

/* The memory of a chain. A single thread filters in place; several threads have their own rows
 * each, but read rows that others would overwrite, so two masks take turns. Small components, and
 * holes of limited size, are found by labelling runs: holes are components of the background. To
 * fill all holes, sweeps down and up the rows find the background that the frame's border reaches;
 * if that takes too many sweeps, as in a maze, runs are labelled. */
typedef struct CclChain
{
  const CclCpuFunctions *functions;
  CclOperation operations[CCL_MAX_OPERATIONS];
  uint32_t n;
  uint32_t width, height, n_strips;
  CclPool *pool;     /* borrowed; NULL with one thread */
  uint64_t *scratch; /* of filters, [n_strips * scratch_words], aligned */
  size_t scratch_words;
  CclMask other;      /* with several strips and filters */
  CclRuns set, unset; /* to drop, and to fill */
  CclMask reached;    /* the background that the border reaches, to fill all holes */
  uint16_t *changed;  /* [height] sweep over the rows in which each was reached last */
  uint8_t *marks;     /* by label: whether the component changes */
} CclChain;

/* Takes @config's operations, which must be valid, geometry, connectivity and threads, which must
 * not be 0. @pool: NULL, or one that outlives @chain. @chain must be cleared even on failure. */
CclStatus ccl_chain_init (CclChain *chain, const CclConfig *config, CclPool *pool,
                          CclAccount *account);
void ccl_chain_clear (CclChain *chain);

/* Applies @n operations from @first on to @mask, of the chain's size and in host memory. */
void ccl_chain_apply (CclChain *chain, uint32_t first, uint32_t n, CclMask *mask);

#endif
