#!/usr/bin/env python3
# cudaccl - the operator for PyTorch beside label() and cc_torch
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks get_connected_components() with PyTorch, also compiled and exported, and measures it beside label() of the same
masks and what is installed of cc_torch.

  PYTHONPATH=build/python tests/peers/torch_peers.py [--device cuda] [--runs N]

In turns; each time is the median over the runs, of a call and the wait for the device. The labels and areas of all must be
those of label() of NumPy's arrays. Needs PyTorch 2.4."""

import argparse
import importlib
import statistics
import time

import numpy as np
import torch

import cudaccl
from cudaccl.cc_torch import get_connected_components

SHAPES = [(64, 1, 256, 256), (64, 1, 64, 64), (1, 1, 1024, 1024), (1, 1, 2160, 3840)]


class Model(torch.nn.Module):
    def forward(self, x):
        labels, areas = get_connected_components(x > 0.5)
        return torch.where(areas >= 9, labels, 0)


def draw(kind, shape):
    rng = np.random.default_rng(1)
    if kind == "noise":
        return rng.random(shape) < .4
    y, x = np.ogrid[:shape[-2], :shape[-1]]
    centres = rng.integers(0, min(shape[-2:]), (shape[0], 3, 2))
    masks = np.zeros(shape, bool)
    for i, places in enumerate(centres):
        for cy, cx in places:
            masks[i, 0] |= (y - cy) ** 2 + (x - cx) ** 2 < (min(shape[-2:]) // 8) ** 2
    return masks


def check(masks, pixels):
    expected = np.empty(masks.shape, np.int32)
    labels = cudaccl.label(masks, areas=expected)
    got = [tensor.cpu().numpy() for tensor in get_connected_components(pixels)]
    assert np.array_equal(got[0], labels) and np.array_equal(got[1], expected), masks.shape
    floats = pixels.float()
    kept = np.where(expected >= 9, labels, 0)
    for model in (torch.compile(Model(), backend="aot_eager", fullgraph=True),
                  torch.export.export(Model(), (floats,)).module()):
        assert np.array_equal(model(floats).cpu().numpy(), kept), masks.shape


def measure(calls, runs, wait):
    times = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            wait()
            start = time.perf_counter()
            call()
            wait()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--runs", type=int, default=51)
    options = parser.parse_args()
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    try:
        peer = importlib.import_module("cc_torch")
    except ImportError:
        peer = None
    name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__}, {name}; us")
    print(f"{'masks':24}{'label()':>10}{'operator':>10}{'ratio':>8}{'cc_torch':>10}")
    for shape in SHAPES:
        for kind in ("noise", "discs"):
            masks = draw(kind, shape)
            pixels = torch.from_numpy(masks).to(options.device)
            bytes_, out = pixels.to(torch.uint8), torch.empty(shape, dtype=torch.int32, device=options.device)
            check(masks, pixels)
            calls = {"label": lambda m=bytes_, o=out: cudaccl.label(m, out=o),
                     "operator": lambda m=bytes_: get_connected_components(m)}
            if peer and shape[2] % 2 == 0 and shape[3] % 2 == 0:
                calls["cc_torch"] = lambda m=bytes_: peer.get_connected_components(m)
            times = measure(calls, options.runs, wait)
            ratio = times["operator"] / times["label"]
            print(f"{kind + ' ' + 'x'.join(map(str, shape)):24}{times['label']:10.0f}{times['operator']:10.0f}"
                  f"{ratio:8.2f}{times.get('cc_torch', float('nan')):10.0f}")


if __name__ == "__main__":
    main()
