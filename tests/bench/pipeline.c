/* cudaccl - ccl-bench pipeline: scenarios, options and the report
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/pipeline.h"

#include <cudaccl/ccl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIP 77
#define MOST_PIPELINES 256
#define NO_TARGET 0
#define CCL "cudaccl"
#define MOTION "cclmotion"
#define COLOR "cclcolor"
#define LIVE_PIPELINES 64

/* The measurements, and their targets for an H200 with frames of 1920x1080. */
typedef struct Scenario
{
  const gchar *name;
  const gchar *what;
  const gchar *factory;
  PipelineMemory memory;
  gdouble most_us;   /* target of the median latency */
  gdouble least_fps; /* target of the throughput */
} Scenario;

static const Scenario scenarios[] = {
  { "system", "GRAY8, system memory", CCL, PIPELINE_SYSTEM, 100, 9000 },
  { "pool", "GRAY8, the element's pool", CCL, PIPELINE_PROPOSED, 120, 8000 },
  { "color", "cclcolor, GRAY8, system memory", COLOR, PIPELINE_SYSTEM, NO_TARGET, NO_TARGET },
  { "cuda", "NV12 in CUDAMemory", CCL, PIPELINE_CUDA, 60, NO_TARGET },
  { "motion-system", "motion, NV12, system memory", MOTION, PIPELINE_SYSTEM, NO_TARGET, NO_TARGET },
  { "motion-pool", "motion, NV12, the element's pool", MOTION, PIPELINE_PROPOSED, NO_TARGET,
    NO_TARGET },
  { "motion-cuda", "motion, NV12 in CUDAMemory", MOTION, PIPELINE_CUDA, 45, 20000 },
};

/* The state of a run of the program. */
typedef struct Report
{
  PipelineOptions options;
  guint8 *masks, *camera; /* luma for cudaccl, and for cclmotion */
  guint measured;
  gdouble plain; /* us, the median latency of cudaccl in system memory; 0: not measured */
  gboolean failed;
} Report;

static gboolean
wants (const Report *report, const gchar *name)
{
  gchar **names;
  gboolean wanted;

  if (!report->options.scenario)
    return TRUE;
  names = g_strsplit (report->options.scenario, ",", -1);
  wanted = g_strv_contains ((const gchar *const *) names, name);
  g_strfreev (names);
  return wanted;
}

static void
print_head (void)
{
  printf ("%-32s %8s %7s %7s %7s %7s %7s %7s %7s %7s\n", "", "frames/s", "p50 us", "p90 us",
          "p99 us", "upload", "analyse", "CPU us", "allocs", "comps");
}

static void
print_result (const gchar *what, const PipelineResult *result)
{
  printf ("%-32s %8.0f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %7.3f %7.1f\n", what, result->fps,
          result->p50, result->p90, result->p99, result->upload, result->analysis, result->cpu,
          result->allocations, result->components);
  fflush (stdout);
}

/* Prints a figure and, for frames of 1920x1080, its target. */
static void
print_target (const Report *report, const gchar *what, gdouble figure, gboolean least,
              gdouble target)
{
  gboolean reached = least ? figure >= target : figure <= target;

  if (target == NO_TARGET)
    return;
  printf ("  %-50s %9.2f", what, figure);
  if (report->options.width == 1920 && report->options.height == 1080)
    printf (" %s %7.2f: %s", least ? ">=" : "<=", target, reached ? "reached" : "short");
  printf ("\n");
}

static void
print_no_allocations (const PipelineResult *result)
{
  if (result->allocations > 0)
    printf ("  allocations a frame %.3f <= 0: short\n", result->allocations);
}

static void
say_why_not (Report *report, const gchar *what, GError *error)
{
  printf ("%-34s not measured: %s\n", what, error ? error->message : "no frames");
  g_clear_error (&error);
}

