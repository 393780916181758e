#!/usr/bin/env python3
# Compares ccltrack with other trackers on the same boxes.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares ccltrack with all trackers of the package trackers, and with norfair.

cclmotion finds the boxes in VIDEO, once for each of its settings; all trackers get the same. TRUTH has
a line "frame,id,x,y,width,height" for each object, with frames from 0, and perhaps the share of it that
is visible. Prints a table in Markdown.

With --bench, all get the boxes of detectors instead, and VIDEO is its size, as 768x576: TRUTH without
20 % of the boxes; the same with jitter and false boxes; TRUTH; what is visible of it; and --detections.

A single run says little. --light changes the video a little in ten ways (motion_scenes.py), --starts begins
at several frames, --seeds drops and disturbs the boxes of detectors anew; figures are means, ± half of
their range, of MOTA, IDF1, HOTA (hota.py) and switches.

Needs numpy, scipy, motmetrics, supervision, trackers and norfair, and cudaccl's elements with ccljson
(meson devenv). A version of peers that knows the frame rate gets the video's and 30 frames a second in
turn, and the better result counts. Cameras stand still: peers do not estimate their motion.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings

import numpy as np

if not hasattr(np, "asfarray"):  # motmetrics 1.4 on NumPy 2
    np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)

import motmetrics
import norfair
import supervision
import trackers

from hota import hota
from motion_disturbances import Boxes, decode, disturb as disturb_clip
from motion_scenes import LIGHT

# Names in the tables, and in the package trackers.
KINDS = {"SORT": "SORTTracker", "ByteTrack": "ByteTrackTracker", "OC-SORT": "OCSORTTracker", "BoT-SORT": "BoTSORTTracker",
         "C-BIoU": "CBIoUTracker", "McByte": "McByteTracker"}

SETTINGS = [
    "min-area=200",
    "morphology=median3 min-area=200",
    "morphology=open3x3,close3x7 min-area=200",
    "morphology=open3x3,close1x15 min-area=250",
]


