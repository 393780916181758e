/* cudaccl - ccl-bench: measures algorithms by density and granularity
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/bench/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIP 77 /* Meson's exit status for "skipped" */

int
main (int argc, char **argv)
{
  static Bench bench; /* too large for some stacks */
  bool failed;

  if (argc > 1 && strcmp (argv[1], "pipeline") == 0)
    return pipeline_main (argc - 1, argv + 1);
  if (argc > 1 && strcmp (argv[1], "volume") == 0)
    return volume_main (argc - 1, argv + 1);
  if (argc > 1 && strcmp (argv[1], "morphology") == 0)
    return morphology_main (argc - 1, argv + 1);
  if (argc > 1 && strcmp (argv[1], "motion") == 0)
    return motion_main (argc - 1, argv + 1);
  bench_parse_options (&bench.options, argc, argv);
  bench_find_files (&bench);
  bench_find_contenders (&bench);
  if (bench.n_contenders == 0) {
    printf ("ccl-bench: nothing to measure: %s\n",
            bench.options.backend == CCL_BACKEND_CUDA && ccl_cuda_device_count () == 0
                ? ccl_last_error ()
                : "no algorithm matches the options");
    return EXIT_SKIP;
  }
  if (bench.options.csv) {
    bench.csv = fopen (bench.options.csv, "w");
    if (!bench.csv)
      test_fatal ("%s: %s", bench.options.csv, strerror (errno));
    record_csv_header (bench.csv);
  }

  report_machine (&bench);
  bench_sweep (&bench);
  report_tables (&bench);
  if (bench.options.paper != BENCH_NO_PAPER)
    papers_report (&bench, bench.options.paper);

  failed = bench.failed;
  if (bench.options.json)
    failed |= !record_json (&bench, bench.options.json);
  if (bench.csv && fclose (bench.csv) != 0) {
    fprintf (stderr, "%s: incomplete write\n", bench.options.csv);
    failed = true;
  }
  bench_clear_frames (&bench);
  bench_clear_files (&bench);
  free (bench.results);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
