/* cudaccl - ccl-bench: the papers' experiments and published figures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"

#include <string.h>
#include <strings.h>

#define MAX_COLUMNS 12

/* The columns of a published table. */
typedef enum Columns
{
  BY_GRANULARITY, /* granularity; Gpix/s, all pixels over all time */
  BY_DENSITY,     /* density; ms for a random image of granularity 1 */
  BY_SIZE,        /* side of a square image of density 0.5; ms */
} Columns;

typedef struct Row
{
  const char *name;      /* in the paper */
  const char *algorithm; /* ours; NULL: none */
  double values[MAX_COLUMNS];
} Row;

typedef struct PaperTable
{
  BenchPaper paper;
  const char *title; /* with the paper's device */
  Columns by;
  uint32_t side; /* of the images */
  unsigned connectivity;
  uint32_t columns[MAX_COLUMNS];
  size_t n_columns;
  Row rows[12];
} PaperTable;

static const PaperTable tables[] = {
  { .paper = BENCH_KALENTEV,
    .title = "table 1, random images of 1024x1024 by density in %, ms on a Tesla C1060",
    .by = BY_DENSITY,
    .side = 1024,
    .connectivity = 4,
    .columns = { 10, 50 },
    .n_columns = 2,
    .rows = { { "RC", "row-col-unify", { 34.75, 254.47 } },
              { "LE NSZ", "label-equivalence", { 1.56, 6.47 } },
              { "LE SZ", NULL, { 2.11, 14.23 } } } },
  { .paper = BENCH_KALENTEV,
    .title = "table 2, random images of 2048x2048 by density in %, ms on a Tesla C1060",
    .by = BY_DENSITY,
    .side = 2048,
    .connectivity = 4,
    .columns = { 20, 30, 40, 60, 70, 80, 90 },
    .n_columns = 7,
    .rows = { { "LE NSZ",
                "label-equivalence",
                { 10.33, 15.50, 18.90, 39.34, 34.12, 33.91, 36.30 } },
              { "LE SZ", NULL, { 16.74, 27.81, 38.84, 84.21, 95.70, 113.60, 137.95 } } } },
  { .paper = BENCH_KALENTEV,
    .title = "table 3, images by side length (here random, density 50 %), ms on a Tesla C1060",
    .by = BY_SIZE,
    .connectivity = 4,
    .columns = { 1024, 2048, 4096, 8128 },
    .n_columns = 4,
    .rows = { { "LE NSZ", "label-equivalence", { 6.50, 24.98, 97.88, 388.24 } },
              { "LE SZ", NULL, { 14.30, 55.75, 217.89, 870.70 } } } },
  { .paper = BENCH_LEMAITRE,
    .title = "table 1, 8192x8192 by granularity, Gpix/s (all pixels over all time) on an A100",
    .by = BY_GRANULARITY,
    .side = 8192,
    .connectivity = 4,
    .columns = { 1, 4, 16, BENCH_FULL },
    .n_columns = 4,
    .rows = { { "naive", "naive", { 0.966, 0.994, 0.985, 0.337 } },
              { "HA", "ha4", { 4.22, 13.2, 25.8, 16.6 } },
              { "HA+OTF", "ha4-otf", { 14.6, 28.7, 59.3, 66.2 } },
              { "HA+CD", "ha4-cd", { 13.8, 23.9, 27.4, 16.6 } },
              { "FLSL", "flsl", { 4.85, 19.1, 61.9, 244 } },
              { "FLSL+OTF", "flsl-otf", { 20.8, 65.1, 160, 238 } },
              { "FLSL+CD", "flsl-cd", { 24.5, 83.2, 170, 244 } } } },
};

/* Allegretti 2020, table 2: mean times over data sets in ms, allocation included, on a Quadro
 * K2200. Compared with a folder of images named like the data set. */
static const char *const data_sets[] = { "3DPeS",     "Fingerprints", "Hamlet", "Medical",
                                         "MIRflickr", "Tobacco800",   "XDOCS" };

static const Row data_set_rows[] = {
  { "BUF", "buf", { 0.512, 0.441, 2.161, 1.313, 0.495, 3.268, 12.088 } },
  { "BUF_IC", "buf-ic", { 0.508, 0.440, 2.112, 1.299, 0.494, 3.163, 11.764 } },
  { "BKE", "bke", { 0.509, 0.429, 2.190, 1.221, 0.452, 3.409, 11.989 } },
  { "BKE_IC", "bke-ic", { 0.501, 0.427, 2.073, 1.186, 0.449, 3.173, 11.253 } },
  { "BE", "be", { 1.517, 1.164, 4.376, 2.730, 1.165, 5.966, 20.278 } },
  { "UF", "uf", { 0.594, 0.529, 3.000, 2.040, 0.659, 4.304, 17.316 } },
  { "OLE", "label-equivalence", { 1.211, 1.128, 5.358, 3.013, 1.281, 8.173, 35.242 } },
  { "LBUF", "lbuf", { 0.573, 0.509, 2.776, 1.699, 0.541, 3.889, 15.039 } },
  { "KE", "ke", { 0.568, 0.481, 2.717, 1.622, 0.526, 3.978, 15.432 } },
  { "DLP", "dlp", { 0.657, 0.486, 3.097, 1.697, 0.602, 5.002, 18.172 } },
};

