/* cudaccl - ccl-bench: tables and CSV
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"

#include <inttypes.h>
#include <string.h>

static const char *const mode_names[] = { "analysis", "end-to-end" };

/* How a table's times are taken out of the runs. */
typedef uint64_t (*Statistic) (const BenchResult *result);

static uint64_t
median_of (const BenchResult *result)
{
  return result->median;
}

static uint64_t
minimum_of (const BenchResult *result)
{
  return result->minimum;
}

/* A part of the results: one table. */
typedef struct Table
{
  const Bench *bench;
  BenchSize size;
  unsigned connectivity;
  BenchMode mode;
} Table;

static double
pixels_of (BenchSize size)
{
  return (double) size.width * (double) size.height;
}

void
report_csv_header (FILE *file)
{
  fputs (
      "width,height,connectivity,kind,algorithm,mode,granularity,density_percent,components,runs,"
      "median_ns,minimum_ns,median_gpixels_per_s,maximum_gpixels_per_s\n",
      file);
}

void
report_csv_line (FILE *file, const BenchResult *r)
{
  char granularity[16] = "full";

  if (r->granularity != BENCH_FULL)
    snprintf (granularity, sizeof granularity, "%u", r->granularity);
  fprintf (file, "%u,%u,%u,%s,%s,%s,%s,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%.4f,%.4f\n", r->size.width,
           r->size.height, r->contender->connectivity, contender_kind (r->contender),
           contender_name (r->contender), mode_names[r->mode], granularity, r->density,
           r->components, r->runs, r->median, r->minimum, pixels_of (r->size) / (double) r->median,
           pixels_of (r->size) / (double) r->minimum);
  fflush (file);
}

/* The result of one contender for one image, NULL if there is none. */
static const BenchResult *
find (const Table *table, const Contender *contender, uint32_t granularity, uint32_t density)
{
  const Bench *bench = table->bench;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];

    if (r->contender == contender && r->mode == table->mode && r->granularity == granularity &&
        r->density == density && r->size.width == table->size.width &&
        r->size.height == table->size.height)
      return r;
  }
  return NULL;
}

/* Mean over the densities of the throughput in Gpix/s, as the papers average; 0 if any is missing.
 */
static double
mean_throughput (const Table *table, const Contender *contender, uint32_t granularity,
                 Statistic statistic)
{
  const BenchOptions *options = &table->bench->options;
  uint32_t first = options->density_first, last = options->density_last, count = 0;
  double sum = 0;

  if (granularity == BENCH_FULL)
    first = last = 100;
  for (uint32_t d = first; d <= last; d += options->density_step, count++) {
    const BenchResult *r = find (table, contender, granularity, d);

    if (!r || statistic (r) == 0)
      return 0;
    sum += pixels_of (r->size) / (double) statistic (r);
  }
  return sum / count;
}

double
report_throughput (const Bench *bench, const char *name, unsigned connectivity, BenchSize size,
                   uint32_t granularity)
{
  Table table = { bench, size, connectivity, BENCH_ANALYSIS };

  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];

    if (c->connectivity == connectivity && strcmp (contender_name (c), name) == 0)
      return mean_throughput (&table, c, granularity, median_of);
  }
  return 0;
}

static size_t
column_count (const BenchOptions *options)
{
  return options->n_granularities + options->full;
}

/* The columns are the granularities, and the full image. */
static uint32_t
column_granularity (const BenchOptions *options, size_t column)
{
  return column < options->n_granularities ? options->granularities[column] : BENCH_FULL;
}

static bool
is_in_table (const Table *table, const Contender *contender)
{
  return contender->connectivity == table->connectivity;
}

static void
print_cell (double value)
{
  if (value > 0)
    printf (" %9.*f", value < 10 ? 3 : 1, value);
  else
    printf (" %9s", "-");
}

static void
print_throughput (const Table *table, const char *what, Statistic statistic)
{
  const Bench *bench = table->bench;
  const BenchOptions *options = &bench->options;

  printf ("\n%-20s", what);
  for (size_t column = 0; column < column_count (options); column++) {
    char title[16] = "full";

    if (column < options->n_granularities)
      snprintf (title, sizeof title, "g=%u", options->granularities[column]);
    printf (" %9s", title);
  }
  putchar ('\n');
  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];

    if (!is_in_table (table, c))
      continue;
    printf ("  %-13s %-4s", contender_name (c), contender_kind (c));
    for (size_t column = 0; column < column_count (options); column++)
      print_cell (mean_throughput (table, c, column_granularity (options, column), statistic));
    putchar ('\n');
  }
}

