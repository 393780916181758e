/* cudaccl - ccl-bench: tables
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"

#include <inttypes.h>
#include <string.h>

/* Selects the time of a table from a result. */
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

static uint64_t
labelling_of (const BenchResult *result)
{
  return result->labelling;
}

/* The results of a table. */
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

/* A contender's result for a random image; NULL: none. */
static const BenchResult *
find (const Table *table, const Contender *contender, uint32_t granularity, uint32_t density)
{
  const Bench *bench = table->bench;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];

    if (r->contender == contender && r->mode == table->mode && !r->image.path &&
        r->image.granularity == granularity && r->image.density == density &&
        r->image.size.width == table->size.width && r->image.size.height == table->size.height)
      return r;
  }
  return NULL;
}

/* Returns the last density of a granularity, and the first in @first. */
static uint32_t
densities (const BenchOptions *options, uint32_t granularity, uint32_t *first)
{
  *first = granularity == BENCH_FULL ? 100 : options->density_first;
  return granularity == BENCH_FULL ? 100 : options->density_last;
}

/* Sums over all densities of a granularity. */
typedef struct Sums
{
  uint32_t count;
  double throughput, time; /* Gpix/s, ns */
} Sums;

/* Adds up all densities; false if one is missing. */
static bool
sum_up (const Table *table, const Contender *contender, uint32_t granularity, Statistic statistic,
        Sums *sums)
{
  const BenchOptions *options = &table->bench->options;
  uint32_t first, last = densities (options, granularity, &first);

  *sums = (Sums){ 0 };
  for (uint32_t d = first; d <= last; d += options->density_step, sums->count++) {
    const BenchResult *r = find (table, contender, granularity, d);

    if (!r || statistic (r) == 0)
      return false;
    sums->throughput += pixels_of (table->size) / (double) statistic (r);
    sums->time += (double) statistic (r);
  }
  return true;
}

/* Mean of the densities' throughputs in Gpix/s; 0 if one is missing. */
static double
mean_throughput (const Table *table, const Contender *contender, uint32_t granularity,
                 Statistic statistic)
{
  Sums sums;

  if (!sum_up (table, contender, granularity, statistic, &sums))
    return 0;
  return sums.throughput / sums.count;
}

/* All pixels over all time: the pixels of all densities over the sum of their times, in Gpix/s;
 * 0 if one is missing. */
static double
total_throughput (const Table *table, const Contender *contender, uint32_t granularity,
                  Statistic statistic)
{
  Sums sums;

  if (!sum_up (table, contender, granularity, statistic, &sums))
    return 0;
  return pixels_of (table->size) * sums.count / sums.time;
}

/* The kind of mean in a table. */
typedef double (*Throughput) (const Table *table, const Contender *contender, uint32_t granularity,
                              Statistic statistic);

static double
throughput_of (const Bench *bench, const char *name, unsigned connectivity, BenchSize size,
               uint32_t granularity, Throughput throughput)
{
  Table table = { bench, size, connectivity, BENCH_ANALYSIS };

  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];

    if (c->connectivity == connectivity && strcmp (contender_name (c), name) == 0)
      return throughput (&table, c, granularity, median_of);
  }
  return 0;
}

double
report_throughput (const Bench *bench, const char *name, unsigned connectivity, BenchSize size,
                   uint32_t granularity)
{
  return throughput_of (bench, name, connectivity, size, granularity, total_throughput);
}

double
report_mean_throughput (const Bench *bench, const char *name, unsigned connectivity, BenchSize size,
                        uint32_t granularity)
{
  return throughput_of (bench, name, connectivity, size, granularity, mean_throughput);
}

static size_t
column_count (const BenchOptions *options)
{
  return options->n_granularities + options->full;
}

/* The columns are the granularities and the full image. */
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
print_throughput (const Table *table, const char *what, Throughput throughput, Statistic statistic)
{
  const Bench *bench = table->bench;
  const BenchOptions *options = &bench->options;

  printf ("\nGpix/s, %s, densities %u...%u %% (step %u)\n%-20s", what, options->density_first,
          options->density_last, options->density_step, "");
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
      print_cell (throughput (table, c, column_granularity (options, column), statistic));
    putchar ('\n');
  }
}

/* How many times as fast as each peer the CPU's best algorithm is, by all pixels over all time. */
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
      double a = total_throughput (table, ours, g, median_of);
      double b = total_throughput (table, theirs, g, median_of);

      print_cell (b > 0 ? a / b : 0);
    }
    putchar ('\n');
  }
}

/* A line per density, a column per contender. */
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

/* The stages' mean times over the densities, a line per contender. */
static void
print_stages (const Table *table, uint32_t granularity)
{
  const Bench *bench = table->bench;
  uint32_t first, last = densities (&bench->options, granularity, &first);

  printf ("\n  stages, mean over the densities in us, granularity %u\n", granularity);
  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];
    CclStage sums[CCL_MAX_STAGES] = { { NULL, 0 } };
    uint32_t count = 0;

    for (uint32_t d = first; d <= last && is_in_table (table, c);
         d += bench->options.density_step) {
      const BenchResult *r = find (table, c, granularity, d);

      for (uint32_t s = 0; r && s < r->n_stages; s++) {
        sums[s].name = r->stages[s].name;
        sums[s].time += r->stages[s].time;
      }
      count += r && r->n_stages;
    }
    if (count)
      printf ("    %-17s", contender_name (c));
    for (uint32_t s = 0; s < CCL_MAX_STAGES && sums[s].name; s++)
      printf (" %s %.1f", sums[s].name, (double) sums[s].time / count / 1e3);
    if (count)
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
  print_throughput (table, "all pixels over all time", total_throughput, median_of);
  print_ratios (table);
  print_throughput (table, "mean of throughputs", mean_throughput, median_of);
  print_throughput (table, "all pixels over all time, best of runs", total_throughput, minimum_of);
  if (options->stages && table->mode == BENCH_ANALYSIS)
    print_throughput (table, "labelling alone, all pixels over all time", total_throughput,
                      labelling_of);
  for (size_t g = 0; g < options->n_granularities; g++) {
    print_times (table, options->granularities[g]);
    if (options->stages && table->mode == BENCH_ANALYSIS)
      print_stages (table, options->granularities[g]);
  }
}

