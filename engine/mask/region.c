/* cudaccl - regions: polygons that become masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Integers only, so that the same pixels are set on every machine: corners are in billionths of the
 * frame. Every edge toggles the first pixel to its right in each row whose centres it passes; a
 * pixel is inside if an odd number of toggles precedes it. */

#include "engine/mask/mask.h"
#include "engine/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 1000000000
#define MOST_DECIMALS 9

typedef __int128 Wide;

typedef struct Corner
{
  int64_t x, y; /* 0 to UNIT */
} Corner;

/* A string of polygons, and the corners of the one that is parsed. */
typedef struct Parser
{
  const char *name, *text, *at;
  Corner *corners;
  size_t n, room;
} Parser;

static CclStatus
fail_at (const Parser *parser, const char *at, const char *message)
{
  return ccl_fail (CCL_ERROR_INVALID, "position %zu of %s: %s", (size_t) (at - parser->text),
                   parser->name, message);
}

static void
skip_blanks (Parser *parser)
{
  while (isspace ((unsigned char) *parser->at))
    parser->at++;
}

static bool
at_digit (const Parser *parser)
{
  return *parser->at >= '0' && *parser->at <= '9';
}

/* A fraction of the frame. Not with strtod(), whose decimal point depends on the locale. */
static CclStatus
parse_share (Parser *parser, int64_t *share)
{
  const char *start = parser->at;
  int64_t value = 0, unit = UNIT;
  unsigned decimals = 0;
  bool any = at_digit (parser);

  for (; at_digit (parser); parser->at++)
    value = value > 1 ? value : value * 10 + (*parser->at - '0');
  value *= UNIT;
  if (*parser->at == '.') {
    parser->at++;
    any |= at_digit (parser);
    for (; at_digit (parser); parser->at++) {
      unit /= 10;
      if (++decimals > MOST_DECIMALS)
        return fail_at (parser, parser->at, "fractions of the frame have at most 9 decimals");
      value += (*parser->at - '0') * unit;
    }
  }
  if (!any)
    return fail_at (parser, start, "expected a fraction of the frame from 0 to 1");
  if (value > UNIT)
    return fail_at (parser, start, "expected a fraction of the frame, not more than 1");
  *share = value;
  return CCL_OK;
}

static CclStatus
parse_corner (Parser *parser)
{
  Corner corner = { 0, 0 };
  CclStatus status = parse_share (parser, &corner.x);

  if (status != CCL_OK)
    return status;
  if (*parser->at != ',')
    return fail_at (parser, parser->at, "expected a comma between x and y");
  parser->at++;
  status = parse_share (parser, &corner.y);
  if (status != CCL_OK)
    return status;
  if (*parser->at && *parser->at != ';' && !isspace ((unsigned char) *parser->at))
    return fail_at (parser, parser->at, "expected a blank or a semicolon after the corner");
  if (parser->n == parser->room) {
    size_t room = parser->room ? 2 * parser->room : 16;
    Corner *corners = realloc (parser->corners, room * sizeof *corners);

    if (!corners)
      return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a polygon");
    parser->corners = corners;
    parser->room = room;
  }
  parser->corners[parser->n++] = corner;
  return CCL_OK;
}

/* Parses up to the end of a polygon. */
static CclStatus
parse_polygon (Parser *parser)
{
  const char *start = parser->at;

  for (parser->n = 0; *parser->at && *parser->at != ';'; skip_blanks (parser)) {
    CclStatus status = parse_corner (parser);

    if (status != CCL_OK)
      return status;
  }
  if (parser->n < 3)
    return fail_at (parser, start, "expected a polygon of at least 3 corners");
  return CCL_OK;
}

/* @a / @b rounded up; @b is above 0. */
static Wide
divide_up (Wide a, Wide b)
{
  return a / b + (a % b > 0);
}

