/* cudaccl - CPU backend: threads that share the work of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_POOL_H
#define CCL_CPU_POOL_H

#include "engine/account.h"

/* An analyzer's threads. They busy-poll for work for some microseconds, then sleep. */
typedef struct CclPool CclPool;

/* One part of a job. */
typedef void (*CclTask) (void *data, uint32_t index);

/* How many CPUs this process may run on, at least 1. */
unsigned ccl_pool_cpus (void);

/* @threads that work at once, at least 2; the one that calls ccl_pool_run() is one of them. Errors:
 * CCL_ERROR_NO_MEMORY, also when the system refuses a thread. */
CclStatus ccl_pool_new (unsigned threads, CclAccount *account, CclPool **pool);

/* Ends the threads. NULL is ignored. */
void ccl_pool_free (CclPool *pool);

/* Calls @task for every index below @count, in any order, and returns when all is done. With @pool
 * NULL the calling thread does it all, in order. */
void ccl_pool_run (CclPool *pool, CclTask task, void *data, uint32_t count);

/* A pool that the whole process shares, for short jobs between which a thread of an analyzer waits
 * for something else. On machines with enough CPUs it has a few threads while there are references
 * to it; they poll longer than those of other pools. Without threads the caller does all. Any
 * thread may call these functions at any time; a reference is needed to run jobs. */
void ccl_pool_shared_ref (void);
void ccl_pool_shared_unref (void);
/* As ccl_pool_run(), but the caller does all while a job of another thread is in progress. So a
 * single session uses several CPUs, and many busy ones use one each. */
void ccl_pool_shared_run (CclTask task, void *data, uint32_t count);

#endif
