/* cudaccl - fuzzing: a strict parser of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/strictjson.h"
#include "tests/lib/image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 100

typedef struct Parser
{
  const char *start, *at, *end;
  const char *error;
  unsigned depth;
} Parser;

static StrictValue *parse_value (Parser *parser);

static void *
fail (Parser *parser, const char *error)
{
  if (!parser->error)
    parser->error = error;
  return NULL;
}

static int
peek (const Parser *parser)
{
  return parser->at < parser->end ? (unsigned char) *parser->at : -1;
}

static void
skip_blanks (Parser *parser)
{
  while (parser->at < parser->end && memchr (" \t\r\n", *parser->at, 4))
    parser->at++;
}

static bool
is_digit (int c)
{
  return c >= '0' && c <= '9';
}

static StrictValue *
value_new (StrictKind kind)
{
  StrictValue *value = test_alloc (sizeof *value);

  *value = (StrictValue){ .kind = kind };
  return value;
}

static char *
copy (const char *from, const char *to)
{
  size_t length = (size_t) (to - from);
  char *text = test_alloc (length + 1);

  memcpy (text, from, length);
  text[length] = '\0';
  return text;
}

static bool
skip_digits (Parser *parser)
{
  const char *start = parser->at;

  while (is_digit (peek (parser)))
    parser->at++;
  return parser->at > start;
}

static StrictValue *
parse_number (Parser *parser)
{
  const char *start = parser->at;
  StrictValue *value;

  parser->at += peek (parser) == '-';
  if (peek (parser) == '0')
    parser->at++;
  else if (!skip_digits (parser))
    return fail (parser, "expected a value");
  if (is_digit (peek (parser)))
    return fail (parser, "a leading zero");
  if (peek (parser) == '.') {
    parser->at++;
    if (!skip_digits (parser))
      return fail (parser, "no digit behind the point");
  }
  if (peek (parser) == 'e' || peek (parser) == 'E') {
    parser->at++;
    parser->at += peek (parser) == '+' || peek (parser) == '-';
    if (!skip_digits (parser))
      return fail (parser, "no digit in the exponent");
  }
  value = value_new (STRICT_NUMBER);
  value->text = copy (start, parser->at);
  return value;
}

/* Four digits of a \u escape. */
static uint32_t
parse_hex (Parser *parser)
{
  uint32_t code = 0;

  for (int i = 0; i < 4; i++) {
    int c = peek (parser);

    if (is_digit (c))
      c -= '0';
    else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
      c = (c | 32) - 'a' + 10;
    else
      return fail (parser, "not four hexadecimal digits") ? 0 : 0;
    code = code * 16 + (uint32_t) c;
    parser->at++;
  }
  return code;
}

static char *
put_utf8 (char *out, uint32_t code)
{
  if (code < 0x80) {
    *out++ = (char) code;
  } else if (code < 0x800) {
    *out++ = (char) (0xc0 | code >> 6);
    *out++ = (char) (0x80 | (code & 63));
  } else if (code < 0x10000) {
    *out++ = (char) (0xe0 | code >> 12);
    *out++ = (char) (0x80 | (code >> 6 & 63));
    *out++ = (char) (0x80 | (code & 63));
  } else {
    *out++ = (char) (0xf0 | code >> 18);
    *out++ = (char) (0x80 | (code >> 12 & 63));
    *out++ = (char) (0x80 | (code >> 6 & 63));
    *out++ = (char) (0x80 | (code & 63));
  }
  return out;
}

static char *
parse_escape (Parser *parser, char *out)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *name;
  uint32_t code, low;
  int c = peek (parser);

  parser->at += c >= 0;
  if (c != 'u') {
    name = c > 0 ? strchr (names, c) : NULL;
    if (!name)
      return fail (parser, "an unknown escape");
    *out++ = values[name - names];
    return out;
  }
  code = parse_hex (parser);
  if (code >= 0xdc00 && code < 0xe000)
    return fail (parser, "a low surrogate alone");
  if (code >= 0xd800 && code < 0xdc00) {
    if (parser->end - parser->at < 6 || parser->at[0] != '\\' || parser->at[1] != 'u')
      return fail (parser, "a high surrogate alone");
    parser->at += 2;
    low = parse_hex (parser);
    if (low < 0xdc00 || low >= 0xe000)
      return fail (parser, "a high surrogate alone");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code == 0)
    return fail (parser, "a 0, which C strings cannot have");
  return put_utf8 (out, code);
}

