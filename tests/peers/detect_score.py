#!/usr/bin/env python3
# Scores ccldetect and ccltrack together.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks VIDEO with cclmotion ! ccldetect ! ccltrack, once for each of SETTINGS, the properties of
ccldetect, and prints a table in Markdown: inferences, MOTA, IDF1 and switches, and recall and
precision of boxes at an IoU of 0.5. TRUTH has a line "frame,id,x,y,width,height" for each object,
with frames from 0. "none" as SETTINGS is without a network; "still" before others is without cclmotion.

A single run says little: looks fall on other frames if the recording begins a little later. --start
lists frames to begin at, and --variants how the frames are changed: "mirror" left and right, "turn" for
the last frame first, and the disturbances of motion_scenes.py; "light" is all light ones. Figures are
means over all of these, ± half of their range.

Needs numpy, scipy and motmetrics, and cudaccl's elements (meson devenv); CUDACCL_ONNXRUNTIME names
ONNX Runtime. Frames wait for the network, so that the result is the same each time.
"""

import argparse
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from motion_disturbances import decode, disturb
from motion_scenes import DISTURBANCES, LIGHT
from motion_score import launch, parse_lines, read_truth

if not hasattr(np, 'asfarray'):  # motmetrics 1.4 on NumPy 2
    np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)

import motmetrics

SETTINGS = ['region=frame', 'region=frame budget=3', 'region=frame budget=1', 'region=moving', 'region=moving budget=1', 'none']


def track(path, arguments, setting):
    """The objects of each frame, and the number of inferences."""
    words = ['filesrc', f'location={path}', '!', 'decodebin', '!', 'videoconvert', '!']
    still = setting.startswith('still')
    if not still:
        words += ['cclmotion', '!']
    if setting != 'none':
        words += ['ccldetect', f'model={arguments.model}', f'classes={arguments.classes}', 'wait=true',
                  *setting.removeprefix('still').split(), '!']
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


def write_frames(path, clip, frames, truth, change, numbers):
    """Writes the frames with these numbers, each changed. Returns the truth of these."""
    with open(path, 'wb') as file:
        file.write(f'YUV4MPEG2 W{clip.width} H{clip.height} F{clip.rate.replace("/", ":")} Ip A1:1 C420\n'.encode())
        for n in numbers:
            frame = frames[n]
            if change == 'mirror':
                frame = frame.copy()
                for plane in clip.planes(frame):
                    plane[:] = plane[:, ::-1].copy()
            file.write(b'FRAME\n' + frame.tobytes())
    objects = {i: truth[n] for i, n in enumerate(numbers) if n in truth}
    if change == 'mirror':
        objects = {i: [[o[0], clip.width - o[1] - o[3], *o[2:]] for o in boxes] for i, boxes in objects.items()}
    return objects


def make_variants(arguments, folder, truth):
    """Yields files and their truth: one for each start of each variant."""
    video = os.path.abspath(arguments.video)
    if arguments.start == [0] and arguments.variants == [('none', 0)]:
        yield video, truth
        return
    count = max(truth) + 1
    clip = decode(video, count, False, os.path.join(folder, 'whole.y4m'))
    clip.frames, clip.count, clip.boxes = clip.frames[:count], min(count, clip.count), truth
    for name, seed in arguments.variants:
        frames, objects, path = clip.frames, truth, os.path.join(folder, 'variant.y4m')
        if name not in ('none', 'mirror', 'turn'):
            disturbed = disturb(clip, name, 1 + seed, path)
            frames, objects = disturbed.frames, disturbed.truth
        for start in arguments.start:
            numbers = range(start, len(frames))
            if name == 'turn':
                numbers = range(len(frames) - 1 - start, -1, -1)
            part = os.path.join(folder, 'part.y4m')
            yield part, write_frames(part, clip, frames, objects, name, numbers)


def to_variants(text):
    found = []
    for name in text.split(','):
        found += LIGHT if name == 'light' else [(name, 0)]
    unknown = {name for name, _ in found} - {'mirror', 'turn', *DISTURBANCES}
    if unknown:
        raise argparse.ArgumentTypeError('no such variant: ' + ', '.join(sorted(unknown)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('video', metavar='VIDEO')
    parser.add_argument('truth', metavar='TRUTH')
    parser.add_argument('settings', metavar='SETTINGS', nargs='*', default=SETTINGS)
    parser.add_argument('--model', required=True)
    parser.add_argument('--classes', default='person')
    parser.add_argument('--track', default='', help='properties of ccltrack')
    parser.add_argument('--first', type=int, default=30, help='first frame that counts; default: 30')
    parser.add_argument('--start', metavar='N,...', type=lambda text: [int(n) for n in text.split(',')], default=[0],
                        help='frames to begin at; default: 0')
    parser.add_argument('--variants', metavar='NAME,...', type=to_variants, default=[('none', 0)],
                        help='default: none')
    parser.add_argument('--jobs', type=int, default=1, help='settings at a time')
    arguments = parser.parse_intermixed_args()

    truth = read_truth(arguments.truth)
    rows = {setting: [] for setting in arguments.settings}

    def run(setting, path, objects):
        tracks, inferences = track(path, arguments, setting)
        rows[setting].append([inferences, *score(objects, tracks, arguments.first)])

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        for path, objects in make_variants(arguments, folder, truth):
            for _ in pool.map(lambda setting: run(setting, path, objects), arguments.settings):
                pass
    print('| `ccldetect` | inferences | MOTA | IDF1 | switches | recall | precision |')
    print('|---|---|---|---|---|---|---|')
    for setting, values in rows.items():
        means, spreads = np.mean(values, axis=0), np.ptp(values, axis=0) / 2
        digits = [0, 3, 3, 0 if len(values) == 1 else 1, 3, 3]
        print(f'| `{setting}` | ' + ' | '.join(
            f'{mean:.{n}f}' + (f' ± {spread:.{n}f}' if len(values) > 1 and i in (1, 2, 3) else '')
            for i, (mean, spread, n) in enumerate(zip(means, spreads, digits))) + ' |')


if __name__ == '__main__':
    main()
