/* cudaccl - checkccl: every algorithm of every backend against the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/clock.h"
#include "tests/lib/parse.h"
#include "tests/lib/sanitizer.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_SKIP 77 /* Meson's exit status for "skipped" */

static const Test *const test_tables[] = {
  reference_tests, error_tests,      frame_tests,  setting_tests,    analyzer_tests, label_tests,
  memory_tests,    allocation_tests, array_tests,  cpu_tests,        volume_tests,   shape_tests,
  batch_tests,     update_tests,     motion_tests, light_tests,      place_tests,    mask_tests,
  cleaning_tests,  sample_tests,     color_tests,  completion_tests, failure_tests,  crop_tests,
  value_tests,     signature_tests
};

static const char usage[] = "\
Usage: checkccl [OPTION...]\n\
Checks every algorithm of every backend against the reference.\n\
\n\
  --seed=N             seed of the random numbers; the default is a new one, which is printed\n\
  --backend=NAME       only this backend: cpu or cuda\n\
  --algorithm=NAME     only this algorithm\n\
  --connectivity=N     only 4 or 8\n\
  --test=PATTERN       only tests whose name matches, such as 'pat*' or '@(tiny|noise)'\n\
  --tiny               fewer still, for the emulated device\n\
  --small              few and small images, for compute-sanitizer and valgrind\n\
  --quick, --full      fewer or more images than by default\n\
  --dump=DIR           folder for failing images (default: the current one)\n\
  --image=FILE         replays a PGM file instead of running tests, with\n\
    --threshold=N --invert --min-area=N --max-area=N --max-components=N --second-order\n\
    --labels\n\
  --list               lists algorithms and tests\n\
  --verbose            prints every analysis\n\
  --help               prints this help\n\
\n\
Exit status: 0 if all tests passed, 1 if some failed, 77 if there was nothing to run.\n";

/* Prepared for a signal handler, which can do little more than write it. */
static char crash_message[512];

void
check_on_crash (const Check *check, const Case *c)
{
  int length = snprintf (crash_message, sizeof crash_message,
                         "\ncheckccl: crashed; reproduce with --seed=%u --test=%s",
                         check->options.seed, check->test);

  if (c)
    length += snprintf (crash_message + length, sizeof crash_message - (size_t) length,
                        " --algorithm=%s --connectivity=%u\n"
                        "  %u x %u%s, memory %d, padding %zu, slack %zd, threshold %u%s",
                        c->algorithm->name, c->connectivity, c->image->width, c->image->height,
                        c->placement.bits ? " bits" : "", (int) c->memory, c->placement.padding,
                        (ssize_t) c->placement.slack, c->setup.params.threshold,
                        c->setup.params.invert ? " inverted" : "");
  snprintf (crash_message + length, sizeof crash_message - (size_t) length, "\n");
}

static void
handle_crash (int number)
{
  ssize_t written = write (STDOUT_FILENO, crash_message, strlen (crash_message));

  (void) written;
  raise (number); /* terminates: the handler is reset */
}

/* Reading past a frame crashes at an inaccessible page: print which case it was. The sanitizers
 * do that better, with a stack trace. */
static void
catch_crashes (void)
{
#if !TEST_SANITIZER
  static const int numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
  struct sigaction action = { .sa_handler = handle_crash, .sa_flags = (int) SA_RESETHAND };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    sigaction (numbers[i], &action, NULL);
#else
  (void) handle_crash;
#endif
}

static void
set_backend (void *data, const char *argument)
{
  ((Options *) data)->backend = test_parse_backend (argument);
}

bool
check_has_algorithm (const char *name)
{
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++)
    if (strcmp (algorithm->name, name) == 0)
      return true;
  return false;
}

static void
set_algorithm (void *data, const char *argument)
{
  if (!check_has_algorithm (argument))
    test_fatal ("this build has no algorithm '%s'; --list shows all", argument);
  ((Options *) data)->algorithm = argument;
}

static void
set_connectivity (void *data, const char *argument)
{
  uint64_t connectivity = test_parse_whole_number (argument, 4, 8);

  if (connectivity != 4 && connectivity != 8)
    test_fatal ("connectivity %s is neither 4 nor 8", argument);
  ((Options *) data)->connectivity = (unsigned) connectivity;
}

static void
set_tiny (void *data, const char *argument)
{
  ((Options *) data)->effort = EFFORT_TINY;
}

static void
set_small (void *data, const char *argument)
{
  ((Options *) data)->effort = EFFORT_SMALL;
}

static void
set_quick (void *data, const char *argument)
{
  ((Options *) data)->effort = EFFORT_QUICK;
}

static void
set_full (void *data, const char *argument)
{
  ((Options *) data)->effort = EFFORT_FULL;
}

static void
set_threshold (void *data, const char *argument)
{
  ((Options *) data)->params.threshold = (uint8_t) test_parse_whole_number (argument, 0, 255);
}

static void
set_min_area (void *data, const char *argument)
{
  ((Options *) data)->params.min_area = test_parse_whole_number (argument, 0, UINT64_MAX);
}

static void
set_max_area (void *data, const char *argument)
{
  ((Options *) data)->params.max_area = test_parse_whole_number (argument, 0, UINT64_MAX);
}

#define MEMBER(name) .member = offsetof (Options, name)

