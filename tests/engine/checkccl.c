/* cudaccl - checkccl: every algorithm of every backend against the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/clock.h"
#include "tests/lib/parse.h"

#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_SKIP 77 /* what Meson takes for "skipped" */

static const Test *const test_tables[] = { self_tests,    error_tests,    frame_tests,
                                           setting_tests, analyzer_tests, label_tests,
                                           memory_tests,  array_tests,    cpu_tests,
                                           volume_tests,  batch_tests,    update_tests };

static const char usage[] = "\
Usage: checkccl [OPTION...]\n\
Checks every algorithm of every backend against the reference.\n\
\n\
  --seed=N             the random numbers; the default is a new seed, which is printed\n\
  --backend=NAME       only this backend: cpu or cuda\n\
  --algorithm=NAME     only this algorithm\n\
  --connectivity=N     only 4 or 8\n\
  --test=PATTERN       only tests whose name matches, as 'pat*'\n\
  --small              small images, few of them: for compute-sanitizer and valgrind\n\
  --quick, --full      less or more than usual\n\
  --dump=DIR           where images that fail are written (default: the current folder)\n\
  --image=FILE         replays this PGM file instead of running tests, with\n\
    --threshold=N --invert --min-area=N --max-area=N --max-components=N --second-order\n\
    --labels\n\
  --bench              measures the algorithms instead of testing them\n\
  --inject-fault       spoils results, to show what a failure looks like\n\
  --list               lists tests and algorithms\n\
  --verbose            prints every analysis\n\
\n\
Exit status: 0 when all passed, 1 when some failed, 77 when there was nothing to run.\n";

/* Values beyond the characters: all options are long. */
enum
{
  OPT_SEED = 256,
  OPT_BACKEND,
  OPT_ALGORITHM,
  OPT_CONNECTIVITY,
  OPT_TEST,
  OPT_SMALL,
  OPT_QUICK,
  OPT_FULL,
  OPT_DUMP,
  OPT_IMAGE,
  OPT_THRESHOLD,
  OPT_INVERT,
  OPT_MIN_AREA,
  OPT_MAX_AREA,
  OPT_MAX_COMPONENTS,
  OPT_SECOND_ORDER,
  OPT_LABELS,
  OPT_BENCH,
  OPT_INJECT_FAULT,
  OPT_LIST,
  OPT_VERBOSE,
  OPT_HELP,
};

static const struct option long_options[] = {
  { "seed", required_argument, NULL, OPT_SEED },
  { "backend", required_argument, NULL, OPT_BACKEND },
  { "algorithm", required_argument, NULL, OPT_ALGORITHM },
  { "connectivity", required_argument, NULL, OPT_CONNECTIVITY },
  { "test", required_argument, NULL, OPT_TEST },
  { "small", no_argument, NULL, OPT_SMALL },
  { "sanitize", no_argument, NULL, OPT_SMALL },
  { "quick", no_argument, NULL, OPT_QUICK },
  { "full", no_argument, NULL, OPT_FULL },
  { "dump", required_argument, NULL, OPT_DUMP },
  { "image", required_argument, NULL, OPT_IMAGE },
  { "threshold", required_argument, NULL, OPT_THRESHOLD },
  { "invert", no_argument, NULL, OPT_INVERT },
  { "min-area", required_argument, NULL, OPT_MIN_AREA },
  { "max-area", required_argument, NULL, OPT_MAX_AREA },
  { "max-components", required_argument, NULL, OPT_MAX_COMPONENTS },
  { "second-order", no_argument, NULL, OPT_SECOND_ORDER },
  { "labels", no_argument, NULL, OPT_LABELS },
  { "bench", no_argument, NULL, OPT_BENCH },
  { "inject-fault", no_argument, NULL, OPT_INJECT_FAULT },
  { "list", no_argument, NULL, OPT_LIST },
  { "verbose", no_argument, NULL, OPT_VERBOSE },
  { "help", no_argument, NULL, OPT_HELP },
  { 0 },
};

/* Ready to be written by a signal handler, which can do little else. */
static char crash_message[512];

void
check_on_crash (const Check *check, const Case *c)
{
  int length = snprintf (crash_message, sizeof crash_message,
                         "\ncheckccl: crashed; again with --seed=%u --test=%s", check->options.seed,
                         check->test);

  if (c)
    length += snprintf (crash_message + length, sizeof crash_message - (size_t) length,
                        " --algorithm=%s --connectivity=%u\n"
                        "  %u x %u, memory %d, padding %zu, slack %zd, threshold %u%s",
                        c->algorithm->name, c->connectivity, c->image->width, c->image->height,
                        (int) c->memory, c->placement.padding, (ssize_t) c->placement.slack,
                        c->setup.params.threshold, c->setup.params.invert ? " inverted" : "");
  snprintf (crash_message + length, sizeof crash_message - (size_t) length, "\n");
}

