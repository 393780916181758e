/* cudaccl - operations on masks as text
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/mask/operations.h"
#include "engine/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* A row for each CclOperationKind. No name begins with another. */
static const struct
{
  const char *name, *syntax;
  CclOperationForm form;
} kinds[] = {
  [CCL_OPERATION_MEDIAN] = { "median", "median3, median5", CCL_FORM_SQUARE },
  [CCL_OPERATION_ERODE] = { "erode", "erodeWxH", CCL_FORM_RECTANGLE },
  [CCL_OPERATION_DILATE] = { "dilate", "dilateWxH", CCL_FORM_RECTANGLE },
  [CCL_OPERATION_OPEN] = { "open", "openWxH", CCL_FORM_RECTANGLE },
  [CCL_OPERATION_CLOSE] = { "close", "closeWxH", CCL_FORM_RECTANGLE },
  [CCL_OPERATION_FILL] = { "fill", "fill, fillN", CCL_FORM_SIZE_OR_ALL },
  [CCL_OPERATION_DROP] = { "drop", "dropN", CCL_FORM_SIZE },
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

unsigned
ccl_operation_kinds (void)
{
  return N_KINDS;
}

CclOperationForm
ccl_operation_form (CclOperationKind kind)
{
  return kinds[kind].form;
}

/* The text, and the position of the parser in it. */
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

/* Reads a number; returns 0, which no operation allows, if there is none, and UINT64_MAX if it is
 * too large. */
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
parse_square (Parser *parser, CclOperation *operation)
{
  const char *name = kinds[operation->kind].name;
  size_t at = position (parser);
  uint64_t size = take_number (parser);

  if (size != 3 && size != 5)
    return ccl_fail (CCL_ERROR_INVALID, "position %zu of the operations: expected %s3 or %s5", at,
                     name, name);
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

/* A number of pixels, which may be left out with @or_all. */
static CclStatus
parse_size (Parser *parser, CclOperation *operation, bool or_all)
{
  size_t at = position (parser);
  bool given = isdigit ((unsigned char) *parser->at);

  operation->size = take_number (parser);
  if (operation->size == 0 && (given || !or_all))
    return ccl_fail (CCL_ERROR_INVALID,
                     "position %zu of the operations: expected a number of pixels, at least 1", at);
  return CCL_OK;
}

static CclStatus
fail_unknown (size_t at)
{
  char syntax[256] = "";
  size_t length = 0;

  for (size_t i = 0; i < N_KINDS; i++)
    length += (size_t) snprintf (syntax + length, sizeof syntax - length, "%s%s",
                                 i == 0            ? ""
                                 : i + 1 < N_KINDS ? ", "
                                                   : " or ",
                                 kinds[i].syntax);
  return ccl_fail (CCL_ERROR_INVALID, "position %zu of the operations: expected %s", at, syntax);
}

static CclStatus
parse_operation (Parser *parser, CclOperation *operation)
{
  size_t i = 0;

  while (i < N_KINDS && strncmp (parser->at, kinds[i].name, strlen (kinds[i].name)) != 0)
    i++;
  if (i == N_KINDS)
    return fail_unknown (position (parser));
  parser->at += strlen (kinds[i].name);
  *operation = (CclOperation){ .kind = (CclOperationKind) i };
  switch (kinds[i].form) {
  case CCL_FORM_SQUARE:
    return parse_square (parser, operation);
  case CCL_FORM_RECTANGLE:
    return parse_rectangle (parser, operation);
  default:
    return parse_size (parser, operation, kinds[i].form == CCL_FORM_SIZE_OR_ALL);
  }
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

static CclStatus
check_operation (const CclOperation *operation, uint32_t index)
{
  uint32_t width = operation->width, height = operation->height;

  if ((unsigned) operation->kind >= N_KINDS)
    return ccl_fail (CCL_ERROR_INVALID, "operation %" PRIu32 ": unknown kind", index);
  switch (kinds[operation->kind].form) {
  case CCL_FORM_SQUARE:
    if (width == height && (width == 3 || width == 5))
      break;
    return ccl_fail (CCL_ERROR_INVALID, "operation %" PRIu32 ": a %s must be 3x3 or 5x5", index,
                     kinds[operation->kind].name);
  case CCL_FORM_RECTANGLE:
    if (side_is_good (width) && side_is_good (height))
      break;
    return ccl_fail (CCL_ERROR_INVALID,
                     "operation %" PRIu32 ": the sides of a rectangle must be odd and at most %d",
                     index, CCL_MAX_OPERATION_SIZE);
  case CCL_FORM_SIZE:
    if (operation->size > 0)
      break;
    return ccl_fail (CCL_ERROR_INVALID,
                     "operation %" PRIu32 ": the size of a %s must be at least 1", index,
                     kinds[operation->kind].name);
  case CCL_FORM_SIZE_OR_ALL:
    break;
  }
  return CCL_OK;
}

CclStatus
ccl_operations_check (const CclOperation *operations, uint32_t n)
{
  CclStatus status = CCL_OK;

  if (n > CCL_MAX_OPERATIONS)
    return ccl_fail (CCL_ERROR_INVALID, "%" PRIu32 " operations; a chain has at most %d", n,
                     CCL_MAX_OPERATIONS);
  if (n > 0 && !operations)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_operations_check: operations is NULL");
  for (uint32_t i = 0; i < n && status == CCL_OK; i++)
    status = check_operation (&operations[i], i);
  return status;
}

static int
format_operation (const CclOperation *operation, char *text, size_t size)
{
  const char *name = kinds[operation->kind].name;

  switch (kinds[operation->kind].form) {
  case CCL_FORM_SQUARE:
    return snprintf (text, size, "%s%" PRIu32, name, operation->width);
  case CCL_FORM_RECTANGLE:
    return snprintf (text, size, "%s%" PRIu32 "x%" PRIu32, name, operation->width,
                     operation->height);
  default:
    return operation->size > 0 ? snprintf (text, size, "%s%" PRIu64, name, operation->size)
                               : snprintf (text, size, "%s", name);
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
