#!/usr/bin/env python3
# Compares ccltrack with other trackers on the same boxes.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares ccltrack with SORT, ByteTrack and OC-SORT of the package trackers, and with norfair.

cclmotion finds the boxes in VIDEO, once for each of its settings; all trackers get the same. TRUTH has
a line "frame,id,x,y,width,height" for each object, with frames from 0, and perhaps the share of it that
is visible. Prints a table in Markdown.

With --bench, all get the boxes of detectors instead, and VIDEO is its size, as 768x576: TRUTH without
20 % of the boxes; the same with jitter and false boxes; TRUTH; what is visible of it; and --detections.

Needs numpy, scipy, motmetrics, supervision, trackers and norfair, and cudaccl's elements with ccljson
(meson devenv). A version of peers that knows the frame rate gets the video's and 30 frames a second in
turn, and the better result counts.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import warnings

import numpy as np

if not hasattr(np, "asfarray"):  # motmetrics 1.4 on NumPy 2
    np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)

import motmetrics
import norfair
import supervision
import trackers

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
    """A row of the table."""
    results = [score(truth, ours, arguments.first)]
    for kind in kinds.values():
        results.append(max((score(truth, track_roboflow(kind, boxes, rate, confidences), arguments.first)
                            for rate in {arguments.rate, 30.0}), key=lambda r: r[0] + r[1]))
    results.append(score(truth, track_norfair(boxes), arguments.first))
    return " | ".join(f"{mota:.3f} · {idf1:.3f} · {int(switches)}" for mota, idf1, switches in results)


def compare_detections(truth, kinds, arguments):
    width, height = (int(v) for v in arguments.video.split("x"))
    rows = clip(read_rows(arguments.truth), width, height)
    whole = [(*row[:5], 1.0) for row in rows]
    sets = {"truth without 20 %": drop(whole, arguments.seed)}
    sets["the same, jitter, false boxes"] = disturb(sets["truth without 20 %"], width, height, arguments.seed)
    sets["truth"] = whole
    if any(row[5] < 1.0 for row in rows):
        sets["truth, visible > .3"] = [(*row[:5], 1.0) for row in rows if row[5] > 0.3]
    for path in arguments.detections:
        sets[os.path.basename(path)] = read_rows(path)
    for name, found in sets.items():
        found = clip(found, width, height)
        frames = max(max(truth), found[-1][0]) + 1
        boxes = [[] for _ in range(frames)]
        confidences = [[] for _ in range(frames)]
        for frame, x, y, w, h, confidence in found:
            boxes[frame].append((x, y, w, h))
            confidences[frame].append(confidence)
        ours = track_bench(arguments.bench, found, width, height, arguments.rate, frames)
        print(f"| {name} | " + compare(truth, ours, boxes, confidences, kinds, arguments) + " |", flush=True)


def track_roboflow(kind, boxes, rate, confidences=None):
    tracker = kind(frame_rate=rate)
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
    return tuple(summary[name].iloc[0] for name in names)


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
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")

    truth = read_truth(arguments.truth)
    kinds = {"SORT": trackers.SORTTracker, "ByteTrack": trackers.ByteTrackTracker}
    if hasattr(trackers, "OCSORTTracker"):
        kinds["OC-SORT"] = trackers.OCSORTTracker
    names = ["ccltrack", *kinds, "norfair"]
    print(("| boxes | " if arguments.bench else "| boxes: `cclmotion` | ") + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    if arguments.bench:
        compare_detections(truth, kinds, arguments)
        return
    for setting in arguments.settings:
        frames = run(arguments.video, ["cclmotion " + setting])
        if len(frames) <= max(truth):
            sys.exit(f"{arguments.video} has {len(frames)} frames, the truth goes on to {max(truth)}")
        boxes = [[box(c) for c in frame["components"]] for frame in frames]
        ours = track_ours(arguments.video, setting)
        print(f"| `{setting}` | " + compare(truth, ours, boxes, None, kinds, arguments) + " |", flush=True)


if __name__ == "__main__":
    main()