/* Pipelines that run at the same time. */
typedef struct Load
{
  PipelineMemory memory;
  guint n;       /* pipelines */
  guint devices; /* to distribute them over; 0: as the element's properties say */
  enum
  {
    CONTEXT_OF_PROCESS, /* that the elements find by themselves */
    CONTEXT_EACH,       /* a CUDA context for each pipeline */
    CONTEXT_OF_FIRST,   /* all pipelines repeat the first one's frames */
  } context;            /* of frames in CUDAMemory */
} Load;

static gboolean
measure (Report *report, const Load *load, gboolean *has_pool, PipelineResult *result,
         GError **error)
{
  PipelineRun *runs[MOST_PIPELINES];
  gboolean motion = g_str_equal (report->options.factory, MOTION);
  const guint8 *frames = motion ? report->camera : report->masks;
  guint i, made, n = load->n;
  gboolean ok = TRUE;

  for (made = 0; made < n; made++) {
    gint device = load->devices ? (gint) (made % load->devices) : -1;

    if (load->context == CONTEXT_OF_FIRST && made > 0)
      runs[made] = pipeline_run_new_beside (&report->options, runs[0], error);
    else
      runs[made] = pipeline_run_new (&report->options, frames, load->memory, device,
                                     load->context == CONTEXT_EACH, error);
    if (!runs[made])
      break;
  }
  ok = made == n && pipeline_runs_measure (runs, n, &report->options, result, error);
  if (ok && has_pool)
    *has_pool = pipeline_run_has_proposed_pool (runs[0]);
  for (i = 0; i < made; i++)
    pipeline_run_free (runs[i]);
  report->measured += ok;
  return ok;
}

static void
run_scenario (Report *report, const Scenario *scenario)
{
  PipelineResult result;
  gboolean has_pool = FALSE;
  GError *error = NULL;

  if (!wants (report, scenario->name))
    return;
  report->options.factory = scenario->factory;
  if (!measure (report, &(Load){ scenario->memory, 1, 0, CONTEXT_OF_PROCESS }, &has_pool, &result,
                &error)) {
    /* CUDAMemory needs GstCuda; everything else must work. */
    report->failed |= scenario->memory != PIPELINE_CUDA;
    say_why_not (report, scenario->what, error);
    return;
  }
  print_result (scenario->what, &result);
  if (scenario->memory == PIPELINE_PROPOSED && !has_pool)
    printf ("  the element proposes no pool here: measured with system memory\n");
  print_target (report, "median latency inside the element, us", result.p50, FALSE,
                scenario->most_us);
  print_target (report, "frames per second", result.fps, TRUE, scenario->least_fps);
  print_no_allocations (&result);
  if (g_str_equal (scenario->name, "system"))
    report->plain = result.p50;
  if (g_str_equal (scenario->factory, COLOR) && report->plain > 0)
    print_target (report, "times the latency of cudaccl", result.p50 / report->plain, FALSE, 1.5);
}

/* The kinds of memory in reports of loads. */
static const gchar *const memories[] = {
  [PIPELINE_SYSTEM] = "system memory",
  [PIPELINE_PROPOSED] = "pool",
  [PIPELINE_CUDA] = "CUDAMemory",
};

/* Measures and prints a load. */
static gboolean
run_load (Report *report, const Load *load, PipelineResult *result)
{
  static const gchar *const contexts[] = {
    [CONTEXT_OF_PROCESS] = "the process's context",
    [CONTEXT_EACH] = "a context each",
    [CONTEXT_OF_FIRST] = "the first one's context and frames",
  };
  GError *error = NULL;
  GString *what = g_string_new (NULL);

  g_string_printf (what, "%s%u pipelines, %s",
                   g_str_equal (report->options.factory, MOTION) ? "motion, " : "", load->n,
                   memories[load->memory]);
  if (load->memory == PIPELINE_CUDA)
    g_string_append_printf (what, ", %s", contexts[load->context]);
  if (load->devices > 1)
    g_string_append_printf (what, ", %u devices", load->devices);
  if (measure (report, load, NULL, result, &error)) {
    print_result (what->str, result);
    print_no_allocations (result);
  } else {
    /* CUDAMemory needs GstCuda; everything else must work. */
    report->failed |= load->memory != PIPELINE_CUDA;
    say_why_not (report, what->str, error);
    result = NULL;
  }
  g_string_free (what, TRUE);
  return result != NULL;
}