/* How many times as fast as each peer the CPU's best algorithm is. */
static void
print_ratios (const Table *table)
{
  const Bench *bench = table->bench;
  const Contender *ours = NULL;

  for (size_t i = 0; i < bench->n_contenders && !ours; i++) {
    const Contender *c = &bench->contenders[i];

    if (is_in_table (table, c) && c->algorithm && c->algorithm->backend == CCL_BACKEND_CPU)
      ours = c;
  }
  for (size_t i = 0; i < bench->n_contenders && ours; i++) {
    const Contender *theirs = &bench->contenders[i];
    char title[64];

    if (!is_in_table (table, theirs) || !theirs->peer)
      continue;
    snprintf (title, sizeof title, "%s / %s", contender_name (ours), contender_name (theirs));
    printf ("  %-18s", title);
    for (size_t column = 0; column < column_count (&bench->options); column++) {
      uint32_t g = column_granularity (&bench->options, column);
      double a = mean_throughput (table, ours, g, median_of);
      double b = mean_throughput (table, theirs, g, median_of);

      print_cell (b > 0 ? a / b : 0);
    }
    putchar ('\n');
  }
}

/* One line a density, one column a contender. */
static void
print_times (const Table *table, uint32_t granularity)
{
  const Bench *bench = table->bench;
  const BenchOptions *options = &bench->options;

  printf ("\n  us (median), g=%-4u", granularity);
  for (size_t i = 0; i < bench->n_contenders; i++)
    if (is_in_table (table, &bench->contenders[i]))
      printf (" %9.9s", contender_name (&bench->contenders[i]));
  putchar ('\n');
  for (uint32_t d = options->density_first; d <= options->density_last;
       d += options->density_step) {
    printf ("    d = %3u %%         ", d);
    for (size_t i = 0; i < bench->n_contenders; i++) {
      const Contender *c = &bench->contenders[i];
      const BenchResult *r = find (table, c, granularity, d);

      if (is_in_table (table, c))
        print_cell (r ? (double) r->median / 1e3 : 0);
    }
    putchar ('\n');
  }
}

static void
print_table (const Table *table)
{
  const BenchOptions *options = &table->bench->options;

  printf ("\n%ux%u, %u-connectivity, %s\n", table->size.width, table->size.height,
          table->connectivity,
          table->mode == BENCH_ANALYSIS ? "analysis without host copies"
                                        : "end to end, host memory to host memory");
  printf ("Gpix/s: mean over densities %u...%u %% (step %u) of pixels / time\n",
          options->density_first, options->density_last, options->density_step);
  print_throughput (table, "median of runs", median_of);
  print_ratios (table);
  print_throughput (table, "best of runs", minimum_of);
  for (size_t g = 0; g < options->n_granularities; g++)
    print_times (table, options->granularities[g]);
}

void
report_machine (Bench *bench)
{
  const char *seen[BENCH_MAX_CONTENDERS];
  size_t n = 0;

  printf ("ccl-bench: seed %u, up to %u runs\n", bench->options.seed, bench->options.runs);
  for (size_t i = 0; i < bench->n_contenders; i++) {
    Contender *c = &bench->contenders[i];
    char device[128] = "";
    bool again = false;
    CclInfo info;

    for (size_t k = 0; k < n; k++)
      again |= strcmp (seen[k], contender_name (c)) == 0;
    if (again)
      continue;
    seen[n++] = contender_name (c);
    if (c->algorithm) {
      contender_open (c, &bench->options, (BenchSize){ 16, 16 });
      if (c->analyzer) {
        ccl_analyzer_info (c->analyzer, &info);
        snprintf (device, sizeof device, " on %s", info.device_name);
      }
      contender_close (c);
    }
    printf ("  %-13s %-4s %s%s\n", contender_name (c), contender_kind (c),
            c->algorithm ? c->algorithm->description : c->peer->description, device);
  }
}

void
report_tables (const Bench *bench)
{
  const BenchOptions *options = &bench->options;

  for (size_t s = 0; s < options->n_sizes; s++) {
    for (int mode = 0; mode <= (int) options->end_to_end; mode++) {
      for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
        Table table = { bench, options->sizes[s], connectivity, (BenchMode) mode };

        if (options->connectivity & connectivity)
          print_table (&table);
      }
    }
  }
}