/* A character of two to four bytes, in its shortest form. */
static char *
parse_utf8 (Parser *parser, char *out)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  unsigned char c = (unsigned char) *parser->at;
  int length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  uint32_t code = c & (0x7fu >> length);

  if (c < 0xc0 || c >= 0xf8 || parser->end - parser->at < length)
    return fail (parser, "invalid UTF-8");
  for (int i = 1; i < length; i++) {
    unsigned char more = (unsigned char) parser->at[i];

    if ((more & 0xc0) != 0x80)
      return fail (parser, "invalid UTF-8");
    code = code << 6 | (more & 63);
  }
  if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return fail (parser, "invalid UTF-8");
  memcpy (out, parser->at, (size_t) length);
  parser->at += length;
  return out + length;
}

static char *
parse_string (Parser *parser)
{
  char *text, *out;

  if (peek (parser) != '"')
    return fail (parser, "expected a string");
  parser->at++;
  /* Decoded text is never longer. */
  text = out = test_alloc ((size_t) (parser->end - parser->at) + 1);
  while (out && peek (parser) != '"') {
    int c = peek (parser);

    if (c < 0x20) {
      out = fail (parser, c < 0 ? "a string without end" : "a control character in a string");
    } else if (c == '\\') {
      parser->at++;
      out = parse_escape (parser, out);
    } else if (c < 0x80) {
      *out++ = (char) c;
      parser->at++;
    } else {
      out = parse_utf8 (parser, out);
    }
  }
  if (!out || parser->error) {
    free (text);
    return NULL;
  }
  parser->at++;
  *out = '\0';
  return text;
}

/* The members of an object, or the items of an array, behind its bracket. */
static StrictValue *
parse_inside (Parser *parser, StrictKind kind)
{
  StrictValue *value = value_new (kind), **last = &value->first;
  int end = kind == STRICT_OBJECT ? '}' : ']';

  parser->at++;
  skip_blanks (parser);
  if (peek (parser) == end) {
    parser->at++;
    return value;
  }
  if (++parser->depth > MOST_DEPTH)
    fail (parser, "too deep");
  while (!parser->error) {
    StrictValue *item;
    char *name = NULL;

    skip_blanks (parser);
    if (kind == STRICT_OBJECT) {
      name = parse_string (parser);
      if (name && strict_member (value, name))
        fail (parser, "a name twice");
      skip_blanks (parser);
      if (name && peek (parser) != ':')
        fail (parser, "expected a colon");
      parser->at += !parser->error;
    }
    item = parser->error ? NULL : parse_value (parser);
    if (!item) {
      free (name);
      break;
    }
    item->name = name;
    *last = item;
    last = &item->next;
    skip_blanks (parser);
    if (peek (parser) == end) {
      parser->at++;
      parser->depth--;
      return value;
    }
    if (peek (parser) != ',')
      fail (parser, "expected a comma");
    else
      parser->at++;
  }
  strict_free (value);
  return NULL;
}

static StrictValue *
parse_value (Parser *parser)
{
  static const char *const words[] = { "null", "true", "false" };
  StrictValue *value;
  char *text;

  skip_blanks (parser);
  switch (peek (parser)) {
  case '{':
    return parse_inside (parser, STRICT_OBJECT);
  case '[':
    return parse_inside (parser, STRICT_ARRAY);
  case '"':
    text = parse_string (parser);
    if (!text)
      return NULL;
    value = value_new (STRICT_STRING);
    value->text = text;
    return value;
  default:
    break;
  }
  for (int i = 0; i < 3; i++) {
    size_t length = strlen (words[i]);

    if ((size_t) (parser->end - parser->at) >= length &&
        memcmp (parser->at, words[i], length) == 0) {
      parser->at += length;
      return value_new (STRICT_NULL + (StrictKind) i);
    }
  }
  return parse_number (parser);
}

StrictValue *
strict_parse (const char *text, size_t size, const char **error, size_t *position)
{
  Parser parser = { text, text, text + size, NULL, 0 };
  StrictValue *value = parse_value (&parser);

  skip_blanks (&parser);
  if (value && parser.at < parser.end) {
    fail (&parser, "text behind the value");
    strict_free (value);
    value = NULL;
  }
  *error = parser.error;
  *position = (size_t) (parser.at - parser.start);
  return value;
}

void
strict_free (StrictValue *value)
{
  while (value) {
    StrictValue *next = value->next;

    strict_free (value->first);
    free (value->name);
    free (value->text);
    free (value);
    value = next;
  }
}

const StrictValue *
strict_member (const StrictValue *object, const char *name)
{
  for (const StrictValue *member = object->first; member; member = member->next)
    if (member->name && strcmp (member->name, name) == 0)
      return member;
  return NULL;
}