/* One pipeline, many, and many on several devices. */
static void
run_many (Report *report, PipelineMemory memory)
{
  guint n = report->options.pipelines, devices = report->options.devices;
  Load load = { memory, 1, devices > 1, CONTEXT_OF_PROCESS };
  PipelineResult one, many, spread;

  if (!run_load (report, &load, &one))
    return;
  load.n = n;
  if (!run_load (report, &load, &many))
    return;
  print_target (report, "times the throughput of one", many.fps / one.fps, TRUE, 1.5);
  if (devices < 2)
    return;
  load.n = MIN (n * devices, MOST_PIPELINES);
  load.devices = devices;
  if (run_load (report, &load, &spread))
    print_target (report, "times the throughput of one device", spread.fps / many.fps, TRUE,
                  0.9 * devices);
}

/* Many pipelines with frames on the device: each in a CUDA context of its own, in the one that the
 * elements share by themselves, and all with the same frames. */
static void
run_contexts (Report *report)
{
  Load load = { PIPELINE_CUDA, report->options.pipelines, 0, CONTEXT_EACH };
  PipelineResult apart, found, same;

  if (!run_load (report, &load, &apart))
    return;
  load.context = CONTEXT_OF_PROCESS;
  if (!run_load (report, &load, &found))
    return;
  printf ("  %-50s %9.2f\n", "times the throughput with a context each", found.fps / apart.fps);
  if (report->options.pipelines == 16 && g_str_equal (report->options.factory, MOTION))
    print_target (report, "frames per second", found.fps, TRUE, 40000);
  load.context = CONTEXT_OF_FIRST;
  if (run_load (report, &load, &same))
    print_target (report, "of the throughput with the first one's frames", found.fps / same.fps,
                  TRUE, 0.9);
}

/* Measures live pipelines, which decode if there is a file. Without a factory they only produce the
 * frames. */
static gboolean
measure_live (Report *report, PipelineMemory memory, const gchar *factory, PipelineResult *result,
              GError **error)
{
  PipelineOptions *options = &report->options;
  PipelineRun *runs[MOST_PIPELINES];
  guint i, made;
  gboolean ok;

  options->factory = factory;
  options->live = TRUE;
  for (made = 0; made < options->pipelines; made++) {
    runs[made] = options->decode
                     ? pipeline_run_new_decoding (options, factory != NULL, error)
                     : pipeline_run_new (options, report->camera, memory, -1, FALSE, error);
    if (!runs[made])
      break;
  }
  ok = made == options->pipelines && pipeline_runs_measure (runs, made, options, result, error);
  for (i = 0; i < made; i++)
    pipeline_run_free (runs[i]);
  options->live = FALSE;
  report->measured += ok;
  return ok;
}

static void
print_live (guint n, const gchar *what, const PipelineResult *result)
{
  gchar *text = g_strdup_printf ("%u live, %s", n, what);

  print_result (text, result);
  g_free (text);
  printf ("  %-50s %9.2f\n", "cores", result->cores);
}

/* The cost of cameras at 30 frames per second: the frames alone, unless they are decoded, with
 * cclmotion, and with the elements behind it. */
static void
run_live (Report *report, PipelineMemory memory)
{
  PipelineOptions *options = &report->options;
  gchar *behind = options->behind ? options->behind : (gchar *) "ccltrack";
  PipelineResult alone = { 0 }, motion, all;
  GError *error = NULL;

  options->behind = NULL;
  /* Decoders alone would not share a CUDA context, and take turns on the device. */
  if ((options->decode || measure_live (report, memory, NULL, &alone, &error)) &&
      measure_live (report, memory, MOTION, &motion, &error)) {
    options->behind = behind;
    if (measure_live (report, memory, MOTION, &all, &error)) {
      if (!options->decode)
        print_live (options->pipelines, "source", &alone);
      print_live (options->pipelines, MOTION, &motion);
      print_live (options->pipelines, behind, &all);
      if (!options->decode)
        printf ("  %-50s %9.2f\n", "cores above the frames alone", all.cores - alone.cores);
    }
  }
  options->behind = NULL;
  if (error) {
    report->failed |= memory != PIPELINE_CUDA;
    say_why_not (report, "live", error);
  }
}

