#!/usr/bin/env python3
"""Computes the tables of docs/scale.md from measurements: scale.py writes them, scale.py --check compares.

    docs/scale.py --machine H200 --price 32000 --years 4    what the machine costs a camera each month

Figures of cudaccl-watch come from docs/performance.md: run this after changing them."""

import argparse
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
PAGE = DOCS / "scale.md"
RATE = 30  # frames/s of a camera, 1920×1080

# Measured, see "Where the figures come from" on the page.
H200_DECODED = 4150  # frames/s
H200_ANALYSED = 42055  # frames/s
CPU_FRAME = 3.39 / 400  # s
EVENT_BYTES = 284  # of a line
STORED_BYTES = 690  # of an event in PostgreSQL, with indexes
STATUS_BYTES, STATUS_INTERVAL = 170, 5

# From data sheets, not measured here.
H200_DECODERS, L4_DECODERS = 7, 4
ORIN_STREAMS = 22
BANDWIDTH = {"H200": 4800, "L4": 300, "AGX Orin": 205}  # GB/s
CORE, NODE = "CPU core", "8 H200"
WATTS = {"H200": 700, "L4": 72, "AGX Orin": 60}

# Assumed.
BIT_RATE = 4e6  # of a camera
CLUSTER = 100  # nodes
HOURS = 730  # of a month


def read_watch():
    """Returns cores, bytes and events of a camera: calm and crowded."""
    text = (DOCS / "performance.md").read_text()
    rows = {name: (float(cores) / 64, float(memory) * 1e9 / 64) for name, cores, memory in
            re.findall(r"^\| (calm|crowded) \| [\d.]+ s \| \d+ \| 0, 0 \| ([\d.]+) \| ([\d.]+) GB \|$", text, re.M)}
    events = re.search(r"with about (\d+) events a second\nfrom all cameras; \*crowded\* a shopping street with about (\d+)", text)
    if len(rows) != 2 or not events:
        sys.exit("docs/performance.md has no such table of cudaccl-watch: adapt read_watch()")
    return {name: (*rows[name], float(n) / 64) for name, n in zip(("calm", "crowded"), events.groups())}


def short(number):
    """With two digits."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def decoded(name):
    return {"H200": H200_DECODED, "L4": H200_DECODED * L4_DECODERS / H200_DECODERS, "AGX Orin": ORIN_STREAMS * RATE}[name]


def analysed(name):
    """As if memory alone were the limit."""
    return H200_ANALYSED * BANDWIDTH[name] / BANDWIDTH["H200"]


def cameras(name):
    if name == CORE:
        return 1 / (RATE * CPU_FRAME)
    if name == NODE:
        return 8 * cameras("H200")
    return int(min(decoded(name), analysed(name)) / RATE)


def share(n):
    return f"{short(100 / n)} %"


def machines(watch):
    cores, memory, _ = watch["crowded"]
    yield "| machine | decoders, cameras | analysis, cameras | carries | CPU cores for it | memory for it | watts a camera | of the machine, a camera |"
    yield "|---|---|---|---|---|---|---|---|"
    n = cameras(CORE)
    yield f"| a CPU core | | | {n:.1f} | 1 | {n * memory / 1e9:.1f} GB | | {share(n)} |"
    for name in ("AGX Orin", "L4", "H200"):
        n = cameras(name)
        mark = "" if name == "H200" else "*"
        need = f"{n * cores:.1f}" if name != "AGX Orin" else "?"
        yield (f"| {name}{mark} | {decoded(name) / RATE:.0f} | {analysed(name) / RATE:.0f} | {n} | {need} | "
               f"{n * memory / 1e9:.1f} GB | {WATTS[name] / n:.1f} | {share(n)} |")
    n = cameras(NODE)
    yield f"| a node with 8 H200* | {n} | | {n} | {n * cores:.0f} | {n * memory / 1e9:.0f} GB | {8 * WATTS['H200'] / n:.1f} | {share(n)} |"
    n *= CLUSTER
    yield f"| {CLUSTER} such nodes* | {n} | | {n} | {n * cores:.0f} | {n * memory / 1e12:.1f} TB | {WATTS['H200'] / cameras('H200'):.1f} | {share(n)} |"


def load(watch):
    yield "| cameras | from cameras | events/s: calm, crowded | to Kafka, with 3 copies: calm, crowded | states | PostgreSQL a day: calm, crowded |"
    yield "|---|---|---|---|---|---|"
    for n in (64, 1000, 8 * cameras("H200"), CLUSTER * 8 * cameras("H200")):
        events = [n * watch[name][2] for name in ("calm", "crowded")]
        yield (f"| {n} | {short(n * BIT_RATE / 1e9)} Gbit/s | {events[0]:.0f}, {events[1]:.0f} | "
               f"{short(3 * events[0] * EVENT_BYTES / 1e6)}, {short(3 * events[1] * EVENT_BYTES / 1e6)} MB/s | "
               f"{short(n * STATUS_BYTES / STATUS_INTERVAL / 1e6)} MB/s | "
               f"{short(events[0] * STORED_BYTES * 86400 / 1e9)}, {short(events[1] * STORED_BYTES * 86400 / 1e9)} GB |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--machine", choices=[CORE, *sorted(WATTS), NODE])
    parser.add_argument("--price", type=float, help="of the machine, in any currency")
    parser.add_argument("--years", type=float, default=4, help="that it is used, default %(default)s")
    parser.add_argument("--power", type=float, default=0, help="price of a kWh")
    options = parser.parse_args()
    if (options.machine is None) != (options.price is None):
        parser.error("--machine and --price need each other")
    if options.machine:
        n = cameras(options.machine)
        watts = {CORE: 0, NODE: 8 * WATTS["H200"], **WATTS}[options.machine]
        month = options.price / n / options.years / 12
        power = watts / n * HOURS / 1000
        print(f"{options.machine}: {short(n)} cameras; a camera: {share(n)} of it, {options.price / n:.2f}; a month: {month:.2f}, "
              f"{power:.1f} kWh, together {month + power * options.power:.2f}")
        return 0
    watch = read_watch()
    text = PAGE.read_text()
    new = text
    for table in (machines, load):
        mark = f"<!-- {table.__name__} -->"
        parts = new.split(mark)
        if len(parts) != 3:
            sys.exit(f"{PAGE}: expected {mark} twice")
        new = mark.join([parts[0], "\n\n" + "\n".join(table(watch)) + "\n\n", parts[2]])
    if options.check:
        if new != text:
            print(f"{PAGE}: the tables are not those of the measurements; run docs/scale.py")
        return int(new != text)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
