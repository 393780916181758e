/* cudaccl - emulation: every access of a kernel to memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels are compiled with -fsanitize=thread, so the compiler calls these functions before each
 * load and store, but they are not linked with the thread sanitizer. */

#include "tests/emulation/emulation.h"
#include "tests/emulation/fibre.h"

#define HOOK extern "C" __attribute__ ((visibility ("default"), used)) void

static void
access_memory (void *address, size_t size, bool write, bool strong, const void *where)
{
  if (!current) {
    if (memory_owns (address)) {
      bool host = false;

      if (!memory_find (address, size, &host) || !host)
        report (where, "the host's code accesses device memory");
    }
    return;
  }
  if (fibre_owns (address))
    return;
  if (memory_owns (address)) {
    if (write)
      scheduler_progress ();
    scheduler_may_switch (strong ? current->block->grid->switch_mask
                                 : current->block->grid->plain_mask);
    memory_check (address, size, write, where);
    if (strong)
      stores_commit (address, size);
    else if (write)
      stores_begin (address, size);
    return;
  }
  if (strong)
    scheduler_may_switch (current->block->grid->switch_mask);
  shared_check (address, size,
                strong  ? SHARED_STRONG
                : write ? SHARED_WRITE
                        : SHARED_READ,
                write, where);
}

#define HOOKS(size)                                                      \
  HOOK __tsan_read##size (void *p)                                       \
  {                                                                      \
    access_memory (p, size, false, false, __builtin_return_address (0)); \
  }                                                                      \
  HOOK __tsan_write##size (void *p)                                      \
  {                                                                      \
    access_memory (p, size, true, false, __builtin_return_address (0));  \
  }                                                                      \
  HOOK __tsan_unaligned_read##size (void *p)                             \
  {                                                                      \
    access_memory (p, size, false, false, __builtin_return_address (0)); \
  }                                                                      \
  HOOK __tsan_unaligned_write##size (void *p)                            \
  {                                                                      \
    access_memory (p, size, true, false, __builtin_return_address (0));  \
  }                                                                      \
  HOOK __tsan_volatile_read##size (void *p)                              \
  {                                                                      \
    access_memory (p, size, false, true, __builtin_return_address (0));  \
  }                                                                      \
  HOOK __tsan_volatile_write##size (void *p)                             \
  {                                                                      \
    access_memory (p, size, true, true, __builtin_return_address (0));   \
  }                                                                      \
  HOOK __tsan_unaligned_volatile_read##size (void *p)                    \
  {                                                                      \
    access_memory (p, size, false, true, __builtin_return_address (0));  \
  }                                                                      \
  HOOK __tsan_unaligned_volatile_write##size (void *p)                   \
  {                                                                      \
    access_memory (p, size, true, true, __builtin_return_address (0));   \
  }

HOOKS (1)
HOOKS (2)
HOOKS (4)
HOOKS (8)
HOOKS (16)

HOOK
__tsan_read_range (void *p, size_t size)
{
  access_memory (p, size, false, false, __builtin_return_address (0));
}

HOOK
__tsan_write_range (void *p, size_t size)
{
  access_memory (p, size, true, false, __builtin_return_address (0));
}

HOOK
__tsan_init (void)
{
}

HOOK
__tsan_func_entry (void *caller)
{
}

HOOK
__tsan_func_exit (void)
{
}

HOOK
__tsan_vptr_update (void **p, void *value)
{
}

/* The kernels' own functions. */

static uint64_t
load_word (const void *word, size_t size)
{
  uint64_t value = 0;

  memcpy (&value, word, size);
  return value;
}

static uint64_t
new_value (EmulatedAtomic operation, uint64_t old, uint64_t value, uint64_t compare)
{
  switch (operation) {
  case EMULATED_ADD:
    return old + value;
  case EMULATED_MIN:
    return old < value ? old : value;
  case EMULATED_MAX:
    return old > value ? old : value;
  case EMULATED_EXCHANGE:
    return value;
  case EMULATED_OR:
    return old | value;
  case EMULATED_AND:
    return old & value;
  case EMULATED_XOR:
    return old ^ value;
  default:
    return old == compare ? value : old;
  }
}

uint64_t
emulated_atomic (EmulatedAtomic operation, void *word, size_t size, uint64_t value,
                 uint64_t compare)
{
  const void *where = __builtin_return_address (0);
  uint64_t old, result;

  if ((uintptr_t) word % size)
    report (where, "an atomic operation on %zu bytes at the odd address %p", size, word);
  if (!memory_owns (word) && fibre_owns (word))
    report (where, "an atomic operation on a local variable");
  access_memory (word, size, false, true, where);
  old = load_word (word, size);
  result = new_value (operation, old, value, compare);
  memcpy (word, &result, size);
  scheduler_progress ();
  return old;
}

void
emulated_load (void *to, const void *from, size_t size)
{
  access_memory ((void *) from, size, false, true, __builtin_return_address (0));
  memcpy (to, from, size);
}
