/* cudaccl - fuzzing: replays inputs without libFuzzer
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* fuzz-TARGET FILE|FOLDER...: runs each file once, and prefixes of it, which mutations make anyway.
 */

#include "tests/fuzz/input.h"

#include "tests/lib/mt19937.h"
#include "tests/lib/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 4096
#define MOST_BYTES 4096 /* of a mutation */

typedef struct File
{
  uint8_t *data;
  size_t size;
} File;

static File files[MOST_FILES];
static uint32_t n_files;
static uint64_t n_runs;

/* The input that runs now. */
static const uint8_t *current;
static size_t current_size;

/* Writes the input that crashed, as libFuzzer does. */
static void
write_crash (int signal_number)
{
  static const char path[] = "crash-input";
  int file = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

  if (file >= 0 && write (file, current, current_size) == (ssize_t) current_size &&
      write (STDERR_FILENO, path, sizeof path - 1) > 0)
    close (file);
  signal (signal_number, SIG_DFL);
  raise (signal_number);
}

static void
catch_crashes (void)
{
  static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM };

  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal (signals[i], write_crash);
}

/* The copy has exactly @size bytes: the address sanitizer finds reads past the end. */
static void
run (const uint8_t *data, size_t size)
{
  uint8_t *copy = test_alloc (size);

  memcpy (copy, data, size);
  current = copy;
  current_size = size;
  alarm (600); /* a hang, or a machine with much else to do */
  LLVMFuzzerTestOneInput (copy, size);
  free (copy);
  n_runs++;
}

static void
run_file (const char *path)
{
  FILE *file = fopen (path, "rb");
  uint8_t *data = test_alloc (1 << 20);
  size_t size;

  if (!file)
    test_fatal ("%s: %s", path, strerror (errno));
  size = fread (data, 1, 1 << 20, file);
  fclose (file);
  for (size_t part = size / 4; part > 0 && part < size; part += size / 4 + 1)
    run (data, part);
  run (data, size);
  if (n_files == MOST_FILES)
    test_fatal ("more than %d files", MOST_FILES);
  files[n_files++] = (File){ data, size };
}

/* A number that is small more often than large. */
static uint32_t
draw_small (Mt19937 *rng, uint32_t below)
{
  return mt19937_below (rng, 1 + mt19937_below (rng, below));
}

/* Changes some bytes, inserts, removes or replaces a piece, in most cases by one of another file.
 */
static size_t
mutate (Mt19937 *rng, uint8_t *data, size_t size)
{
  const File *other = &files[mt19937_below (rng, n_files)];
  size_t at = size ? mt19937_below (rng, (uint32_t) size) : 0, n, from;

  switch (mt19937_below (rng, 6)) {
  case 0: /* cut out */
    n = 1 + draw_small (rng, 32);
    if (at + n >= size)
      return at;
    memmove (data + at, data + at + n, size - at - n);
    return size - n;
  case 1: /* random bytes at the end */
    for (n = draw_small (rng, 256); n > 0 && size < MOST_BYTES; n--)
      data[size++] = (uint8_t) mt19937_next (rng);
    return size;
  case 2: /* a piece of a file over what is there, or at the end */
    if (other->size == 0)
      return size;
    from = mt19937_below (rng, (uint32_t) other->size);
    for (n = 1 + draw_small (rng, 64); n > 0 && from < other->size && at < MOST_BYTES; n--)
      data[at++] = other->data[from++];
    return at > size ? at : size;
  default: /* some bytes */
    for (n = 1 + draw_small (rng, 16); n > 0 && size > 0; n--)
      data[mt19937_below (rng, (uint32_t) size)] = (uint8_t) mt19937_next (rng);
    return size;
  }
}

static void
run_random (uint64_t n, uint32_t seed)
{
  uint8_t *data = test_alloc (MOST_BYTES);
  Mt19937 rng;

  mt19937_seed (&rng, seed);
  for (uint64_t i = 0; i < n; i++) {
    const File *file = &files[mt19937_below (&rng, n_files)];
    size_t size = file->size < MOST_BYTES ? file->size : MOST_BYTES;

    if (mt19937_below (&rng, 8) == 0) {
      size = draw_small (&rng, 512);
      for (size_t k = 0; k < size; k++)
        data[k] = (uint8_t) mt19937_next (&rng);
    } else {
      memcpy (data, file->data, size);
    }
    for (uint32_t k = 1 + draw_small (&rng, 6); k > 0; k--)
      size = mutate (&rng, data, size);
    run (data, size);
  }
  free (data);
}

static void
run_path (const char *path)
{
  struct dirent **entries;
  struct stat status;
  int n;

  if (stat (path, &status) != 0)
    test_fatal ("%s: %s", path, strerror (errno));
  if (!S_ISDIR (status.st_mode)) {
    run_file (path);
    return;
  }
  n = scandir (path, &entries, NULL, alphasort);
  if (n < 0)
    test_fatal ("%s: %s", path, strerror (errno));
  for (int i = 0; i < n; i++) {
    size_t length = strlen (path) + strlen (entries[i]->d_name) + 2;
    char *inner = test_alloc (length);

    snprintf (inner, length, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.')
      run_path (inner);
    free (inner);
    free (entries[i]);
  }
  free (entries);
}

int
main (int argc, char **argv)
{
  uint64_t random_runs = 0;
  uint32_t seed = 1;
  int i = 1;

  LLVMFuzzerInitialize (&argc, &argv);
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (strcmp (argv[i], "--random") == 0)
      random_runs = test_parse_whole_number (argv[i + 1], 0, UINT64_MAX);
    else if (strcmp (argv[i], "--seed") == 0)
      seed = (uint32_t) test_parse_whole_number (argv[i + 1], 0, UINT32_MAX);
    else
      test_fatal ("no such option: %s", argv[i]);
  }
  if (i == argc)
    test_fatal ("usage: %s [--random N] [--seed S] FILE|FOLDER...", argv[0]);
  catch_crashes ();
  run ((const uint8_t *) "", 0);
  for (; i < argc; i++)
    run_path (argv[i]);
  if (n_files == 0)
    test_fatal ("no files");
  if (random_runs > 0)
    printf ("seed %" PRIu32 "\n", seed);
  fflush (stdout);
  run_random (random_runs, seed);
  printf ("%" PRIu32 " files, %" PRIu64 " runs\n", n_files, n_runs);
  for (uint32_t k = 0; k < n_files; k++)
    free (files[k].data);
  return EXIT_SUCCESS;
}
