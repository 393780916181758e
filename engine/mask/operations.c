/* cudaccl - operations on masks as text
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/mask.h>
#include "engine/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define SYNTAX \
  "expected median3, median5, erodeWxH, dilateWxH, openWxH, closeWxH, fill, fillN or dropN"

static const struct
{
  const char *name;
  CclOperationKind kind;
} kinds[] = {
  { "median", CCL_OPERATION_MEDIAN }, { "erode", CCL_OPERATION_ERODE },
  { "dilate", CCL_OPERATION_DILATE }, { "open", CCL_OPERATION_OPEN },
  { "close", CCL_OPERATION_CLOSE },   { "fill", CCL_OPERATION_FILL },
  { "drop", CCL_OPERATION_DROP },
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* Text that is parsed. */
typedef struct Parser
{
  const char *text, *at;
} Parser;

static size_t
position (const Parser *parser)
{
  return (size_t) (parser->at - parser->text);
}

static void
skip_blanks (Parser *parser)
{
  while (isspace ((unsigned char) *parser->at))
    parser->at++;
}

/* Takes a number; 0, which no operation allows, if there is none. Numbers that are too large become
 * UINT64_MAX. */
static uint64_t
take_number (Parser *parser)
{
  uint64_t value = 0;

  for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
    if (__builtin_mul_overflow (value, 10, &value) ||
        __builtin_add_overflow (value, (uint64_t) (*parser->at - '0'), &value))
      value = UINT64_MAX;
  }
  return value;
}

static bool
side_is_good (uint64_t side)
{
  return side % 2 == 1 && side <= CCL_MAX_OPERATION_SIZE;
}

static CclStatus
parse_median (Parser *parser, CclOperation *operation)
{
  size_t at = position (parser);
  uint64_t size = take_number (parser);

  if (size != 3 && size != 5)
    return ccl_fail (CCL_ERROR_INVALID,
                     "position %zu of the operations: expected median3 or median5", at);
  operation->width = operation->height = (uint32_t) size;
  return CCL_OK;
}

static CclStatus
parse_side (Parser *parser, uint32_t *side)
{
  size_t at = position (parser);
  uint64_t value = take_number (parser);

  if (!side_is_good (value))
    return ccl_fail (CCL_ERROR_INVALID,
                     "position %zu of the operations: expected a rectangle such as 5x11, with odd "
                     "sides of at most %d",
                     at, CCL_MAX_OPERATION_SIZE);
  *side = (uint32_t) value;
  return CCL_OK;
}

static CclStatus
parse_rectangle (Parser *parser, CclOperation *operation)
{
  CclStatus status = parse_side (parser, &operation->width);

  if (status != CCL_OK)
    return status;
  if (*parser->at != 'x')
    return ccl_fail (CCL_ERROR_INVALID,
                     "position %zu of the operations: expected an x and the rectangle's height",
                     position (parser));
  parser->at++;
  return parse_side (parser, &operation->height);
}

/* The pixels of fill, which may be left out, and drop. */
static CclStatus
parse_size (Parser *parser, CclOperation *operation)
{
  size_t at = position (parser);
  bool given = isdigit ((unsigned char) *parser->at);

  operation->size = take_number (parser);
  if (operation->size == 0 && (given || operation->kind == CCL_OPERATION_DROP))
    return ccl_fail (CCL_ERROR_INVALID,
                     "position %zu of the operations: expected a number of pixels, at least 1", at);
  return CCL_OK;
}

static CclStatus
parse_operation (Parser *parser, CclOperation *operation)
{
  for (size_t i = 0; i < N_KINDS; i++) {
    size_t length = strlen (kinds[i].name);

    if (strncmp (parser->at, kinds[i].name, length) != 0)
      continue;
    parser->at += length;
    *operation = (CclOperation){ .kind = kinds[i].kind };
    switch (operation->kind) {
    case CCL_OPERATION_MEDIAN:
      return parse_median (parser, operation);
    case CCL_OPERATION_FILL:
    case CCL_OPERATION_DROP:
      return parse_size (parser, operation);
    default:
      return parse_rectangle (parser, operation);
    }
  }
  return ccl_fail (CCL_ERROR_INVALID, "position %zu of the operations: " SYNTAX, position (parser));
}

