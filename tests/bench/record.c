/* cudaccl - ccl-bench: results as CSV and JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *const bench_mode_names[BENCH_MODES] = { "analysis", "end-to-end" };

static double
gigapixels_per_second (const BenchResult *r, uint64_t ns)
{
  return ns ? (double) r->image.size.width * r->image.size.height / (double) ns : 0;
}

static const char *
granularity_name (const BenchImage *image, char *buffer, size_t size)
{
  if (image->path)
    return "";
  if (image->granularity == BENCH_FULL)
    return "full";
  snprintf (buffer, size, "%u", image->granularity);
  return buffer;
}

void
record_csv_header (FILE *file)
{
  fputs ("width,height,connectivity,kind,algorithm,mode,granularity,density_percent,components,"
         "runs,median_ns,minimum_ns,median_gpixels_per_s,maximum_gpixels_per_s,updates,conflicts,"
         "mistakes,labelling_ns,file\n",
         file);
}

/* Writes quoted text; quotes inside are doubled. */
static void
write_csv_text (FILE *file, const char *text)
{
  putc ('"', file);
  for (; *text; text++) {
    if (*text == '"')
      putc ('"', file);
    putc (*text, file);
  }
  putc ('"', file);
}

void
record_csv_line (FILE *file, const BenchResult *r)
{
  char buffer[16];

  fprintf (file,
           "%u,%u,%u,%s,%s,%s,%s,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%" PRIu64
           ",%.6g,%" PRId64 ",%" PRIu64 ",",
           r->image.size.width, r->image.size.height, r->contender->connectivity,
           contender_kind (r->contender), contender_name (r->contender), bench_mode_names[r->mode],
           granularity_name (&r->image, buffer, sizeof buffer), r->image.density, r->components,
           r->runs, r->median, r->minimum, gigapixels_per_second (r, r->median),
           gigapixels_per_second (r, r->minimum), r->updates.count, r->updates.conflicts,
           r->mistakes, r->labelling);
  if (r->image.path)
    write_csv_text (file, r->image.path);
  putc ('\n', file);
  fflush (file);
}

static void
write_json_text (FILE *file, const char *text)
{
  putc ('"', file);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fprintf (file, "\\%c", *text);
    else if ((unsigned char) *text < ' ')
      fprintf (file, "\\u%04x", (unsigned) *text);
    else
      putc (*text, file);
  }
  putc ('"', file);
}

static void
write_json_contender (FILE *file, const Contender *c)
{
  fputs ("    {\"algorithm\": ", file);
  write_json_text (file, contender_name (c));
  fprintf (file, ", \"kind\": \"%s\", \"connectivity\": %u, \"description\": ", contender_kind (c),
           c->connectivity);
  write_json_text (file, c->algorithm ? c->algorithm->description : c->peer->description);
  fputs (", \"device\": ", file);
  write_json_text (file, c->device);
  putc ('}', file);
}

static void
write_json_result (FILE *file, const BenchResult *r)
{
  char buffer[16];

  fprintf (file, "    {\"width\": %u, \"height\": %u, \"connectivity\": %u, \"algorithm\": ",
           r->image.size.width, r->image.size.height, r->contender->connectivity);
  write_json_text (file, contender_name (r->contender));
  fprintf (file, ", \"mode\": \"%s\"", bench_mode_names[r->mode]);
  if (r->image.path) {
    fputs (", \"file\": ", file);
    write_json_text (file, r->image.path);
  } else {
    fprintf (file, ", \"granularity\": \"%s\"",
             granularity_name (&r->image, buffer, sizeof buffer));
  }
  fprintf (file,
           ", \"density_percent\": %u, \"components\": %u, \"runs\": %u, \"median_ns\": %" PRIu64
           ", \"minimum_ns\": %" PRIu64,
           r->image.density, r->components, r->runs, r->median, r->minimum);
  if (r->updates.count)
    fprintf (file, ", \"updates\": %" PRIu64 ", \"conflicts\": %.6g", r->updates.count,
             r->updates.conflicts);
  if (r->labelling)
    fprintf (file, ", \"labelling_ns\": %" PRIu64, r->labelling);
  if (r->n_stages) {
    fputs (", \"stages\": [", file);
    for (uint32_t i = 0; i < r->n_stages; i++)
      fprintf (file, "%s{\"name\": \"%s\", \"median_ns\": %" PRIu64 "}", i ? ", " : "",
               r->stages[i].name, r->stages[i].time);
    putc (']', file);
  }
  if (r->contender->peer)
    fprintf (file, ", \"mistakes\": %" PRId64, r->mistakes);
  putc ('}', file);
}

bool
record_json (const Bench *bench, const char *path)
{
  FILE *file = fopen (path, "w");
  bool ok;

  if (!file) {
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
    return false;
  }
  fprintf (file, "{\n  \"seed\": %u,\n  \"contenders\": [\n", bench->options.seed);
  for (size_t i = 0; i < bench->n_contenders; i++) {
    write_json_contender (file, &bench->contenders[i]);
    fputs (i + 1 < bench->n_contenders ? ",\n" : "\n", file);
  }
  fputs ("  ],\n  \"results\": [\n", file);
  for (size_t i = 0; i < bench->n_results; i++) {
    write_json_result (file, &bench->results[i]);
    fputs (i + 1 < bench->n_results ? ",\n" : "\n", file);
  }
  fputs ("  ]\n}\n", file);
  ok = !ferror (file);
  ok = fclose (file) == 0 && ok;
  if (!ok)
    fprintf (stderr, "%s: incomplete write\n", path);
  return ok;
}