static const TestOption option_table[] = {
  { "seed", TEST_NUMBER, MEMBER (seed), .most = UINT32_MAX },
  { "backend", TEST_CALL, .call = set_backend },
  { "algorithm", TEST_CALL, .call = set_algorithm },
  { "connectivity", TEST_CALL, .call = set_connectivity },
  { "test", TEST_TEXT, MEMBER (test) },
  { "tiny", TEST_CALL_FLAG, .call = set_tiny },
  { "small", TEST_CALL_FLAG, .call = set_small },
  { "quick", TEST_CALL_FLAG, .call = set_quick },
  { "full", TEST_CALL_FLAG, .call = set_full },
  { "dump", TEST_TEXT, MEMBER (dump) },
  { "image", TEST_TEXT, MEMBER (image) },
  { "threshold", TEST_CALL, .call = set_threshold },
  { "invert", TEST_FLAG, MEMBER (params.invert) },
  { "min-area", TEST_CALL, .call = set_min_area },
  { "max-area", TEST_CALL, .call = set_max_area },
  { "max-components", TEST_NUMBER, MEMBER (max_components), .most = UINT32_MAX },
  { "second-order", TEST_FLAG, MEMBER (second_order) },
  { "labels", TEST_FLAG, MEMBER (labels) },
  { "list", TEST_FLAG, MEMBER (list) },
  { "verbose", TEST_FLAG, MEMBER (verbose) },
  { NULL },
};

static void
parse_options (Options *options, int argc, char **argv)
{
  memset (options, 0, sizeof *options);
  options->seed = (uint32_t) test_now () ^ (uint32_t) getpid () << 16;
  options->effort = EFFORT_NORMAL;
  options->dump = ".";
  ccl_params_init (&options->params);
  test_parse_options (option_table, "checkccl", usage, argc, argv, options);
}

static void
list (void)
{
  const CclAlgorithm *a;

  puts ("algorithms:");
  for (size_t i = 0; (a = ccl_algorithm (i)); i++)
    printf ("  %-14s %-4s connectivity %s  %s\n", a->name, ccl_backend_name (a->backend),
            a->connectivity == 12  ? "4, 8"
            : a->connectivity == 4 ? "4   "
                                   : "8   ",
            a->description);
  puts ("tests:");
  for (size_t i = 0; i < sizeof test_tables / sizeof *test_tables; i++)
    for (const Test *test = test_tables[i]; test->name; test++)
      printf ("  %s\n", test->name);
}

/* Whether there is any algorithm to run. */
static bool
have_algorithms (const Check *check)
{
  const CclAlgorithm *a;

  for (size_t i = 0; (a = ccl_algorithm (i)); i++)
    if (check_wants (check, a, 4) || check_wants (check, a, 8))
      return true;
  return false;
}

static void
run_test (Check *check, const Test *test)
{
  uint64_t start = test_now (), tests = check->tests, failed = check->failed;

  if (check->options.test && fnmatch (check->options.test, test->name, FNM_EXTMATCH) != 0)
    return;
  check->test = test->name;
  check_on_crash (check, NULL);
  /* Each test has its own random numbers, so that it does the same alone and among others. */
  mt19937_seed (&check->rng, mt19937_mix (check->options.seed, test->name));
  printf (" - %-22s", test->name);
  fflush (stdout);
  test->run (check);
  check_clear (check);
  tests = check->tests - tests;
  failed = check->failed - failed;
  printf ("%s %8llu  %6.1f s\n", failed ? "[FAILED]" : "[OK]    ", (unsigned long long) tests,
          (double) (test_now () - start) / 1e9);
}

/* Analyses an image from a file, placed in different ways. */
static bool
replay (Check *check)
{
  Setup setup = { check->options.params, check->options.max_components, check->options.second_order,
                  check->options.labels, 0 };
  TestPlacement placement = { .fill = setup.params.invert ? 0 : 255 };
  TestImage image;

  if (!test_image_read_pnm (check->options.image, &image))
    return false;
  check->test = "replay";
  check_on_crash (check, NULL);
  mt19937_seed (&check->rng, check->options.seed);
  check_frame_placed (check, &image, &setup, &placement);
  for (int i = 0; i < 10; i++)
    check_frame (check, &image, &setup);
  test_image_clear (&image);
  check_clear (check);
  return true;
}

int
main (int argc, char **argv)
{
  static Check check; /* too large for some stacks */
  int result;

  parse_options (&check.options, argc, argv);
  catch_crashes ();
  for (int m = 0; m < CHECK_MEMORIES; m++)
    check.arenas[m].memory = (CclMemory) m;
  if (check.options.list) {
    list ();
    return EXIT_SUCCESS;
  }
  if (!have_algorithms (&check)) {
    printf ("checkccl: nothing to run: %s\n",
            check.options.backend == CCL_BACKEND_CUDA && ccl_cuda_device_count () == 0
                ? ccl_last_error ()
                : "no algorithm matches the options");
    return EXIT_SKIP;
  }

  printf ("checkccl: seed %u, %d CUDA device(s)\n", check.options.seed, ccl_cuda_device_count ());
  if (check.options.image) {
    if (!replay (&check))
      return EXIT_FAILURE;
  } else {
    for (size_t i = 0; i < sizeof test_tables / sizeof *test_tables; i++)
      for (const Test *test = test_tables[i]; test->name; test++)
        run_test (&check, test);
  }

  if (check.failed)
    result = EXIT_FAILURE;
  else
    result = check.tests ? EXIT_SUCCESS : EXIT_SKIP;
  if (check.failed)
    printf ("checkccl: reproduce with --seed=%u\n", check.options.seed);
  printf ("checkccl: %llu tests, %llu passed, %llu failed\n", (unsigned long long) check.tests,
          (unsigned long long) (check.tests - check.failed), (unsigned long long) check.failed);
  return result;
}
