#!/usr/bin/env python3
# Scores ccldetect and ccltrack together.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks VIDEO with cclmotion ! ccldetect ! ccltrack, once for each of SETTINGS, the properties of
ccldetect, and prints a table in Markdown: inferences, MOTA, IDF1 and switches, and recall and
precision of boxes at an IoU of 0.5. TRUTH has a line "frame,id,x,y,width,height" for each object,
with frames from 0. "none" as SETTINGS is without a network.

Needs numpy, scipy and motmetrics, and cudaccl's elements (meson devenv); CUDACCL_ONNXRUNTIME names
ONNX Runtime. Frames wait for the network, so that the result is the same each time.
"""

import argparse
import os
import subprocess
import tempfile

import numpy as np

from motion_score import launch, parse_lines, read_truth

if not hasattr(np, 'asfarray'):  # motmetrics 1.4 on NumPy 2
    np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)

import motmetrics

SETTINGS = ['region=frame', 'region=frame budget=3', 'region=frame budget=1', 'region=moving', 'region=moving budget=1', 'none']


def track(arguments, setting):
    """The objects of each frame, and the number of inferences."""
    words = ['filesrc', f'location={arguments.video}', '!', 'decodebin', '!', 'videoconvert', '!', 'cclmotion', '!']
    if setting != 'none':
        words += ['ccldetect', f'model={arguments.model}', f'classes={arguments.classes}', 'wait=true', *setting.split(), '!']
    with tempfile.NamedTemporaryFile() as log:
        output = launch(*words, 'ccltrack', *arguments.track.split(), '!', 'ccljson', '!', 'fdsink',
                        stdout=subprocess.PIPE, text=True,
                        env={**os.environ, 'GST_DEBUG': 'ccldetect:LOG', 'GST_DEBUG_FILE': log.name}).stdout
        return parse_lines(output), log.read().count(b' crops, ')


def score(truth, tracks, first):
    """The columns of the table."""
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for frame in range(first, max(truth) + 1):
        wanted, got = truth.get(frame, []), tracks[frame]
        distance = motmetrics.distances.iou_matrix([o[1:] for o in wanted], [o[1:] for o in got], max_iou=0.5)
        accumulator.update([o[0] for o in wanted], [o[0] for o in got], distance)
    names = ['mota', 'idf1', 'num_switches', 'recall', 'precision']
    summary = motmetrics.metrics.create().compute(accumulator, metrics=names, name='tracks')
    return [summary[name].iloc[0] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('video', metavar='VIDEO')
    parser.add_argument('truth', metavar='TRUTH')
    parser.add_argument('settings', metavar='SETTINGS', nargs='*', default=SETTINGS)
    parser.add_argument('--model', required=True)
    parser.add_argument('--classes', default='person')
    parser.add_argument('--track', default='', help='properties of ccltrack')
    parser.add_argument('--first', type=int, default=30, help='first frame that counts; default: 30')
    arguments = parser.parse_intermixed_args()

    truth = read_truth(arguments.truth)
    print('| `ccldetect` | inferences | MOTA | IDF1 | switches | recall | precision |')
    print('|---|---|---|---|---|---|---|')
    for setting in arguments.settings:
        tracks, inferences = track(arguments, setting)
        mota, idf1, switches, recall, precision = score(truth, tracks, arguments.first)
        print(f'| `{setting}` | {inferences} | {mota:.3f} | {idf1:.3f} | {int(switches)} | {recall:.3f} '
              f'| {precision:.3f} |', flush=True)


if __name__ == '__main__':
    main()
