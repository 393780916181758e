/* cudaccl - emulation: threads, blocks and kernels while they run
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef EMULATION_EMULATION_H
#define EMULATION_EMULATION_H

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <vector>

#define LANES 32u
#define BARRIERS 16u
#define MOST_THREADS 1024u

struct Block;
struct Grid;

/* options.cpp */

struct Options
{
  uint32_t seed;
  uint32_t processors; /* multiprocessors */
  bool delay_stores;   /* until a fence */
  bool find_races;     /* in shared memory */
  bool find_uninitialised;
  bool cooperative, integrated, capture; /* what the device can do */
  bool overlap;                          /* programmatic dependent launch */
  uint64_t memory;                       /* bytes on the device */
};

/* From the environment variable CCL_EMULATION, a list of NAME=NUMBER with commas. */
const Options *options_get (void);
void options_set_seed (uint32_t seed);

/* Random numbers: xorshift, seeded for each launch. */
extern uint32_t random_state;

static inline uint32_t
random_next (void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}

static inline uint32_t
random_below (uint32_t n)
{
  return (uint32_t) ((uint64_t) random_next () * n >> 32);
}

/* Threads */

/* A store that other threads do not see yet. It is in memory while the thread, or the block, that
 * made it runs; while others run, @value and what they see change places. */
struct DelayedStore
{
  uint64_t *word;
  uint64_t bytes; /* mask */
  uint64_t value; /* while it is not in memory */
};

enum Waiting
{
  RUNS,
  WAITS_FOR_WARP,
  WAITS_FOR_BLOCK,
  WAITS_FOR_GRID,
  WAITS_FOR_KERNEL,
  HAS_ENDED,
};

/* Epochs that a thread knows of the others of its block at a named barrier. */
typedef std::shared_ptr<std::vector<uint32_t>> Epochs;

struct Thread
{
  void *context;
  char *stack;
  Block *block;
  uint3 index;
  uint32_t number, lane, warp; /* in the block */
  uint32_t place;              /* in block->ready */
  Waiting waiting;
  uint32_t barrier;  /* while it waits for one */
  const void *where; /* that called the function in which it waits */

  EmulatedWarpOperation operation;
  uint32_t mask, argument, width;
  uint64_t value, result;

  std::vector<DelayedStore> stores;

  /* Shared memory: see races.cpp. */
  uint32_t epoch, seen_round;
  uint32_t seen[LANES];
  Epochs known;
};

struct Warp
{
  uint32_t live, waiting; /* lanes */
  uint32_t turn;          /* how often all of them have met */
  /* Of the first lane that waits, and whether all that wait have the same. */
  EmulatedWarpOperation operation;
  uint32_t mask;
  bool uniform;
};

struct Barrier
{
  uint32_t arrived, threads;
  bool any;
  uint32_t count, result_any, result_count;
  std::vector<Thread *> waiting;
};

struct SharedLine;

/* A static variable in shared memory. */
struct SharedVariable
{
  const void *key;
  size_t offset, size;
};

struct Block
{
  Grid *grid;
  uint3 index;
  uint32_t n, live;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Thread *> ready;
  Barrier barriers[BARRIERS];
  bool lets_follow;
  uint32_t round; /* of __syncthreads() */
  std::vector<DelayedStore> stores;
  char *memory; /* shared */
  std::vector<SharedVariable> variables;
  std::vector<SharedLine *> lines;
};

/* A kernel that runs, or waits for one that does. */
struct Grid
{
  const void *kernel;
  EmulatedCall call;
  dim3 size, block;
  size_t shared;
  bool cooperative, follows; /* follows: may start before the one before it has ended */
  Grid *before;
  uint32_t n, started, ended; /* blocks */
  uint32_t lets_follow;       /* blocks that have ended or let the next kernel follow */
  uint32_t most_resident, resident;
  uint32_t synced; /* threads that wait for the grid */
  std::vector<Thread *> waiting_for_grid, waiting_for_kernel;
  uint32_t switch_mask;             /* a thread goes on unless random bits under it are 0 */
  uint32_t plain_mask;              /* the same at plain accesses */
  std::vector<DelayedStore> stores; /* of blocks that have ended */
};

/* scheduler.cpp */

extern Thread *current; /* NULL: the host's code */

/* Runs kernels of which each may start before the one before it has ended. */
void scheduler_run (std::vector<Grid> *grids);

/* Lets other threads run if the random numbers say so. */
void scheduler_may_switch (uint32_t mask);

/* Waits; scheduler_wake() ends that. */
void scheduler_wait (Waiting waiting);
void scheduler_wake (Thread *thread);

/* Anything that is not waiting in a loop; without it for long, the kernel hangs. */
void scheduler_progress (void);

/* barriers.cpp and warp.cpp: a thread has ended. */
void barriers_thread_ended (Thread *thread);
void warp_thread_ended (Thread *thread);
void grid_thread_ended (Thread *thread);
const char *warp_operation_name (EmulatedWarpOperation operation);

/* stores.cpp */

void stores_enter_thread (Thread *thread);
void stores_leave_thread (Thread *thread);
void stores_enter_block (Block *block);
void stores_leave_block (Block *block);
/* A plain store of @size bytes follows. */
void stores_begin (void *address, size_t size);
/* An access to these bytes that is no plain one follows. */
void stores_commit (const void *address, size_t size);
/* Everything that the running thread has seen or done becomes visible to its block; to all. */
void stores_publish_in_block (Thread *thread);
void stores_publish (void);
void stores_thread_ended (Thread *thread);
/* The block's stores are in place; no other's are. */
void stores_block_ended (Block *block);
void stores_kernel_ended (Grid *grid);

/* memory.cpp: device and page-locked memory */

void *memory_allocate (size_t size, bool host);
bool memory_free (void *pointer, bool host);
bool memory_owns (const void *address);
/* Whether all @size bytes are in one allocation; @host, if not NULL: whether it is the host's. */
bool memory_find (const void *address, size_t size, bool *host);
size_t memory_available (void);
/* An access by the running thread. */
void memory_check (const void *address, size_t size, bool write, const void *where);
/* Copies by the runtime: whether the bytes are initialised. */
void memory_set_initialised (void *address, size_t size);
void memory_copy_initialised (void *to, const void *from, size_t size, const char *what);

/* shared.cpp: shared memory */

void shared_begin (Block *block);
void shared_end (Block *block);
/* Checks an access; false: not to shared memory. */
enum SharedAccess
{
  SHARED_READ,
  SHARED_WRITE,
  SHARED_STRONG, /* volatile or atomic */
};
bool shared_check (const void *address, size_t size, SharedAccess access, bool write,
                   const void *where);

/* races.cpp: who knows what of whom */

struct Access
{
  uint32_t round, epoch, turn;
  uint16_t thread;
  uint8_t bytes;
  const void *where;
};

Access races_access (const Thread *thread, uint8_t bytes, const void *where);
/* Whether the access comes before anything that @thread does now. */
bool races_is_before (const Access *access, const Thread *thread);
/* The same for a read and a write that follows: lanes that have met have got what they read. */
bool races_is_read_before (const Access *access, const Thread *thread);
void races_begin (Thread *thread);
void races_sync_block (Block *block);
void races_sync_threads (const std::vector<Thread *> &threads);
void races_sync_warp (Thread *lanes, uint32_t mask);

/* report.cpp */

/* Prints what is wrong, where, and how to repeat it; aborts. */
[[noreturn]] void report (const void *where, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
/* A kernel's or a code address' name, until the next call. */
const char *report_name (const void *address, bool function);

/* streams.cpp */

extern std::recursive_mutex runtime_lock;

#endif