static gboolean
measure_decoding (Report *report, gboolean analyse, PipelineResult *result, GError **error)
{
  PipelineRun *run = pipeline_run_new_decoding (&report->options, analyse, error);
  gboolean ok = run && pipeline_runs_measure (&run, 1, &report->options, result, error);

  pipeline_run_free (run);
  report->measured += ok;
  return ok;
}

static void
run_decoding (Report *report)
{
  PipelineResult alone, analysed;
  GError *error = NULL;

  if (!measure_decoding (report, FALSE, &alone, &error) ||
      !measure_decoding (report, TRUE, &analysed, &error)) {
    report->failed = TRUE;
    say_why_not (report, "nvh264dec", error);
    return;
  }
  print_result ("nvh264dec", &alone);
  print_result ("nvh264dec ! cudaccl", &analysed);
  print_target (report, "of the decoder's throughput", analysed.fps / alone.fps, TRUE, 0.9);
  print_no_allocations (&analysed);

  report->options.factory = MOTION;
  if (!measure_decoding (report, TRUE, &analysed, &error)) {
    report->failed = TRUE;
    say_why_not (report, "nvh264dec ! cclmotion", error);
    return;
  }
  print_result ("nvh264dec ! cclmotion", &analysed);
  print_target (report, "of the decoder's throughput", analysed.fps / alone.fps, TRUE, 0.9);
}

static gboolean
parse_size (const gchar *name, const gchar *value, gpointer data, GError **error)
{
  PipelineOptions *options = data;
  gchar end;

  if (sscanf (value, "%ux%u%c", &options->width, &options->height, &end) == 2 &&
      options->width > 0 && options->height > 0 && options->width <= 32768 &&
      options->height <= 32768)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "'%s' is not a size like 1920x1080, of at most 32768x32768", value);
  return FALSE;
}

static gboolean
parse_options (PipelineOptions *options, int argc, char **argv, GError **error)
{
  gint pipelines = 0, devices = 1, buffers = PIPELINE_FRAMES;
  const GOptionEntry entries[] = {
    { "size", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer) parse_size, "of the frames (1920x1080)",
      "WxH" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options->seconds, "time per scenario (3)", "S" },
    { "scenario", 0, 0, G_OPTION_ARG_STRING, &options->scenario,
      "only these: system, pool, color, cuda, motion-system, motion-pool, motion-cuda, many, "
      "many-system, contexts, motion-contexts, live, live-system",
      "NAME,..." },
    { "pipelines", 0, 0, G_OPTION_ARG_INT, &pipelines,
      "pipelines at once in many, many-system and contexts (16), and in live (64)", "N" },
    { "devices", 0, 0, G_OPTION_ARG_INT, &devices, "devices in scenarios many and many-system (1)",
      "N" },
    { "buffers", 0, 0, G_OPTION_ARG_INT, &buffers, "buffers of each source, 16 to 256 (16)", "N" },
    { "element", 0, 0, G_OPTION_ARG_STRING, &options->element,
      "properties of the elements, as in gst-launch (cclmotion: " PIPELINE_MOTION_PROPERTIES
      "; the others also have cuda-graphs=true)",
      "'NAME=VALUE ...'" },
    { "behind", 0, 0, G_OPTION_ARG_STRING, &options->behind,
      "elements behind it, or its format (in live: ccltrack)", "'ELEMENT ! ...'" },
    { "masks", 0, 0, G_OPTION_ARG_FILENAME, &options->masks,
      "raw GRAY8 frames of that size to analyse instead of drawn ones", "FILE" },
    { "decode", 0, 0, G_OPTION_ARG_FILENAME, &options->decode,
      "H.264 video to decode with and without the element", "FILE" },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new ("");
  GOptionGroup *group = g_option_group_new ("pipeline", NULL, NULL, options, NULL);
  gboolean ok;

  *options = (PipelineOptions){ .width = 1920, .height = 1080, .seconds = 3 };
  g_option_group_add_entries (group, entries);
  g_option_context_set_main_group (context, group);
  g_option_context_set_summary (
      context, "Measures cudaccl, cclcolor and cclmotion in pipelines. A frame's latency is the "
               "time from the\nelement's sink pad to its source pad; CPU time is that of the "
               "whole process.");
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, &argc, &argv, error);
  g_option_context_free (context);
  if (ok &&
      (argc > 1 || pipelines < 0 || pipelines > MOST_PIPELINES || devices < 1 ||
       buffers < PIPELINE_FRAMES || buffers > PIPELINE_MOST_BUFFERS || !(options->seconds > 0))) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "%s; try ccl-bench pipeline --help",
                 argc > 1 ? "unexpected argument"
                          : "needs 1 to 256 pipelines, 16 to 256 buffers, at least one device and "
                            "more than 0 seconds");
    return FALSE;
  }
  options->pipelines = (guint) pipelines;
  options->devices = (guint) devices;
  options->buffers = (guint) buffers;
  return ok;
}

