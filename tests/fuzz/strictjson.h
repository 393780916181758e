/* cudaccl - fuzzing: a strict parser of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Accepts what RFC 8259 does and nothing else: valid UTF-8 without surrogates, no control
 * characters or unknown escapes in strings, no leading zeros, no text behind the value, no name
 * twice in an object. */

#ifndef TESTS_FUZZ_STRICTJSON_H
#define TESTS_FUZZ_STRICTJSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum StrictKind
{
  STRICT_NULL,
  STRICT_TRUE,
  STRICT_FALSE,
  STRICT_NUMBER,
  STRICT_STRING,
  STRICT_ARRAY,
  STRICT_OBJECT,
} StrictKind;

typedef struct StrictValue StrictValue;

struct StrictValue
{
  StrictKind kind;
  char *name;         /* in an object, decoded */
  char *text;         /* a number as it is written, or a decoded string */
  StrictValue *first; /* of an array or object */
  StrictValue *next;
};

/* Parses @size bytes. Returns the value, to be freed with strict_free(), or NULL, with what is
 * wrong in *@error and where in *@position. */
StrictValue *strict_parse (const char *text, size_t size, const char **error, size_t *position);

void strict_free (StrictValue *value);

/* The member of that name, or NULL. */
const StrictValue *strict_member (const StrictValue *object, const char *name);

#endif