/* Other figures of the papers. */
static const struct Remark
{
  BenchPaper paper;
  const char *text;
} remarks[] = {
  { BENCH_HENNEQUIN,
    "Hennequin 2018, figure 6: 2048x2048, granularity 4, on a Jetson TX2: HA4's features take "
    "1.75 ms on average, per-pixel features 11.2 ms (6.4 times as long)" },
  { BENCH_HENNEQUIN,
    "Hennequin 2018, section V: HA4's labelling is 1.8, 2.4 and 2.7 times as fast as Playne's and "
    "Cabaret's at granularity 1, 4 and 16" },
  { BENCH_ALLEGRETTI,
    "Allegretti 2020, section 7: BKE_IC is 1.1 to 1.4 times as fast as KE on data sets, 1.4 to "
    "1.7 without the time of allocation" },
  { BENCH_LEMAITRE, "Lemaitre 2021, section 5: FLSL+CD is 4 to 10 times as fast as HA" },
  { BENCH_TORCHCC,
    "TorchCC on an RTX 3080 Ti, 50 000 images of YACCLAB: OpenCV 2104 frames per second, BUF in "
    "batches of 1: 3081, of 4: 4423, of 8: 2882" },
};

static void
set_sizes (BenchOptions *options, const uint32_t *sides, size_t n)
{
  options->n_sizes = n;
  for (size_t i = 0; i < n; i++)
    options->sizes[i] = (BenchSize){ sides[i], sides[i] };
}

static void
set_granularities (BenchOptions *options, const uint32_t *granularities, size_t n)
{
  options->n_granularities = n;
  memcpy (options->granularities, granularities, n * sizeof *granularities);
}

static const struct
{
  const char *name, *title;
} papers[] = {
  [BENCH_HENNEQUIN] = { "hennequin", "Hennequin 2018" },
  [BENCH_KALENTEV] = { "kalentev", "Kalentev 2011" },
  [BENCH_ALLEGRETTI] = { "allegretti", "Allegretti 2020" },
  [BENCH_LEMAITRE] = { "lemaitre", "Lemaitre 2021" },
  [BENCH_TORCHCC] = { "torchcc", "TorchCC" },
};

BenchPaper
papers_find (const char *name)
{
  for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
    if (strcmp (name, papers[i].name) == 0)
      return (BenchPaper) i;
  test_fatal ("no paper '%s': name hennequin, kalentev, allegretti, lemaitre or torchcc", name);
}

void
papers_set_options (BenchOptions *options, BenchPaper paper)
{
  static const uint32_t three[] = { 1, 4, 16 }, eight[] = { 1, 2, 4, 6, 8, 12, 14, 16 };
  static const uint32_t hennequin[] = { 2048 }, kalentev[] = { 1024, 2048, 4096, 8128 };
  static const uint32_t allegretti[] = { 2048 }, lemaitre[] = { 8192 },
                        torchcc[] = { 512, 1024, 2048 };

  options->lenient = true;
  /* Kalentev and Allegretti time labelling alone. */
  options->stages =
      paper == BENCH_HENNEQUIN || paper == BENCH_KALENTEV || paper == BENCH_ALLEGRETTI;
  options->backend = CCL_BACKEND_CUDA;
  options->density_first = 0;
  options->density_step = 5;
  options->connectivity = 8;
  set_granularities (options, three, 3);
  switch (paper) {
  case BENCH_HENNEQUIN:
    set_sizes (options, hennequin, 1);
    options->connectivity = 4;
    options->labels = true; /* otherwise HA4 does not label pixels */
    options->algorithms = "naive,ha4-32,ha4,playne,dlp";
    break;
  case BENCH_KALENTEV:
    set_sizes (options, kalentev, 4);
    set_granularities (options, three, 1);
    options->density_step = 10;
    options->full = false;
    options->connectivity = 4;
    options->algorithms = "row-col-unify,label-equivalence";
    options->slow = "row-col-unify"; /* as in the paper */
    options->slow_pixels = 1024 * 1024;
    break;
  case BENCH_ALLEGRETTI:
    set_sizes (options, allegretti, 1);
    set_granularities (options, eight, 8);
    options->density_step = 10;
    options->algorithms = "buf,buf-ic,bke,bke-ic,be,uf,label-equivalence,lbuf,ke,dlp";
    break;
  case BENCH_LEMAITRE:
    set_sizes (options, lemaitre, 1);
    options->connectivity = 4;
    options->updates = true;
    options->algorithms = "naive,ha4,ha4-otf,ha4-cd,flsl,flsl-otf,flsl-cd";
    break;
  case BENCH_TORCHCC:
    set_sizes (options, torchcc, 3);
    options->backend = CCL_BACKEND_AUTO;
    options->density_step = 20;
    options->end_to_end = true;
    options->batches[1] = 4;
    options->batches[2] = 8;
    options->n_batches = 3;
    options->algorithms = "buf,tile,runs,opencv";
    break;
  case BENCH_NO_PAPER:
    break;
  }
}