static void
clear_report (Report *report)
{
  g_free (report->options.scenario);
  g_free (report->options.element);
  g_free (report->options.behind);
  g_free (report->options.masks);
  g_free (report->options.decode);
  g_free (report->masks);
  g_free (report->camera);
}

static gboolean
have_element (void)
{
  GstElementFactory *factory = gst_element_factory_find ("cudaccl");

  if (!factory)
    return FALSE;
  gst_object_unref (factory);
  return TRUE;
}

int
pipeline_main (int argc, char **argv)
{
  Report report = { .measured = 0 };
  GError *error = NULL;
  guint i, chosen;

  if (!parse_options (&report.options, argc, argv, &error) ||
      !(report.masks = pipeline_masks_new (&report.options, &error))) {
    fprintf (stderr, "ccl-bench: %s\n", error->message);
    g_clear_error (&error);
    clear_report (&report);
    return EXIT_FAILURE;
  }
  if (!have_element ()) {
    printf ("ccl-bench: no element cudaccl; set GST_PLUGIN_PATH\n");
    clear_report (&report);
    return EXIT_SKIP;
  }

  chosen = report.options.pipelines;
  report.options.pipelines = chosen > 0 ? chosen : 16;
  report.camera = pipeline_camera_new (&report.options, report.masks);
  printf ("%ux%u; cclmotion %s\n", report.options.width, report.options.height,
          report.options.element ? report.options.element : PIPELINE_MOTION_PROPERTIES);
  print_head ();
  for (i = 0; i < G_N_ELEMENTS (scenarios); i++)
    run_scenario (&report, &scenarios[i]);
  report.options.factory = CCL;
  if (wants (&report, "many"))
    run_many (&report, PIPELINE_PROPOSED);
  if (wants (&report, "many-system"))
    run_many (&report, PIPELINE_SYSTEM);
  if (wants (&report, "contexts"))
    run_contexts (&report);
  report.options.factory = MOTION;
  if (wants (&report, "motion-contexts"))
    run_contexts (&report);
  /* Only by name: they take longer than all others. */
  if (report.options.scenario) {
    report.options.pipelines = chosen > 0 ? chosen : LIVE_PIPELINES;
    if (wants (&report, "live"))
      run_live (&report, PIPELINE_CUDA);
    if (wants (&report, "live-system"))
      run_live (&report, PIPELINE_SYSTEM);
  }
  report.options.factory = CCL;
  if (report.options.decode && !report.options.scenario)
    run_decoding (&report);

  clear_report (&report);
  if (report.failed)
    return EXIT_FAILURE;
  return report.measured > 0 ? EXIT_SUCCESS : EXIT_SKIP;
}
