/* cudaccl - emulation: fibres
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A switch of our own costs some nanoseconds; swapcontext() makes two system calls. */

#include "tests/emulation/fibre.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#define STACK_BYTES (128 * 1024)
#define MOST_STACKS (64 * 1024)

static char *stacks;
static size_t n_stacks;
static std::vector<char *> free_stacks;

char *
fibre_stack_new (void)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  char *stack;

  if (!free_stacks.empty ()) {
    stack = free_stacks.back ();
    free_stacks.pop_back ();
    return stack;
  }
  if (!stacks)
    stacks = (char *) mmap (NULL, (size_t) STACK_BYTES * MOST_STACKS, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stack = stacks + n_stacks * STACK_BYTES;
  /* The lowest page stays inaccessible, so that an overflow crashes. */
  if (stacks == MAP_FAILED || n_stacks == MOST_STACKS ||
      mprotect (stack + page, STACK_BYTES - page, PROT_READ | PROT_WRITE) != 0) {
    fprintf (stderr, "emulation: no memory for the stack of another thread\n");
    abort ();
  }
  n_stacks++;
  return stack;
}

void
fibre_stack_free (char *stack)
{
  free_stacks.push_back (stack);
}

bool
fibre_owns (const void *address)
{
  return (size_t) ((const char *) address - stacks) < n_stacks * STACK_BYTES;
}

#if defined __x86_64__

asm(".text\n"
    ".globl fibre_swap\n"
    ".hidden fibre_swap\n"
    ".type fibre_swap, @function\n"
    "fibre_swap:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size fibre_swap, . - fibre_swap\n");

extern "C" void fibre_swap (void **from, void *to);

void *
fibre_begin (char *stack, void (*entry) (void))
{
  void **top = (void **) (stack + STACK_BYTES) - 1; /* entry finds the stack as after a call */

  *--top = (void *) entry;
  for (int i = 0; i < 6; i++)
    *--top = NULL;
  return top;
}

void
fibre_switch (void **from, void *to)
{
  fibre_swap (from, to);
}

#elif defined __aarch64__

asm(".text\n"
    ".globl fibre_swap\n"
    ".hidden fibre_swap\n"
    ".type fibre_swap, @function\n"
    "fibre_swap:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size fibre_swap, . - fibre_swap\n");

extern "C" void fibre_swap (void **from, void *to);

void *
fibre_begin (char *stack, void (*entry) (void))
{
  void **top = (void **) (stack + STACK_BYTES) - 20;

  memset (top, 0, 160);
  top[11] = (void *) entry; /* x30 */
  return top;
}

void
fibre_switch (void **from, void *to)
{
  fibre_swap (from, to);
}

#else

#include <ucontext.h>

void *
fibre_begin (char *stack, void (*entry) (void))
{
  ucontext_t *context = (ucontext_t *) (stack + STACK_BYTES - sizeof (ucontext_t) / 16 * 16 - 16);

  getcontext (context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = (size_t) ((char *) context - stack);
  context->uc_link = NULL;
  makecontext (context, entry, 0);
  return context;
}

/* The context that is left is on its own stack. */
void
fibre_switch (void **from, void *to)
{
  ucontext_t context;

  *from = &context;
  swapcontext (&context, (ucontext_t *) to);
}

#endif
