/* cudaccl - memory that frames are put into for an analyzer
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_COMMON_ARENA_H
#define TESTS_COMMON_ARENA_H

#include "tests/lib/image.h"

/* Memory of one kind for one frame at a time; grows as needed, so that placing many frames is
 * cheap. Host memory lies between two inaccessible pages; device memory ends with its allocation,
 * where compute-sanitizer looks. Zero-initialise all but the kind. */
typedef struct TestArena
{
  CclMemory memory;
  uint8_t *base;
  size_t capacity;
  uint8_t *staging; /* device memory's image on the host, page-locked */
  size_t staging_capacity;
  void *stream; /* of late uploads */
} TestArena;

/* How a frame lies in its arena. */
typedef struct TestPlacement
{
  size_t padding; /* bytes between rows: the stride is the width and this */
  size_t slack;   /* bytes between the frame's last pixel and the arena's end; TEST_SLACK_FRONT:
                   * the frame is at the arena's start instead */
  uint8_t fill;   /* what the padding and the slack hold */
  bool late; /* device memory: the upload is only enqueued, after some other work, and the frame
              * is ready on a stream */
} TestPlacement;

#define TEST_SLACK_FRONT SIZE_MAX

/* Whether this build and machine have such memory. */
bool test_arena_available (CclMemory memory);

/* Copies the image into the arena; what was there before is lost. The arena must be in no
 * analyzer's use. */
CclImage test_arena_place (TestArena *arena, const TestImage *image,
                           const TestPlacement *placement);

void test_arena_clear (TestArena *arena);

#endif