/* Our figure for a cell of the table; 0: none. */
static double
our_figure (const Bench *bench, const PaperTable *table, const Row *row, size_t column)
{
  uint32_t value = table->columns[column], side = table->by == BY_SIZE ? value : table->side;
  BenchSize size = { side, side };

  if (!row->algorithm)
    return 0;
  if (table->by == BY_GRANULARITY)
    return report_throughput (bench, row->algorithm, table->connectivity, size, value);
  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];

    if (strcmp (contender_name (r->contender), row->algorithm) == 0 && r->mode == BENCH_ANALYSIS &&
        r->contender->connectivity == table->connectivity && !r->image.path &&
        r->image.granularity == 1 && r->image.density == (table->by == BY_SIZE ? 50 : value) &&
        r->image.size.width == side && r->image.size.height == side)
      return (double) (r->labelling ? r->labelling : r->median) / 1e6;
  }
  return 0;
}

static void
print_figure (double value)
{
  if (value > 0)
    printf (" %8.4g", value);
  else
    printf (" %8s", "-");
}

static void
print_paper_table (const Bench *bench, const PaperTable *table)
{
  printf ("\n%s, %s; ours below each row, %u-connectivity\n%-22s", papers[table->paper].title,
          table->title, table->connectivity, "");
  for (size_t c = 0; c < table->n_columns; c++) {
    if (table->by == BY_GRANULARITY && table->columns[c] == BENCH_FULL)
      printf (" %8s", "full");
    else
      printf (" %8u", table->columns[c]);
  }
  putchar ('\n');
  for (const Row *row = table->rows; row < table->rows + 12 && row->name; row++) {
    printf ("%-22s", row->name);
    for (size_t c = 0; c < table->n_columns; c++)
      print_figure (row->values[c]);
    printf ("\n  %-20s", row->algorithm ? row->algorithm : "(no such algorithm)");
    for (size_t c = 0; c < table->n_columns; c++)
      print_figure (our_figure (bench, table, row, c));
    putchar ('\n');
  }
}

/* An algorithm's mean time for the images of a folder in ms; 0: none. */
static double
mean_of_folder (const Bench *bench, const char *algorithm, const char *name)
{
  double sum = 0;
  uint32_t count = 0;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];
    const char *base = r->image.set ? strrchr (r->image.set, '/') : NULL;

    base = base ? base + 1 : r->image.set;
    if (!base || strcasecmp (base, name) != 0 || r->mode != BENCH_ANALYSIS ||
        strcmp (contender_name (r->contender), algorithm) != 0)
      continue;
    sum += (double) (r->labelling ? r->labelling : r->median) / 1e6;
    count++;
  }
  return count ? sum / count : 0;
}

static void
print_data_sets (const Bench *bench)
{
  const size_t n = sizeof data_sets / sizeof *data_sets;

  printf ("\nAllegretti 2020, table 2, mean times over data sets, ms on a Quadro K2200, allocation "
          "included; ours below each row\n%-22s",
          "");
  for (size_t c = 0; c < n; c++)
    printf (" %12s", data_sets[c]);
  putchar ('\n');
  for (size_t i = 0; i < sizeof data_set_rows / sizeof *data_set_rows; i++) {
    const Row *row = &data_set_rows[i];

    printf ("%-22s", row->name);
    for (size_t c = 0; c < n; c++)
      printf (" %12.3f", row->values[c]);
    printf ("\n  %-20s", row->algorithm);
    for (size_t c = 0; c < n; c++) {
      double ours = mean_of_folder (bench, row->algorithm, data_sets[c]);

      if (ours > 0)
        printf (" %12.3f", ours);
      else
        printf (" %12s", "-");
    }
    putchar ('\n');
  }
}

void
papers_report (const Bench *bench, BenchPaper paper)
{
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (tables[i].paper == paper)
      print_paper_table (bench, &tables[i]);
  if (paper == BENCH_ALLEGRETTI)
    print_data_sets (bench);
  for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
    if (remarks[i].paper == paper)
      printf ("\n%s\n", remarks[i].text);
}
