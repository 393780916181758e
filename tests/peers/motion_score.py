# Boxes of recordings and their truth, for motion_peers.py, motion_disturbances.py and detect_score.py.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads truth, runs pipelines and scores boxes. Boxes are [x, y, width, height] in pixels."""

import json
import subprocess

import numpy as np
from scipy.optimize import linear_sum_assignment


def launch(*words, **options):
    """Runs a pipeline."""
    return subprocess.run(['gst-launch-1.0', '-q', *words], check=True, **options)


def read_truth(path):
    """The objects of each frame: id, x, y, width, height."""
    frames = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            values = [float(value) for value in line.split(',')]
            frames.setdefault(int(values[0]), []).append(values[1:6])
    return frames


def parse_lines(text):
    """The same of the lines of ccljson, a list with an entry for each frame."""
    return [[[c.get('track', 0), *(c[key] for key in ('x', 'y', 'width', 'height'))]
             for c in json.loads(line)['components']] for line in text.splitlines()]


def raw_source(path, form, width, height, rate):
    """The begin of a pipeline that plays raw frames."""
    return ['filesrc', f'location={path}', '!', 'rawvideoparse', f'format={form}', f'width={width}',
            f'height={height}', f'framerate={rate}', '!']


def boxes_of(masks, width, height, rate, cleaning):
    """The objects that cudaccl finds in raw masks, of each frame."""
    output = launch(*raw_source(masks, 'gray8', width, height, rate), 'cudaccl', 'backend=cpu',
                    'threshold=127', *cleaning.split(), '!', 'ccljson', '!', 'fdsink',
                    stdout=subprocess.PIPE, text=True).stdout
    return parse_lines(output)


def overlaps(a, b):
    """The IoU of each box of @a with each of @b."""
    a, b = np.array(a, float).reshape(-1, 4), np.array(b, float).reshape(-1, 4)
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, :2] + a[:, None, 2:], b[None, :, :2] + b[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    return common / (a[:, None, 2:].prod(axis=2) + b[None, :, 2:].prod(axis=2) - common + 1e-9)


def score(truth, found, first, end):
    """F of boxes in the frames @first to @end - 1, and the false boxes of a frame."""
    hits = total = false = 0
    for frame in range(first, end):
        wanted, got = ([o[1:] for o in objects] for objects in (truth.get(frame, []), found[frame]))
        total += len(wanted) + len(got)
        false += len(got)
        if wanted and got:
            good = overlaps(wanted, got) >= 0.5
            matched = int(good[linear_sum_assignment(~good)].sum())
            hits += matched
            false -= matched
    return 2 * hits / max(total, 1), false / max(end - first, 1)
