/* cudaccl - ccl-bench: images from files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#ifdef HAVE_PNG
#include <png.h>
#endif

/* Supported file name extensions. */
static const char *const endings[] = {
  ".pgm",
  ".pbm",
#ifdef HAVE_PNG
  ".png",
#endif
};

static bool
has_ending (const char *path, const char *ending)
{
  size_t length = strlen (path), end = strlen (ending);

  return length > end && strcasecmp (path + length - end, ending) == 0;
}

static bool
is_image (const char *name)
{
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (has_ending (name, endings[i]))
      return true;
  return false;
}

#ifdef HAVE_PNG
static bool
read_png (const char *path, TestImage *image)
{
  png_image png = { .version = PNG_IMAGE_VERSION };
  bool ok = png_image_begin_read_from_file (&png, path);

  if (ok && (uint64_t) png.width * png.height <= UINT32_MAX) {
    png.format = PNG_FORMAT_GRAY;
    *image = test_image_new (png.width, png.height);
    ok = png_image_finish_read (&png, NULL, image->pixels, 0, NULL);
  }
  ok &= image->pixels != NULL;
  if (!ok) {
    fprintf (stderr, "%s: %s\n", path, png.message[0] ? png.message : "too many pixels");
    test_image_clear (image);
  }
  png_image_free (&png);
  return ok;
}
#endif

/* Values become 0 and 255: peers have no threshold. */
static void
make_binary (TestImage *image)
{
  size_t pixels = (size_t) image->width * image->height;

  for (size_t i = 0; i < pixels; i++)
    image->pixels[i] = image->pixels[i] > 127 ? 255 : 0;
}

bool
bench_read_image (const char *path, TestImage *image)
{
  bool (*read) (const char *, TestImage *) = test_image_read_pnm;
  bool ok;

  memset (image, 0, sizeof *image);
#ifdef HAVE_PNG
  if (has_ending (path, ".png"))
    read = read_png;
#endif
  ok = read (path, image);
  if (ok)
    make_binary (image);
  return ok;
}

/* @path is consumed. */
static void
add_file (Bench *bench, const char *set, char *path)
{
  BenchImage *file;
  TestImage image;

  if (!bench_read_image (path, &image))
    exit (EXIT_FAILURE);
  bench->files = realloc (bench->files, (bench->n_files + 1) * sizeof *bench->files);
  if (!bench->files)
    test_fatal ("out of memory for a list of images");
  file = &bench->files[bench->n_files++];
  *file = (BenchImage){ .size = { image.width, image.height }, .set = set, .path = path };
  for (size_t i = 0; i < (size_t) image.width * image.height; i++)
    file->density += image.pixels[i] != 0;
  file->density = (uint32_t) (file->density * 100.0 / image.width / image.height + 0.5);
  test_image_clear (&image);
}

static void
add_folder (Bench *bench, const char *folder)
{
  struct dirent **entries;
  int count = scandir (folder, &entries, NULL, alphasort);

  if (count < 0)
    test_fatal ("%s: %s", folder, strerror (errno));
  for (int i = 0; i < count; i++) {
    char *path = NULL;

    if (is_image (entries[i]->d_name)) {
      if (asprintf (&path, "%s/%s", folder, entries[i]->d_name) < 0)
        test_fatal ("out of memory for a list of images");
      add_file (bench, folder, path);
    }
    free (entries[i]);
  }
  free (entries);
}

static int
compare_files (const void *a, const void *b)
{
  const BenchImage *fa = a, *fb = b;

  if (fa->size.width != fb->size.width)
    return fa->size.width < fb->size.width ? -1 : 1;
  if (fa->size.height != fb->size.height)
    return fa->size.height < fb->size.height ? -1 : 1;
  return strcmp (fa->path, fb->path);
}

void
bench_find_files (Bench *bench)
{
  for (size_t i = 0; i < bench->options.n_images; i++) {
    const char *name = bench->options.images[i];
    size_t before = bench->n_files;
    struct stat status;

    if (stat (name, &status) != 0)
      test_fatal ("%s: %s", name, strerror (errno));
    if (S_ISDIR (status.st_mode))
      add_folder (bench, name);
    else
      add_file (bench, name, strdup (name));
    if (bench->n_files == before)
      test_fatal ("%s: there are no images in it whose names end with .pgm, .pbm or (if this build "
                  "has libpng) .png",
                  name);
  }
  if (bench->n_files)
    qsort (bench->files, bench->n_files, sizeof *bench->files, compare_files);
}

void
bench_clear_files (Bench *bench)
{
  for (size_t i = 0; i < bench->n_files; i++)
    free ((char *) bench->files[i].path);
  free (bench->files);
}
