/* cudaccl - memory for an analyzer's frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_ARENA_H
#define TESTS_LIB_ARENA_H

#include "tests/lib/image.h"

/* Memory of one kind for one frame at a time; grows as needed, so that placing many frames is
 * cheap. Host memory lies between two inaccessible pages; device memory ends with its
 * allocation, which compute-sanitizer checks. Zero-initialise all but the kind. */
typedef struct TestArena
{
  CclMemory memory;
  uint8_t *base;
  size_t capacity;
  uint8_t *staging; /* pinned, for uploads to device memory */
  size_t staging_capacity;
  void *stream; /* for late uploads */
} TestArena;

/* The layout of a frame in its arena. */
typedef struct TestPlacement
{
  size_t padding; /* bytes between rows: the stride is the width plus this */
  size_t slack;   /* bytes between the frame's last pixel and the arena's end; TEST_SLACK_FRONT:
                   * the frame is at the arena's start instead */
  uint8_t fill;   /* what the padding and the slack hold */
  bool bits;      /* one bit a pixel, see test_arena_place_as() */
  bool late; /* device memory: the upload is only enqueued, after some other work, and the frame
              * is ready on a stream */
} TestPlacement;

#define TEST_SLACK_FRONT SIZE_MAX

/* Whether this build and machine have this kind of memory. */
bool test_arena_available (CclMemory memory);

/* Copies the image into the arena, over the previous frame. No analyzer may be using the arena. */
CclImage test_arena_place (TestArena *arena, const TestImage *image,
                           const TestPlacement *placement);

/* The same, or, with placement->bits, the image's foreground as CCL_FORMAT_BITS, from which @params
 * make that foreground again. Padding and slack are rounded down to whole words. */
CclImage test_arena_place_as (TestArena *arena, const TestImage *image, const CclParams *params,
                              const TestPlacement *placement);

void test_arena_clear (TestArena *arena);

#endif