def run(video, elements):
    """The components of each frame, as ccljson writes them."""
    command = ["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!"]
    for element in elements:
        command += element.split() + ["!"]
    command += ["ccljson", "!", "fdsink"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def box(component):
    return [component[name] for name in ("x", "y", "width", "height")]


def track_ours(video, setting):
    frames = run(video, ["cclmotion " + setting, "ccltrack"])
    return [[(c["track"], *box(c)) for c in frame["components"]] for frame in frames]


def clip(rows, width, height):
    """Rows of frame, box and confidence, with whole pixels inside of the picture."""
    result = []
    for frame, x, y, w, h, confidence in rows:
        x1, y1 = max(round(x), 0), max(round(y), 0)
        x2, y2 = min(round(x + w), width), min(round(y + h), height)
        if x1 < x2 and y1 < y2:
            result.append((frame, x1, y1, x2 - x1, y2 - y1, confidence))
    return sorted(result, key=lambda row: row[0])


def read_rows(path):
    rows = [[float(v) for v in line.split(",")] for line in open(path)]
    return [(int(r[0]), *r[2:6], r[6] if len(r) > 6 else 1.0) for r in rows]


def drop(rows, seed):
    source = random.Random(seed)
    return [row for row in rows if source.random() >= 0.2]


def disturb(rows, width, height, seed):
    """Moves sides by 5 %, and adds a false box to every second frame."""
    source = random.Random(seed)
    result = []
    for f, x, y, w, h, c in rows:
        a, b, d, e = (source.gauss(0, 0.05) for _ in range(4))
        result.append((f, x + a * w, y + b * h, w * math.exp(d), h * math.exp(e), c))
    for frame in range(rows[-1][0] + 1):
        if source.random() < 0.5:
            _, _, _, w, h, _ = source.choice(rows)
            result.append((frame, source.uniform(0, width - w), source.uniform(0, height - h), w, h, 1.0))
    return result


def track_bench(bench, rows, width, height, rate, frames):
    text = "".join(f"{r[0]},-1,{r[1]},{r[2]},{r[3]},{r[4]},{r[5]}\n" for r in rows)
    lines = subprocess.run([bench, "boxes", str(width), str(height), str(rate)], input=text,
                           stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    result = [[] for _ in range(frames)]
    for line in lines:
        values = [float(v) for v in line.split(",")]
        result[int(values[0])].append((int(values[1]), *values[2:]))
    return result


def compare(truth, ours, boxes, confidences, kinds, arguments):
    """The figures of each tracker."""
    results = [score(truth, ours, arguments.first)]
    for kind in kinds.values():
        results.append(max((score(truth, track_roboflow(kind, boxes, rate, confidences), arguments.first)
                            for rate in {arguments.rate, 30.0}), key=lambda r: r[0] + r[1]))
    return results + [score(truth, track_norfair(boxes), arguments.first)]


def say(runs):
    """A row of the table: means, and half of the range."""
    cells = []
    for values in zip(*runs):
        means, spread = np.mean(values, axis=0), np.ptp(values, axis=0) / 2
        words = [f"{m:.3f}" + f" ± {s:.3f}" * (len(runs) > 1) for m, s in zip(means[:3], spread)]
        words.append(f"{means[3]:.1f} ± {spread[3]:.1f}" if len(runs) > 1 else f"{means[3]:.0f}")
        cells.append(" · ".join(words))
    return " | ".join(cells)


def begin(frames, start):
    """Frames by their numbers, of which the first ones are left out."""
    return {f - start: objects for f, objects in frames.items() if f >= start}


def compare_detections(truth, kinds, arguments):
    width, height = (int(v) for v in arguments.video.split("x"))
    rows = clip(read_rows(arguments.truth), width, height)
    whole = [(*row[:5], 1.0) for row in rows]
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    dropped = [drop(whole, seed) for seed in seeds]
    sets = {"truth without 20 %": dropped,
            "the same, jitter, false boxes": [disturb(d, width, height, s) for d, s in zip(dropped, seeds)],
            "truth": [whole]}
    if any(row[5] < 1.0 for row in rows):
        sets["truth, visible > .3"] = [[(*row[:5], 1.0) for row in rows if row[5] > 0.3]]
    for path in arguments.detections:
        sets[os.path.basename(path)] = [read_rows(path)]
    for name, variants in sets.items():
        runs = [compare_boxes(begin(truth, start), variant, start, width, height, kinds, arguments)
                for variant in variants for start in arguments.starts]
        print(f"| {name} | {say(runs)} |", flush=True)


def compare_boxes(truth, found, start, width, height, kinds, arguments):
    found = [(row[0] - start, *row[1:]) for row in clip(found, width, height) if row[0] >= start]
    frames = max(max(truth), found[-1][0]) + 1
    boxes = [[] for _ in range(frames)]
    confidences = [[] for _ in range(frames)]
    for frame, x, y, w, h, confidence in found:
        boxes[frame].append((x, y, w, h))
        confidences[frame].append(confidence)
    ours = track_bench(arguments.bench, found, width, height, arguments.rate, frames)
    return compare(truth, ours, boxes, confidences, kinds, arguments)


def track_roboflow(kind, boxes, rate, confidences=None):
    options = {"enable_cmc": False} if "enable_cmc" in kind.__init__.__code__.co_varnames else {}
    tracker = kind(frame_rate=rate, **options)
    result = []
    for number, frame in enumerate(boxes):
        corners = np.array(frame, np.float32).reshape(-1, 4)
        corners[:, 2:] += corners[:, :2]
        certain = np.array(confidences[number] if confidences else np.ones(len(corners)), np.float32)
        found = tracker.update(supervision.Detections(
            xyxy=corners, confidence=certain,
            class_id=np.zeros(len(corners), int)))
        ids = found.tracker_id if found.tracker_id is not None else []
        result.append([(int(i) + 1, x1, y1, x2 - x1, y2 - y1)
                       for (x1, y1, x2, y2), i in zip(found.xyxy, ids) if i is not None and i >= 0])
    return result


def track_norfair(boxes):
    tracker = norfair.Tracker(distance_function="iou", distance_threshold=0.7)
    result = []
    for frame in boxes:
        detections = [norfair.Detection(np.array([[x, y], [x + w, y + h]]), scores=np.ones(2))
                      for x, y, w, h in frame]
        result.append([(o.id, o.estimate[0][0], o.estimate[0][1], *(o.estimate[1] - o.estimate[0]))
                       for o in tracker.update(detections) if o.id is not None])
    return result


def read_truth(path):
    frames = {}
    for line in open(path):
        values = line.split(",")
        frames.setdefault(int(values[0]), []).append((int(values[1]), *map(float, values[2:6])))
    return frames


def score(truth, tracks, first):
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for number in range(first, max(truth) + 1):
        wanted, got = truth.get(number, []), tracks[number]
        distance = motmetrics.distances.iou_matrix([o[1:] for o in wanted], [o[1:] for o in got],
                                                   max_iou=0.5)
        accumulator.update([o[0] for o in wanted], [o[0] for o in got], distance)
    names = ["mota", "idf1", "num_switches"]
    summary = motmetrics.metrics.create().compute(accumulator, metrics=names, name="tracks")
    numbers = range(first, max(truth) + 1)
    mota, idf1, switches = (summary[name].iloc[0] for name in names)
    return mota, idf1, hota([truth.get(n, []) for n in numbers], [tracks[n] for n in numbers]), switches


def make_variants(arguments, folder, truth):
    """Yields videos and their truth."""
    if not arguments.light and arguments.starts == [0]:
        yield arguments.video, truth
        return
    count = max(truth) + 1
    clip = decode(os.path.abspath(arguments.video), count, False, os.path.join(folder, "whole.y4m"))
    clip.boxes = Boxes(truth).frames
    for name, seed in LIGHT if arguments.light else [("none", 0)]:
        path, part = os.path.join(folder, "variant.y4m"), os.path.join(folder, "part.y4m")
        changed = disturb_clip(clip, name, arguments.seed + seed, path)
        for start in arguments.starts:
            with open(part, "wb") as file:
                rate = clip.rate.replace("/", ":")
                file.write(f"YUV4MPEG2 W{clip.width} H{clip.height} F{rate} Ip A1:1 C420\n".encode())
                for frame in changed.frames[start:]:
                    file.write(b"FRAME\n" + frame.tobytes())
            yield part, begin(changed.truth, start)


def compare_components(truth, setting, kinds, arguments):
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for video, wanted in make_variants(arguments, folder, truth):
            frames = run(video, ["cclmotion " + setting])
            if len(frames) <= max(wanted):
                sys.exit(f"{video} has {len(frames)} frames, the truth goes on to {max(wanted)}")
            boxes = [[box(c) for c in frame["components"]] for frame in frames]
            runs.append(compare(wanted, track_ours(video, setting), boxes, None, kinds, arguments))
    print(f"| `{setting}` | {say(runs)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("video", metavar="VIDEO")
    parser.add_argument("truth", metavar="TRUTH")
    parser.add_argument("settings", metavar="SETTINGS", nargs="*", default=SETTINGS,
                        help="properties of cclmotion; several sets are compared")
    parser.add_argument("--first", type=int, default=30, help="first frame that counts; default: 30")
    parser.add_argument("--rate", type=float, default=10.0, help="the video's frame rate; default: 10")
    parser.add_argument("--bench", help="path of track-bench: compare on detectors' boxes")
    parser.add_argument("--detections", metavar="FILE", action="append", default=[],
                        help='with --bench: lines "frame,id,x,y,width,height,confidence"')
    parser.add_argument("--seed", type=int, default=1, help="with --bench: of what is dropped and disturbed")
    parser.add_argument("--seeds", type=int, default=1, help="how many; default: 1")
    parser.add_argument("--light", action="store_true", help="ten light perturbations of the video")
    parser.add_argument("--starts", metavar="N,...", type=lambda text: [int(n) for n in text.split(",")], default=[0],
                        help="frames to begin at; default: 0")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")

    truth = read_truth(arguments.truth)
    kinds = {name: getattr(trackers, kind) for name, kind in KINDS.items() if hasattr(trackers, kind)}
    names = ["ccltrack", *kinds, "norfair"]
    print(("| boxes | " if arguments.bench else "| boxes: `cclmotion` | ") + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    if arguments.bench:
        compare_detections(truth, kinds, arguments)
        return
    for setting in arguments.settings:
        compare_components(truth, setting, kinds, arguments)


if __name__ == "__main__":
    main()