static void
handle_crash (int number)
{
  ssize_t written = write (STDOUT_FILENO, crash_message, strlen (crash_message));

  (void) written;
  raise (number); /* SA_RESETHAND: dies this time */
}

/* Reading past a frame ends at an inaccessible page: say where that happened. The sanitizers say it
 * better, with a stack. */
static void
catch_crashes (void)
{
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  static const int numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
  struct sigaction action = { .sa_handler = handle_crash, .sa_flags = (int) SA_RESETHAND };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    sigaction (numbers[i], &action, NULL);
#else
  (void) handle_crash;
#endif
}

/* The option's argument as a number of at most @most. */
static uint64_t
number (const char *text, uint64_t most)
{
  return test_parse_whole_number (text, 0, most);
}

static const char *
parse_algorithm (const char *name)
{
  for (size_t i = 0; ccl_algorithm (i); i++)
    if (strcmp (ccl_algorithm (i)->name, name) == 0)
      return name;
  test_fatal ("this build has no algorithm '%s'; --list shows what there is", name);
}

static unsigned
parse_connectivity (const char *text)
{
  uint64_t connectivity = number (text, 8);

  if (connectivity != 4 && connectivity != 8)
    test_fatal ("connectivity %s is neither 4 nor 8", text);
  return (unsigned) connectivity;
}

static void
set_option (Options *options, int option, const char *argument)
{
  switch (option) {
  case OPT_SEED:
    options->seed = (uint32_t) number (argument, UINT32_MAX);
    break;
  case OPT_BACKEND:
    options->backend = test_parse_backend (argument);
    break;
  case OPT_ALGORITHM:
    options->algorithm = parse_algorithm (argument);
    break;
  case OPT_CONNECTIVITY:
    options->connectivity = parse_connectivity (argument);
    break;
  case OPT_TEST:
    options->test = argument;
    break;
  case OPT_SMALL:
    options->effort = EFFORT_SMALL;
    break;
  case OPT_QUICK:
    options->effort = EFFORT_QUICK;
    break;
  case OPT_FULL:
    options->effort = EFFORT_FULL;
    break;
  case OPT_DUMP:
    options->dump = argument;
    break;
  case OPT_IMAGE:
    options->image = argument;
    break;
  case OPT_THRESHOLD:
    options->params.threshold = (uint8_t) number (argument, 255);
    break;
  case OPT_INVERT:
    options->params.invert = true;
    break;
  case OPT_MIN_AREA:
    options->params.min_area = number (argument, UINT64_MAX);
    break;
  case OPT_MAX_AREA:
    options->params.max_area = number (argument, UINT64_MAX);
    break;
  case OPT_MAX_COMPONENTS:
    options->max_components = (uint32_t) number (argument, UINT32_MAX);
    break;
  case OPT_SECOND_ORDER:
    options->second_order = true;
    break;
  case OPT_LABELS:
    options->labels = true;
    break;
  case OPT_BENCH:
    options->bench = true;
    break;
  case OPT_INJECT_FAULT:
    options->inject_fault = true;
    break;
  case OPT_LIST:
    options->list = true;
    break;
  case OPT_VERBOSE:
    options->verbose = true;
    break;
  case OPT_HELP:
    fputs (usage, stdout);
    exit (EXIT_SUCCESS);
  default:
    fputs ("Try checkccl --help.\n", stderr);
    exit (EXIT_FAILURE);
  }
}

static void
parse_options (Options *options, int argc, char **argv)
{
  int option;

  memset (options, 0, sizeof *options);
  options->seed = (uint32_t) test_now () ^ (uint32_t) getpid () << 16;
  options->effort = EFFORT_NORMAL;
  options->dump = ".";
  ccl_params_init (&options->params);
  while ((option = getopt_long (argc, argv, "", long_options, NULL)) != -1)
    set_option (options, option, optarg);
  if (optind < argc)
    test_fatal ("'%s' is not an option; try checkccl --help", argv[optind]);
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

/* Whether any algorithm is there to run. */
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

  if (check->options.test && fnmatch (check->options.test, test->name, 0) != 0)
    return;
  check->test = test->name;
  check_on_crash (check, NULL);
  /* Each test its own numbers, so that one alone does what it does among all. */
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

/* One image from a file, placed in different ways. */
static bool
replay (Check *check)
{
  Setup setup = { check->options.params, check->options.max_components, check->options.second_order,
                  check->options.labels };
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
  static Check check; /* too big for some stacks */
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
  if (check.options.bench) {
    mt19937_seed (&check.rng, check.options.seed);
    bench_algorithms (&check);
    check_clear (&check);
    return check.runs ? EXIT_SUCCESS : EXIT_SKIP;
  }
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
    printf ("checkccl: again with --seed=%u\n", check.options.seed);
  printf ("checkccl: %llu tests, %llu passed, %llu failed\n", (unsigned long long) check.tests,
          (unsigned long long) (check.tests - check.failed), (unsigned long long) check.failed);
  return result;
}
