/* cudaccl - memory for an analyzer's frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/arena.h"
#include "tests/lib/device.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes before and after a frame that are filled with placement->fill, inside the arena: more
 * than any vector load overshoots. */
#define FILL_MARGIN 256

/* Offset of a word's least significant byte. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_FLIP 7
#else
#define BYTE_FLIP 0
#endif

bool
test_arena_available (CclMemory memory)
{
  return memory == CCL_MEMORY_HOST || test_device_available ();
}

static size_t
page_size (void)
{
  return (size_t) sysconf (_SC_PAGESIZE);
}

static void
release (TestArena *arena)
{
  if (!arena->base)
    return;
  if (arena->memory == CCL_MEMORY_HOST)
    munmap (arena->base - page_size (), arena->capacity + 2 * page_size ());
  else
    test_device_free (arena->memory, arena->base);
  arena->base = NULL;
  arena->capacity = 0;
}

static void
reserve (TestArena *arena, size_t bytes)
{
  size_t page = page_size ();
  uint8_t *pages;

  if (bytes <= arena->capacity)
    return;
  release (arena);
  if (arena->memory != CCL_MEMORY_HOST) {
    /* Frames end where the memory does, and their samples, of up to 32 bits, are aligned. */
    arena->capacity = (bytes + 3) / 4 * 4;
    arena->base = test_device_alloc (arena->memory, arena->capacity);
    return;
  }

  arena->capacity = (bytes + page - 1) / page * page;
  pages = mmap (NULL, arena->capacity + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect (pages + page, arena->capacity, PROT_READ | PROT_WRITE) != 0)
    test_fatal ("cannot map %zu bytes for a frame", arena->capacity);
  arena->base = pages + page;
}

static void
reserve_staging (TestArena *arena, size_t bytes)
{
  if (bytes <= arena->staging_capacity)
    return;
  test_device_free (CCL_MEMORY_PINNED, arena->staging);
  arena->staging = test_device_alloc (CCL_MEMORY_PINNED, bytes);
  arena->staging_capacity = bytes;
}

CclImage
test_arena_place (TestArena *arena, const TestImage *image, const TestPlacement *placement)
{
  size_t stride = image->width + placement->padding;
  size_t bytes = (size_t) (image->height - 1) * stride + image->width;
  size_t slack = placement->slack == TEST_SLACK_FRONT ? 0 : placement->slack;
  size_t offset, before, after;
  uint8_t *target;

  reserve (arena, bytes + slack);
  offset = placement->slack == TEST_SLACK_FRONT ? 0 : arena->capacity - slack - bytes;
  if (placement->bits)
    offset -= offset % 8; /* words are aligned */
  before = offset < FILL_MARGIN ? offset : FILL_MARGIN;
  after = arena->capacity - offset - bytes;
  after = after < FILL_MARGIN ? after : FILL_MARGIN;

  target = arena->base + offset - before;
  if (arena->memory == CCL_MEMORY_DEVICE) {
    if (arena->stream)
      test_device_stream_wait (arena->stream);
    reserve_staging (arena, before + bytes + after);
    target = arena->staging;
  }
  memset (target, placement->fill, before + bytes + after);
  for (uint32_t y = 0; y < image->height; y++)
    memcpy (target + before + y * stride, image->pixels + (size_t) y * image->width, image->width);

  if (arena->memory == CCL_MEMORY_DEVICE && placement->late) {
    if (!arena->stream)
      arena->stream = test_device_stream_new ();
    test_device_upload_late (arena->base + offset - before, target, before + bytes + after,
                             arena->stream);
  } else if (arena->memory == CCL_MEMORY_DEVICE) {
    test_device_upload (arena->base + offset - before, target, before + bytes + after);
  }
  return (CclImage){
    .data = arena->base + offset,
    .stride = stride,
    .memory = arena->memory,
    .stream = arena->memory == CCL_MEMORY_DEVICE && placement->late ? arena->stream : NULL,
  };
}

CclImage
test_arena_place_as (TestArena *arena, const TestImage *image, const CclParams *params,
                     const TestPlacement *placement)
{
  TestPlacement words = *placement;
  TestImage bits;
  CclImage placed;

  if (!placement->bits)
    return test_arena_place (arena, image, placement);
  words.padding = placement->padding / 8 * 8;
  if (placement->slack != TEST_SLACK_FRONT)
    words.slack = placement->slack / 8 * 8;
  bits = test_image_new ((image->width + 63) / 64 * 8, image->height);
  for (uint32_t y = 0; y < image->height; y++)
    for (uint32_t x = 0; x < image->width; x++) {
      bool set = test_image_is_foreground (image, params, x, y) != params->invert;

      /* The lowest bit of a word is that of its first byte in memory. */
      bits.pixels[(size_t) y * bits.width + (x / 8 ^ BYTE_FLIP)] |= (uint8_t) (set << x % 8);
    }
  placed = test_arena_place (arena, &bits, &words);
  placed.format = CCL_FORMAT_BITS;
  test_image_clear (&bits);
  return placed;
}

void
test_arena_clear (TestArena *arena)
{
  if (arena->stream) {
    test_device_stream_wait (arena->stream);
    test_device_stream_free (arena->stream);
  }
  release (arena);
  test_device_free (CCL_MEMORY_PINNED, arena->staging);
  *arena = (TestArena){ .memory = arena->memory };
}