/* Counts of feature updates, a line per density. */
static void
print_updates (const Table *table, uint32_t granularity)
{
  const Bench *bench = table->bench;
  uint32_t first, last = densities (&bench->options, granularity, &first);

  printf ("\n  updates / conflicts, granularity %u\n", granularity);
  for (uint32_t d = first; d <= last; d += bench->options.density_step) {
    printf ("    d = %3u %%", d);
    for (size_t i = 0; i < bench->n_contenders; i++) {
      const Contender *c = &bench->contenders[i];
      const BenchResult *r = is_in_table (table, c) ? find (table, c, granularity, d) : NULL;

      if (r && c->algorithm && c->algorithm->backend == CCL_BACKEND_CUDA)
        printf ("  %s %.3g / %.3g", contender_name (c), (double) r->updates.count,
                r->updates.conflicts);
    }
    putchar ('\n');
  }
}

/* The peers' wrong results. */
static void
print_mistakes (const Bench *bench)
{
  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];
    uint32_t images = 0, wrong = 0;
    int64_t more = 0, less = 0;

    for (size_t k = 0; k < bench->n_results && c->peer; k++) {
      const BenchResult *r = &bench->results[k];

      if (r->contender != c || r->mode != BENCH_ANALYSIS)
        continue;
      images++;
      wrong += r->mistakes != 0;
      if (r->mistakes > 0)
        more += r->mistakes;
      else
        less -= r->mistakes;
    }
    if (wrong)
      printf ("\n%s, %u-connectivity: %u of %u images are wrong, with %" PRId64
              " surplus and %" PRId64 " missing components\n",
              contender_name (c), c->connectivity, wrong, images, more, less);
  }
}

/* Times for the user's images, by argument of --images, a line per contender. */
static void
print_files (const Bench *bench, const char *set, BenchMode mode)
{
  printf ("\n%s, %s: mean of the median times in us; Gpix/s, all pixels over all time\n", set,
          bench_mode_names[mode]);
  for (size_t i = 0; i < bench->n_contenders; i++) {
    const Contender *c = &bench->contenders[i];
    double time = 0, pixels = 0;
    uint32_t count = 0;

    for (size_t k = 0; k < bench->n_results; k++) {
      const BenchResult *r = &bench->results[k];

      if (r->contender != c || r->mode != mode || !r->image.set || strcmp (r->image.set, set) != 0)
        continue;
      time += (double) r->median;
      pixels += pixels_of (r->image.size);
      count++;
    }
    if (count)
      printf ("  %-13s %-4s %u-connectivity %10.1f of %u images, %.2f Gpix/s\n", contender_name (c),
              contender_kind (c), c->connectivity, time / count / 1e3, count, pixels / time);
  }
}

static void
print_all_files (const Bench *bench)
{
  for (size_t i = 0; i < bench->options.n_images; i++)
    for (int mode = 0; mode <= (int) bench->options.end_to_end; mode++)
      print_files (bench, bench->options.images[i], (BenchMode) mode);
}

void
report_machine (Bench *bench)
{
  const char *seen[BENCH_MAX_CONTENDERS];
  size_t n = 0;

  printf ("ccl-bench: seed %u, up to %u runs\n", bench->options.seed, bench->options.runs);
  for (size_t i = 0; i < bench->n_contenders; i++) {
    Contender *c = &bench->contenders[i];
    bool again = false;

    for (size_t k = 0; k < n; k++)
      again |= strcmp (seen[k], contender_name (c)) == 0;
    if (again)
      continue;
    seen[n++] = contender_name (c);
    if (c->algorithm) {
      contender_open (c, &bench->options, (BenchSize){ 16, 16 });
      contender_close (c);
    }
    printf ("  %-13s %-4s %s%s%s\n", contender_name (c), contender_kind (c),
            c->algorithm ? c->algorithm->description : c->peer->description,
            c->device[0] ? " on " : "", c->device);
  }
}

void
report_tables (const Bench *bench)
{
  const BenchOptions *options = &bench->options;

  for (size_t s = 0; s < options->n_sizes && options->random; s++) {
    for (int mode = 0; mode <= (int) options->end_to_end; mode++) {
      for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
        Table table = { bench, options->sizes[s], connectivity, (BenchMode) mode };

        if (options->connectivity & connectivity)
          print_table (&table);
        for (size_t g = 0; g < options->n_granularities && options->updates && mode == 0; g++)
          if (options->connectivity & connectivity)
            print_updates (&table, options->granularities[g]);
      }
    }
  }
  print_all_files (bench);
  print_mistakes (bench);
}