/* The first of @size pixels whose centre is at @share / @unit of the frame or further. */
static uint32_t
first_pixel (Wide share, Wide unit, uint32_t size)
{
  Wide first = divide_up (2 * share * size - unit, 2 * unit);

  if (first < 0)
    return 0;
  return first < size ? (uint32_t) first : size;
}

/* Toggles pixels right of the edge from @a to @b in row @y, if the edge passes its centres. */
static void
toggle_edge (const CclMask *mask, uint64_t *row, uint32_t y, Corner a, Corner b)
{
  Wide height, centre, across;
  uint32_t x;

  if (a.y > b.y) {
    Corner c = a;

    a = b;
    b = c;
  }
  if (y < first_pixel (a.y, UNIT, mask->height) || y >= first_pixel (b.y, UNIT, mask->height))
    return;
  /* At the row's centre, (2 y + 1) / (2 height): how far down the edge, times 2 height. */
  height = 2 * (Wide) mask->height;
  centre = (2 * (Wide) y + 1) * UNIT - height * a.y;
  across = height * (b.y - a.y);
  x = first_pixel (a.x * across + centre * (b.x - a.x), across * UNIT, mask->width);
  if (x < mask->width)
    row[x / 64] ^= UINT64_C (1) << x % 64;
}

/* Each bit becomes whether an odd number of those up to it is set. */
static void
fill_row (uint64_t *row, size_t words)
{
  uint64_t inside = 0;

  for (size_t w = 0; w < words; w++) {
    for (unsigned n = 1; n < 64; n *= 2)
      row[w] ^= row[w] << n;
    row[w] ^= inside;
    inside = -(row[w] >> 63);
  }
}

/* Sets the pixels of a polygon, or those outside with @exclude to 0. */
static void
draw_polygon (const Parser *parser, CclMask *mask, uint64_t *row, bool exclude)
{
  size_t words = ccl_mask_words (mask->width);

  for (uint32_t y = 0; y < mask->height; y++) {
    uint64_t *to = mask->words + y * mask->pitch;

    memset (row, 0, words * sizeof *row);
    for (size_t i = 0; i < parser->n; i++)
      toggle_edge (mask, row, y, parser->corners[i], parser->corners[(i + 1) % parser->n]);
    fill_row (row, words);
    row[words - 1] &= ccl_mask_last_bits (mask->width);
    for (size_t w = 0; w < words; w++)
      to[w] = exclude ? to[w] & ~row[w] : to[w] | row[w];
  }
}

static CclStatus
draw_polygons (Parser *parser, CclMask *mask, uint64_t *row, bool exclude)
{
  skip_blanks (parser);
  while (*parser->at) {
    CclStatus status = parse_polygon (parser);

    if (status != CCL_OK)
      return status;
    draw_polygon (parser, mask, row, exclude);
    if (*parser->at == ';')
      parser->at++;
    skip_blanks (parser);
  }
  return CCL_OK;
}

static bool
is_blank (const char *text)
{
  while (isspace ((unsigned char) *text))
    text++;
  return !*text;
}

CclStatus
ccl_region_parse (const char *include, const char *exclude, CclMask *mask)
{
  CclStatus status = ccl_check_mask (mask, "ccl_region_parse");
  bool all = !include || is_blank (include);
  Parser parser = { .name = "include", .text = all ? "" : include };
  uint64_t *row;
  size_t words;

  if (status != CCL_OK)
    return status;
  words = ccl_mask_words (mask->width);
  row = malloc (words * sizeof *row);
  if (!row)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a row of a region");
  for (size_t y = 0; y < mask->height; y++) {
    memset (mask->words + y * mask->pitch, all ? 0xff : 0, words * sizeof *row);
    mask->words[y * mask->pitch + words - 1] &= ccl_mask_last_bits (mask->width);
  }
  parser.at = parser.text;
  status = draw_polygons (&parser, mask, row, false);
  parser.name = "exclude";
  parser.at = parser.text = exclude ? exclude : "";
  if (status == CCL_OK)
    status = draw_polygons (&parser, mask, row, true);
  free (parser.corners);
  free (row);
  return status;
}
