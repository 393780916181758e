/* cudaccl - CPU backend: threads that share the work of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each thread has its own range of a job's parts, the same for every job with as many parts, so
 * that its data stays in its caches; a thread with none left steals from others. What is left of a
 * range is a ticket: the number of the job and how many parts are not taken yet.
 *
 * P1. A thread owns a part once it has taken it off the ticket by compare-and-swap.
 * P2. The job cannot end before all owned parts are done, and threads read the job's description
 * only while they own a part. So the pool never waits for threads that come late. */

#include "engine/cpu/pool.h"
#include "engine/cpu/clock.h"
#include "engine/cpu/tuning.h"
#include "engine/error.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a thread busy-polls for work, or for its end, before it sleeps. Within a frame the next
 * job follows at once; falling asleep and waking up would take longer than this. */
#define SPIN_NS 30000

/* The same for the shared pool, whose jobs come once a frame: frames that follow each other at once
 * find its threads awake. */
#define SHARED_SPIN_NS 200000

/* The maximum number of threads of the shared pool, and the CPUs per thread. */
#define SHARED_THREADS 4
#define SHARED_CPUS 2

/* A thread, and its range of the current job; the first one is the caller of ccl_pool_run(). */
typedef struct Worker
{
  CclPool *pool;
  pthread_t thread;
  _Atomic uint64_t ticket; /* number of the job << 32 | parts not taken */
  uint32_t end;            /* of the range */
  char apart[64];          /* no two tickets in one cache line */
} Worker;

struct CclPool
{
  _Atomic uint32_t pending; /* parts not done */
  _Atomic uint32_t asleep;  /* workers that wait for @work */
  _Atomic bool quit;
  uint32_t job;
  CclTask task;
  void *data;
  uint64_t spin; /* nanoseconds that threads busy-poll */
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  unsigned n_workers, started; /* both count the first, which needs no start */
  Worker workers[];
};

/* Does the rest of a range. */
static void
take_range (CclPool *pool, Worker *owner)
{
  uint64_t ticket = atomic_load (&owner->ticket);

  while ((uint32_t) ticket > 0) {
    if (!atomic_compare_exchange_weak (&owner->ticket, &ticket, ticket - 1))
      continue;
    pool->task (pool->data, owner->end - (uint32_t) ticket);
    if (atomic_fetch_sub (&pool->pending, 1) == 1) {
      pthread_mutex_lock (&pool->lock);
      pthread_cond_signal (&pool->done);
      pthread_mutex_unlock (&pool->lock);
    }
    ticket = atomic_load (&owner->ticket);
  }
}

/* Does parts of the current job until none are left, the thread's own range first. */
static void
take_job (CclPool *pool, unsigned number, unsigned n)
{
  for (unsigned k = 0; k < n; k++)
    take_range (pool, &pool->workers[(number + k) % n]);
}

/* Whether a worker has something to do. */
static bool
is_called (CclPool *pool)
{
  if (atomic_load (&pool->quit))
    return true;
  for (unsigned i = 0; i < pool->n_workers; i++)
    if ((uint32_t) atomic_load (&pool->workers[i].ticket) > 0)
      return true;
  return false;
}

static bool
is_done (CclPool *pool)
{
  return atomic_load (&pool->pending) == 0;
}

/* Busy-polls for a short time; false if the condition did not come true. */
static bool
watch (CclPool *pool, bool (*condition) (CclPool *pool))
{
  uint64_t until = ccl_cpu_now () + pool->spin;

  do {
    for (int i = 0; i < 8; i++, ccl_cpu_relax ())
      if (condition (pool))
        return true;
  } while (ccl_cpu_now () < until);
  return false;
}

static void *
work (void *data)
{
  Worker *self = data;
  CclPool *pool = self->pool;

  while (!atomic_load (&pool->quit)) {
    if (!watch (pool, is_called)) {
      pthread_mutex_lock (&pool->lock);
      atomic_fetch_add (&pool->asleep, 1);
      while (!is_called (pool))
        pthread_cond_wait (&pool->work, &pool->lock);
      atomic_fetch_sub (&pool->asleep, 1);
      pthread_mutex_unlock (&pool->lock);
    }
    take_job (pool, (unsigned) (self - pool->workers), pool->n_workers);
  }
  return NULL;
}

/* Gives each thread its range of @count parts, the caller last: it is never late. */
static void
publish (CclPool *pool, CclTask task, void *data, uint32_t count)
{
  uint64_t n = pool->n_workers;

  pool->task = task;
  pool->data = data;
  pool->job++;
  atomic_store (&pool->pending, count);
  for (uint64_t i = n; i-- > 0;) {
    Worker *worker = &pool->workers[i];
    uint32_t first = (uint32_t) (count * i / n);

    worker->end = (uint32_t) (count * (i + 1) / n);
    atomic_store (&worker->ticket, (uint64_t) pool->job << 32 | (worker->end - first));
  }
  /* A worker counts itself as asleep before it reads the tickets for the last time. */
  if (atomic_load (&pool->asleep) > 0) {
    pthread_mutex_lock (&pool->lock);
    pthread_cond_broadcast (&pool->work);
    pthread_mutex_unlock (&pool->lock);
  }
}

