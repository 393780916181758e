#!/usr/bin/env python3
"""Plots the output of ccl-bench --json as in the papers.

  plot.py [--out FOLDER] [--best | --labelling] FILE.json...

For every size and connectivity in the files, if measured:
  time-SIZE-CONNECTIVITY.png         time against density, a panel per granularity (Lemaitre 2021, figure 7)
  updates-SIZE-CONNECTIVITY.png      feature updates and conflicts (Lemaitre 2021, figure 5)
  stages-SIZE-CONNECTIVITY.png       stacked times of stages (Hennequin 2018, figure 5; Allegretti
                                     2020, figure 13)
  throughput-CONNECTIVITY.png        throughput (all pixels over all time) against size (Lemaitre 2021,
                                     figure 7, right)
"""

import argparse
import collections
import json
import os
import statistics
import sys

try:
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
except ImportError:
    sys.exit('plot.py needs matplotlib: python3-matplotlib in Debian')

MARKERS = 'osv^D<>Pp*hXd'

# Stages after labelling.
AFTER_LABELS = ('first pixels', 'runs', 'features', 'selection')


def load(paths):
    """The results for random images in all files."""
    results = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            results += [r for r in json.load(file)['results'] if 'granularity' in r]
    return [r for r in results if r['mode'] == 'analysis']


def only_labelling(results):
    """The results with times of labelling, without the stages after it."""
    results = [r for r in results if r.get('labelling_ns')]
    for result in results:
        result['stages'] = [s for s in result['stages'] if s['name'] not in AFTER_LABELS]
    return results


def grouped(results, *keys):
    """The results by the values of these keys, in order of appearance."""
    groups = collections.OrderedDict()
    for result in results:
        groups.setdefault(tuple(result[key] for key in keys), []).append(result)
    return groups


def granularities(results):
    """The granularities, ascending, without 'full', which has a single density."""
    return sorted({r['granularity'] for r in results if r['granularity'] != 'full'}, key=int)


def panels(count):
    """A figure with @count panels side by side."""
    figure, axes = pyplot.subplots(1, count, figsize=(5.5 * count, 4.5), squeeze=False,
                                   layout='constrained')
    return figure, axes[0]