CclStatus
ccl_operations_parse (const char *text, CclOperation *operations, uint32_t *n)
{
  Parser parser = { text, text };
  uint32_t count = 0;

  if (!text || !operations || !n)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_operations_parse: an argument is NULL");
  *n = 0;
  skip_blanks (&parser);
  while (*parser.at || count > 0) {
    CclStatus status;

    if (count == CCL_MAX_OPERATIONS)
      return ccl_fail (CCL_ERROR_INVALID,
                       "position %zu of the operations: a chain has at most %d operations",
                       position (&parser), CCL_MAX_OPERATIONS);
    status = parse_operation (&parser, &operations[count++]);
    if (status != CCL_OK)
      return status;
    skip_blanks (&parser);
    if (!*parser.at)
      break;
    if (*parser.at != ',')
      return ccl_fail (CCL_ERROR_INVALID,
                       "position %zu of the operations: expected a comma or the end",
                       position (&parser));
    parser.at++;
    skip_blanks (&parser);
  }
  *n = count;
  return CCL_OK;
}

/* Why the operation is invalid; NULL if it is valid. */
static const char *
find_fault (const CclOperation *operation)
{
  uint32_t width = operation->width, height = operation->height;

  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    return width == height && (width == 3 || width == 5) ? NULL : "a median must be 3x3 or 5x5";
  case CCL_OPERATION_ERODE:
  case CCL_OPERATION_DILATE:
  case CCL_OPERATION_OPEN:
  case CCL_OPERATION_CLOSE:
    return side_is_good (width) && side_is_good (height)
               ? NULL
               : "the sides of a rectangle must be odd and at most 255";
  case CCL_OPERATION_FILL:
    return NULL;
  case CCL_OPERATION_DROP:
    return operation->size > 0 ? NULL : "the size of a drop must be at least 1";
  }
  return "unknown kind";
}

CclStatus
ccl_operations_check (const CclOperation *operations, uint32_t n)
{
  if (n > CCL_MAX_OPERATIONS)
    return ccl_fail (CCL_ERROR_INVALID, "%" PRIu32 " operations; a chain has at most %d", n,
                     CCL_MAX_OPERATIONS);
  if (n > 0 && !operations)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_operations_check: operations is NULL");
  for (uint32_t i = 0; i < n; i++) {
    const char *fault = find_fault (&operations[i]);

    if (fault)
      return ccl_fail (CCL_ERROR_INVALID, "operation %" PRIu32 ": %s", i, fault);
  }
  return CCL_OK;
}

static int
format_operation (const CclOperation *operation, char *text, size_t size)
{
  const char *name = kinds[operation->kind].name;

  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    return snprintf (text, size, "%s%" PRIu32, name, operation->width);
  case CCL_OPERATION_FILL:
    if (operation->size == 0)
      return snprintf (text, size, "%s", name);
    /* fall through */
  case CCL_OPERATION_DROP:
    return snprintf (text, size, "%s%" PRIu64, name, operation->size);
  default:
    return snprintf (text, size, "%s%" PRIu32 "x%" PRIu32, name, operation->width,
                     operation->height);
  }
}

size_t
ccl_operations_format (const CclOperation *operations, uint32_t n, char *text, size_t size)
{
  char one[64];
  size_t length = 0;

  if (size > 0)
    text[0] = '\0';
  for (uint32_t i = 0; i < n; i++) {
    size_t left = length < size ? size - length : 0;

    format_operation (&operations[i], one, sizeof one);
    length += (size_t) snprintf (left ? text + length : NULL, left, "%s%s", i > 0 ? "," : "", one);
  }
  return length;
}
