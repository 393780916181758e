#!/usr/bin/env python3
# cudaccl - fuzzing: malformed networks in the real ONNX Runtime
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives ccldetect damaged copies of a network: cut off, with flipped bits, with sizes, types and names that are huge,
negative, of another kind or missing. Each runs in a process of its own, and must end in time, well or with an error
message, without a crash and without much more memory than the network takes.

  tests/fuzz/onnx.py --library FILE --model FILE [OPTION...]

--library FILE  libonnxruntime.so, such as that of the Python package onnxruntime
--model FILE    a detector in the ONNX format; only copies of it change
--build FOLDER  default: ./build
--count N       copies; default: 300
--seed N        default: a new one each time
--keep FOLDER   where copies that fail are kept; default: a new folder

Exit status 77: the library or the model is not there."""

import argparse
import collections
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
MOST_MEMORY = 1 << 30  # beyond what the network itself takes
MOST_ADDRESSES = 16 << 30
SIZES = [0, 1, 2, 3, 5, 64, 2048, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -1, -2, -2**31, -2**63]

# Numbers of fields, from onnx.proto.
GRAPH, METADATA = 7, 14  # of a model
NODE, INITIALIZER, INPUT, OUTPUT = 1, 5, 11, 12  # of a graph
TENSOR_DIMS, TENSOR_TYPE, TENSOR_RAW = 1, 2, 9


def read_number(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def write_number(number):
    number %= 1 << 64
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def read(data):
    """A message as a list of [field, kind, value]."""
    fields, at = [], 0
    while at < len(data):
        tag, at = read_number(data, at)
        if tag % 8 == 0:
            value, at = read_number(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(tag % 8) or read_number(data, at)
            value, at = data[at:at + size], at + size
        fields.append([tag // 8, tag % 8, value])
    return fields


def write(fields):
    out = bytearray()
    for field, kind, value in fields:
        out += write_number(field * 8 + kind)
        if kind == 0:
            out += write_number(value)
        else:
            out += (write_number(len(value)) if kind == 2 else b"") + bytes(value)
    return bytes(out)


def change(data, path, function):
    """Applies the function to the fields of the message at the path: numbers of fields, each with an index."""
    fields = read(data)
    if not path:
        function(fields)
        return write(fields)
    number, index = path[0]
    found = [field for field in fields if field[0] == number]
    if found:
        field = found[index % len(found)]
        field[2] = change(field[2], path[1:], function)
    return write(fields)


def draw_number(rng):
    return rng.choice(SIZES) if rng.random() < 0.8 else rng.randrange(-2**63, 2**63)


def cut(data, rng):
    return data[:rng.choice([0, 1, 2, len(data) - 1, rng.randrange(len(data)), rng.randrange(1000)])]


def flip_bits(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice([1, 4, 64])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def flip_structure(data, rng):
    """Bits of a node, or of a name: most bytes of a network are weights, where they do not matter."""
    def flip(fields):
        field = rng.choice(fields)
        if field[1] == 0:
            field[2] ^= 1 << rng.randrange(64)
        elif field[2]:
            at = rng.randrange(min(len(field[2]), 200))
            value = bytearray(field[2])
            value[at] ^= 1 << rng.randrange(8)
            field[2] = bytes(value)
    kind = rng.choice([NODE, NODE, NODE, INITIALIZER, INPUT, OUTPUT])
    for _ in range(rng.choice([1, 3])):
        data = change(data, [(GRAPH, 0), (kind, rng.randrange(1000))], flip)
    return data


def end_of(rng):
    """The path of the tensor type of an input or output."""
    return [(GRAPH, 0), (rng.choice([INPUT, OUTPUT]), rng.randrange(4)), (2, 0), (1, 0)]


def change_size(data, rng):
    def set_size(fields):
        fields[:] = [[1, 0, draw_number(rng)]] if rng.random() < 0.8 else [[2, 2, b"any"]]
    for _ in range(rng.choice([1, 1, 4])):
        data = change(data, end_of(rng) + [(2, 0), (1, rng.randrange(8))], set_size)
    return data


def change_rank(data, rng):
    def set_rank(fields):
        fields[:] = (fields * 9)[:rng.choice([0, 1, 2, 3, 5, 9])]
    return change(data, end_of(rng) + [(2, 0)], set_rank)


def change_type(data, rng):
    def set_type(fields):
        fields[:] = [[1, 0, rng.randrange(0, 30)]] + [field for field in fields if field[0] != 1]
    return change(data, end_of(rng), set_type)


def change_ends(data, rng):
    """Removes, doubles or renames inputs or outputs."""
    kind, action = rng.choice([INPUT, OUTPUT]), rng.randrange(4)

    def edit(fields):
        ends = [field for field in fields if field[0] == kind]
        if action == 0:
            fields[:] = [field for field in fields if field[0] != kind]
        elif action == 1:
            fields.extend(ends * rng.choice([1, 2, 40]))
        elif ends:
            name = rng.choice([b"", b"nothing", b"\xff\x00\n", b"x" * 100000])
            ends[0][2] = change(ends[0][2], [], lambda inner: inner.__setitem__(0, [1, 2, name]))
    return change(data, [(GRAPH, 0)], edit)


def change_weights(data, rng):
    def edit(fields):
        action = rng.randrange(4)
        if action == 0:
            fields[:] = [field for field in fields if field[0] != TENSOR_DIMS] + [
                [TENSOR_DIMS, 0, draw_number(rng)] for _ in range(rng.choice([0, 1, 2, 4]))]
        elif action == 1:
            fields[:] = [[TENSOR_TYPE, 0, rng.randrange(0, 30)]] + [field for field in fields if field[0] != TENSOR_TYPE]
        else:
            for field in fields:
                if field[0] == TENSOR_RAW:
                    field[2] = field[2][:rng.randrange(len(field[2]) + 1)] if action == 2 else b""
    return change(data, [(GRAPH, 0), (INITIALIZER, rng.randrange(1000))], edit)


def change_names(data, rng):
    """The names of classes, which some networks have as a Python dictionary."""
    names = rng.choice([b"", b"{", b"{0: 'a'", b"{-1: 'a', 0: 'b'}", b"{99999999999999999999: 'a'}", b"{0: '" + b"x" * 10**6,
                        b"{" + b", ".join(b"%d: 'a'" % i for i in range(100000)) + b"}", b"\xff\xfe", b"{0: '\\"])
    return data + write([[METADATA, 2, write([[1, 2, b"names"], [2, 2, names]])]])


KINDS = [cut, flip_bits, flip_structure, change_size, change_rank, change_type, change_ends, change_weights, change_names]


def run(options, model):
    """Returns how it ended, the message, and the most memory it took."""
    build = options.build.resolve()
    environment = dict(os.environ, GST_PLUGIN_PATH_1_0=f"{build}/gst/analysis:{build}/gst/tools",
                       GST_REGISTRY_1_0=str(options.folder / "registry"))
    with open(options.folder / "log", "w+b") as log:
        process = subprocess.Popen(
            ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=2", "!", "video/x-raw,format=I420,width=64,height=48",
             "!", "ccldetect", f"model={model}", f"library={options.library}", "wait=true", "!", "fakesink"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES)),
                                resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        log.seek(0)
        text = log.read().decode(errors="replace")
    errors = [line for line in text.splitlines() if line.startswith("ERROR")]
    message = errors[0].split(": ", 2)[-1] if errors else text.strip()[-300:]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "hang" if number in (24, 9) else f"crash by signal {number}", message, usage.ru_maxrss * 1024
    return "error" if errors else "ran" if os.WEXITSTATUS(status) == 0 else "silent error", message, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if not options.library.is_file() or not options.model.is_file():
        print("no library or no model")
        return 77
    options.folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="onnx."))
    options.folder.mkdir(exist_ok=True)
    print(f"seed {options.seed}", flush=True)
    rng = random.Random(options.seed)
    data = options.model.read_bytes()
    run(options, options.model.resolve())  # writes GStreamer's registry
    ended, message, memory = run(options, options.model.resolve())
    print(f"the network itself: {ended}, {memory / 2**20:.0f} MiB {message}")
    if ended != "ran":
        return 1
    results, failed, most = collections.Counter(), 0, 0
    for i in range(options.count):
        kind = KINDS[i % len(KINDS)]
        model = options.folder / f"{i}-{kind.__name__}.onnx"
        model.write_bytes(kind(data, rng))
        ended, message, took = run(options, model)
        most = max(most, took)
        if took > memory + MOST_MEMORY:
            ended = f"{took / 2**20:.0f} MiB, {ended}"
        results[kind.__name__, ended] += 1
        if ended in ("error", "ran"):
            model.unlink()
        else:
            failed += 1
            print(f"{model}: {ended}: {message}", flush=True)
    for (kind, ended), n in sorted(results.items()):
        print(f"{kind}: {n} times {ended}")
    print(f"{options.count} copies, at most {most / 2**20:.0f} MiB, {failed} failed; those are in {options.folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
