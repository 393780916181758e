#!/usr/bin/env python3
# Compares cclmotion with other background models, in quality and time.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cclmotion with the background models of OpenCV and bgslibrary.

VIDEO is a recording of a fixed camera, and TRUTH has a line "frame,id,x,y,width,height" for each object
in it, with frames from 0; the last frame in TRUTH is the last one that is used. All models get the same
frames in NV12, on one thread, with their default settings; the time of a frame includes the conversion
to BGR for those that need it. cudaccl cleans all masks alike: of several cleanings the best F counts.
F is that of boxes with an overlap (IoU) of at least 0.5, from frame 30 on.

Prints a table in Markdown; --plot draws F against time as a PNG file. Needs numpy, scipy, OpenCV
(cv2.bgsegm is in its contrib modules), matplotlib for --plot, cudaccl's elements and ccl-bench (meson
devenv). bgslibrary's models are measured if the module pybgs is installed. Models that are missing are
left out, with a message.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

from motion_score import boxes_of, launch, raw_source, read_truth, score

FIRST_FRAME = 30  # before it, models still learn

CLEANINGS = [
    'morphology=median5,close3x7 min-area=200',
    'morphology=open3x3,close1x15,drop250 min-area=250',
    'morphology=open5x9,open1x15,drop400 min-area=400',
]


def opencv(name):
    """A model of OpenCV, of a main or a contrib module; None if it is missing."""
    make = getattr(cv2, name, None) or getattr(getattr(cv2, 'bgsegm', None), name, None)
    return make and (lambda: make().apply)


def bgslibrary(*names):
    """A model of bgslibrary, whose names differ between versions; None if it is missing."""
    try:
        import pybgs
    except ImportError:
        return None
    make = next((getattr(pybgs, name) for name in names if hasattr(pybgs, name)), None)

    def apply():
        model = make()
        if hasattr(model, 'setShowOutput'):
            model.setShowOutput(False)
        return model.apply

    return make and apply


PEERS = {
    f'OpenCV {cv2.__version__} MOG2': opencv('createBackgroundSubtractorMOG2'),
    f'OpenCV {cv2.__version__} KNN': opencv('createBackgroundSubtractorKNN'),
    f'OpenCV {cv2.__version__} CNT': opencv('createBackgroundSubtractorCNT'),
    f'OpenCV {cv2.__version__} GSOC': opencv('createBackgroundSubtractorGSOC'),
    'bgslibrary SuBSENSE': bgslibrary('SuBSENSE'),
    'bgslibrary PBAS': bgslibrary('PixelBasedAdaptiveSegmenter', 'PBAS'),
}


def to_nv12(video, count, folder):
    """Decodes the first frames; returns the file and their size."""
    path = os.path.join(folder, 'frames')
    capture = cv2.VideoCapture(video)
    width, height = (int(capture.get(p)) for p in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
    if width % 4 or height % 2:
        sys.exit(f'frames of {width}x{height}: the width must be a multiple of 4, the height even')
    launch('filesrc', f'location={video}', '!', 'decodebin', '!', 'videoconvert', '!',
           'video/x-raw,format=NV12', '!', 'identity', f'eos-after={count + 1}', '!',
           'filesink', f'location={path}')
    return path, width, height


def best_score(truth, masks, width, height, rate):
    """The best F of all cleanings, and its cleaning."""
    return max((score(truth, boxes_of(masks, width, height, rate, cleaning), FIRST_FRAME, max(truth) + 1)[0],
                cleaning)
               for cleaning in CLEANINGS)


def run_peer(make, frames, width, height, masks):
    """Writes the masks, and returns the median time of a frame in microseconds."""
    apply, times = make(), []
    size = width * height * 3 // 2
    with open(frames, 'rb') as source, open(masks, 'wb') as file:
        while len(data := source.read(size)) == size:
            picture = np.frombuffer(data, np.uint8).reshape(height * 3 // 2, width)
            start = time.process_time()
            mask = apply(cv2.cvtColor(picture, cv2.COLOR_YUV2BGR_NV12))
            times.append(time.process_time() - start)
            file.write(np.where(mask > 127, 255, 0).astype(np.uint8).tobytes())
    return statistics.median(times[FIRST_FRAME:]) * 1e6


def run_ours(frames, width, height, rate, masks, bench):
    """The same for cclmotion."""
    launch(*raw_source(frames, 'nv12', width, height, rate), 'cclmask', 'backend=cpu', '!',
           'filesink', f'location={masks}')
    output = subprocess.run([bench, 'motion', f'--size={width}x{height}', f'--video={frames}',
                             '--frames=200', '--runs=400', '--backend=cpu', '--no-peers'], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return float(next(line for line in output.splitlines() if line.startswith('cpu,')).split(' us')[0].split()[-1])


def draw(results, path, title):
    """F against time."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout='constrained')
    for index, (name, quality, used, _) in enumerate(results):
        axes.plot(used / 1e3, quality, marker='osv^D<>P'[index % 8], markersize=8, linestyle='',
                  color=f'C{index % 10}', label=name)
        axes.annotate(name, (used / 1e3, quality), textcoords='offset points', xytext=(7, 5),
                      fontsize='small')
    axes.set_xscale('log')
    axes.set_xlim(right=max(r[2] for r in results) / 1e3 * 8)
    axes.set_ylim(0, 1)
    axes.set_xlabel('ms a frame, one thread')
    axes.set_ylabel('F of boxes')
    axes.grid(True, which='both', alpha=0.25)
    axes.set_title(title)
    figure.savefig(path, dpi=110)


def main():
    """Measures, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('video', metavar='VIDEO')
    parser.add_argument('truth', metavar='TRUTH')
    parser.add_argument('--bench', default='ccl-bench', help='the program ccl-bench')
    parser.add_argument('--rate', default='10/1', help='of the frames (10/1)')
    parser.add_argument('--only', metavar='TEXT', default='', help='models whose name has this text')
    parser.add_argument('--plot', metavar='FILE.png')
    options = parser.parse_args()
    truth = read_truth(options.truth)
    results = []

    if not shutil.which(options.bench):
        sys.exit(f'there is no {options.bench}; name ccl-bench with --bench')
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        if options.plot:
            options.plot = os.path.abspath(options.plot)
        options.video, options.bench = os.path.abspath(options.video), shutil.which(options.bench)
        os.makedirs(os.path.join(folder, 'config'))  # bgslibrary keeps its settings there
        os.chdir(folder)
        frames, width, height = to_nv12(options.video, max(truth) + 1, folder)
        masks = os.path.join(folder, 'masks')
        rate = options.rate
        print('| model | F of boxes | us a frame | cleaning |\n|---|---|---|---|')
        for name, make in {'cclmotion': None, **PEERS}.items():
            if options.only not in name:
                continue
            if name != 'cclmotion' and not make:
                print(f'{name} is not installed', file=sys.stderr)
                continue
            used = run_peer(make, frames, width, height, masks) if make else run_ours(
                frames, width, height, rate, masks, options.bench)
            quality, cleaning = best_score(truth, masks, width, height, rate)
            results.append((name, quality, used, cleaning))
            print(f'| {name} | {quality:.3f} | {used:.0f} | `{cleaning}` |', flush=True)
    if options.plot:
        draw(results, options.plot, f'{os.path.basename(options.video)}, {width}×{height}')


if __name__ == '__main__':
    main()