def style(index):
    """A colour and marker per algorithm, the same in all panels."""
    return {'marker': MARKERS[index % len(MARKERS)], 'markersize': 4, 'linewidth': 1.2,
            'color': f'C{index % 10}', 'linestyle': ('-', '--', ':')[index // 10 % 3]}


def names(results):
    """The algorithms in their order of appearance."""
    return list(collections.OrderedDict.fromkeys(r['algorithm'] for r in results))


def save(figure, folder, name):
    """Writes the figure and prints its path."""
    path = os.path.join(folder, name + '.png')
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    print(path)


def draw_against_density(results, axes, value, label):
    """A line per algorithm: value(result) against density."""
    for index, name in enumerate(names(results)):
        points = sorted((r['density_percent'], value(r)) for r in results
                        if r['algorithm'] == name and value(r))
        if points:
            axes.plot(*zip(*points), label=name, **style(index))
    axes.set_xlabel('density, %')
    axes.set_ylabel(label)
    axes.set_yscale('log')
    axes.grid(True, which='both', alpha=0.25)


def draw_times(results, title, folder, name, time):
    """Time against density."""
    shown = granularities(results)
    if not shown:
        return
    figure, axes = panels(len(shown))
    for granularity, panel in zip(shown, axes):
        own = [r for r in results if r['granularity'] == granularity]
        draw_against_density(own, panel, lambda r: r[time] / 1e6, 'ms')
        panel.set_title(f'granularity {granularity}')
    axes[-1].legend(fontsize='small')
    figure.suptitle(title)
    save(figure, folder, name)


def draw_updates(results, title, folder, name):
    """Updates, and below them conflicts, for the smallest granularity."""
    counted = [r for r in results if r.get('updates')]
    if not granularities(counted):
        return
    finest = granularities(counted)[0]
    counted = [r for r in counted if r['granularity'] == finest]
    figure, axes = panels(2)
    draw_against_density(counted, axes[0], lambda r: r['updates'], 'updates')
    draw_against_density(counted, axes[1], lambda r: r['conflicts'], 'conflicts (estimate)')
    axes[1].legend(fontsize='small')
    figure.suptitle(f'{title}, granularity {finest}')
    save(figure, folder, name)


def mean_stages(results):
    """The stages' mean times in microseconds, by name."""
    sums = collections.OrderedDict()
    for result in results:
        for stage in result['stages']:
            sums[stage['name']] = sums.get(stage['name'], 0) + stage['median_ns'] / 1e3
    return {stage: total / len(results) for stage, total in sums.items()}


def draw_stages(results, title, folder, name):
    """Stacked bars: a stage has the same colour for all algorithms."""
    staged = [r for r in results if r.get('stages')]
    shown = granularities(staged)
    if not shown:
        return
    figure, axes = panels(len(shown))
    colours = {}
    for granularity, panel in zip(shown, axes):
        own = [r for r in staged if r['granularity'] == granularity]
        for algorithm in names(own):
            bottom = 0
            for stage, mean in mean_stages([r for r in own if r['algorithm'] == algorithm]).items():
                fresh = stage not in colours
                colour = colours.setdefault(stage, pyplot.cm.tab20(len(colours) % 20))
                panel.bar(algorithm, mean, bottom=bottom, color=colour,
                          label=stage if fresh else None)
                bottom += mean
        panel.set_title(f'granularity {granularity}')
        panel.set_ylabel('µs, mean over the densities')
        panel.tick_params(axis='x', rotation=60)
    figure.legend(loc='outside right upper', fontsize='small')
    figure.suptitle(title)
    save(figure, folder, name)


def draw_throughput(results, title, folder, name, time):
    """Throughput, all pixels over all time, against size."""
    sizes = {r['width'] * r['height'] for r in results}
    shown = granularities(results)
    if len(sizes) < 2 or not shown:
        return
    figure, axes = panels(len(shown))
    for granularity, panel in zip(shown, axes):
        own = [r for r in results if r['granularity'] == granularity]
        for index, algorithm in enumerate(names(own)):
            by_size = grouped([r for r in own if r['algorithm'] == algorithm], 'width', 'height')
            points = sorted(((w * h) ** 0.5, w * h * len(group) / sum(r[time] for r in group))
                            for (w, h), group in by_size.items())
            panel.plot(*zip(*points), label=algorithm, **style(index))
        panel.set_xscale('log', base=2)
        panel.set_yscale('log')
        panel.set_xlabel('side of a square with as many pixels')
        panel.set_ylabel('Gpix/s, all pixels over all time')
        panel.set_title(f'granularity {granularity}')
        panel.grid(True, which='both', alpha=0.25)
    axes[-1].legend(fontsize='small')
    figure.suptitle(title)
    save(figure, folder, name)


def main():
    """Draws all figures that the files have results for."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+', metavar='FILE.json')
    parser.add_argument('--out', default='.', metavar='FOLDER')
    parser.add_argument('--best', action='store_true', help='the best of runs, not the median')
    parser.add_argument('--labelling', action='store_true',
                        help='what labels alone take (ccl-bench --stages)')
    options = parser.parse_args()
    time = 'minimum_ns' if options.best else 'median_ns'
    results = load(options.files)
    if options.labelling:
        time = 'labelling_ns'
        results = only_labelling(results)
    if not results:
        sys.exit('there are no results of random images in these files')
    os.makedirs(options.out, exist_ok=True)
    for (width, height, connectivity), group in grouped(results, 'width', 'height',
                                                        'connectivity').items():
        title = f'{width}×{height}, {connectivity}-connectivity'
        name = f'{width}x{height}-{connectivity}'
        draw_times(group, title, options.out, 'time-' + name, time)
        draw_updates(group, title, options.out, 'updates-' + name)
        draw_stages(group, title, options.out, 'stages-' + name)
    for (connectivity,), group in grouped(results, 'connectivity').items():
        draw_throughput(group, f'{connectivity}-connectivity', options.out,
                        f'throughput-{connectivity}', time)


if __name__ == '__main__':
    main()