void
ccl_pool_run (CclPool *pool, CclTask task, void *data, uint32_t count)
{
  if (!pool || count <= 1) {
    for (uint32_t i = 0; i < count; i++)
      task (data, i);
    return;
  }
  publish (pool, task, data, count);
  take_job (pool, 0, pool->n_workers);
  if (!watch (pool, is_done)) {
    pthread_mutex_lock (&pool->lock);
    while (!is_done (pool))
      pthread_cond_wait (&pool->done, &pool->lock);
    pthread_mutex_unlock (&pool->lock);
  }
}

unsigned
ccl_pool_cpus (void)
{
  long online = sysconf (_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) == 0 && CPU_COUNT (&set) > 0)
    return (unsigned) CPU_COUNT (&set);
#endif
  return online > 0 ? (unsigned) online : 1;
}

/* Starts the threads with all signals blocked: signals belong to the application. */
static int
start_workers (CclPool *pool, unsigned wanted)
{
  sigset_t all, before;
  int error = 0;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  while (!error && pool->started < wanted) {
    Worker *worker = &pool->workers[pool->started];

    error = pthread_create (&worker->thread, NULL, work, worker);
    pool->started += !error;
  }
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return error;
}

static CclStatus
pool_new (unsigned threads, uint64_t spin, CclAccount *account, CclPool **pool)
{
  size_t size = sizeof **pool + threads * sizeof (Worker);
  CclPool *self = ccl_account_malloc (account, 1, size, "threads");
  int error;

  *pool = NULL;
  if (!self)
    return CCL_ERROR_NO_MEMORY;
  memset (self, 0, size);
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->work, NULL);
  pthread_cond_init (&self->done, NULL);
  self->spin = spin;
  self->n_workers = threads;
  self->started = 1;
  for (unsigned i = 0; i < threads; i++)
    self->workers[i].pool = self;
  error = start_workers (self, threads);
  if (error) {
    unsigned failed = self->started;

    ccl_pool_free (self);
    return ccl_fail (CCL_ERROR_NO_MEMORY, "thread %u of %u did not start: %s; use fewer threads",
                     failed + 1, threads, strerror (error));
  }
  *pool = self;
  return CCL_OK;
}

CclStatus
ccl_pool_new (unsigned threads, CclAccount *account, CclPool **pool)
{
  return pool_new (threads, SPIN_NS, account, pool);
}

void
ccl_pool_free (CclPool *pool)
{
  if (!pool)
    return;
  pthread_mutex_lock (&pool->lock);
  atomic_store (&pool->quit, true);
  pthread_cond_broadcast (&pool->work);
  pthread_mutex_unlock (&pool->lock);
  for (unsigned i = 1; i < pool->started; i++)
    pthread_join (pool->workers[i].thread, NULL);
  pthread_cond_destroy (&pool->done);
  pthread_cond_destroy (&pool->work);
  pthread_mutex_destroy (&pool->lock);
  free (pool);
}

static struct
{
  pthread_mutex_t lock; /* protects the next two */
  unsigned references;
  CclPool *pool;
  _Atomic uint32_t jobs; /* in progress; the pool runs the one that came when there was none */
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
ccl_pool_shared_ref (void)
{
  CclAccount account = { 0, 0 }; /* no analyzer's */
  unsigned threads = ccl_cpu_tuning.shared_threads;

  if (threads == 0) {
    threads = ccl_pool_cpus () / SHARED_CPUS;
    threads = threads < SHARED_THREADS ? threads : SHARED_THREADS;
  }
  pthread_mutex_lock (&shared.lock);
  if (shared.references++ == 0 && threads > 1)
    pool_new (threads, SHARED_SPIN_NS, &account, &shared.pool);
  pthread_mutex_unlock (&shared.lock);
}

void
ccl_pool_shared_unref (void)
{
  CclPool *pool = NULL;

  pthread_mutex_lock (&shared.lock);
  if (--shared.references == 0) {
    pool = shared.pool;
    shared.pool = NULL;
  }
  pthread_mutex_unlock (&shared.lock);
  ccl_pool_free (pool);
}

void
ccl_pool_shared_run (CclTask task, void *data, uint32_t count)
{
  bool alone = atomic_fetch_add (&shared.jobs, 1) > 0;

  ccl_pool_run (alone ? NULL : shared.pool, task, data, count);
  atomic_fetch_sub (&shared.jobs, 1);
}
