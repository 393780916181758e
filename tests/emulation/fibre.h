/* cudaccl - emulation: fibres
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef EMULATION_FIBRE_H
#define EMULATION_FIBRE_H

#include <stddef.h>

/* A stack from the pool, and back. */
char *fibre_stack_new (void);
void fibre_stack_free (char *stack);

/* Whether @address is on any fibre's stack. */
bool fibre_owns (const void *address);

/* The context of a fibre that will call @entry, which must not return. */
void *fibre_begin (char *stack, void (*entry) (void));

/* Stores the current context in @from and continues in @to. */
void fibre_switch (void **from, void *to);

#endif
