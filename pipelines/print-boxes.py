#!/usr/bin/env python3
# cudaccl - print the boxes that cudaccl finds, in Python
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the boxes of the components that cudaccl finds in SOURCE, the first part of a pipeline in
gst-launch syntax:

  print-boxes.py videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8

Copy boxes() into your application. It does not need libgstccl: it reads GStreamer's own
region-of-interest metadata, one for each component."""

import argparse
import re
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402


def boxes(buffer):
    """The components of one buffer. The regions of cudaccl have the ids 0, 1, 2 ..., unless other
    regions already use these ids; only its own have a parameter structure "cudaccl"."""
    number = 0
    while region := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number):
        number += 1
        param = region.get_param("cudaccl")
        if not param:
            continue
        yield {
            "label": param.get_uint("label").value,
            "x": region.x,
            "y": region.y,
            "width": region.w,
            "height": region.h,
            "area": param.get_uint64("area").value,
            "centroid": (param.get_double("centroid-x").value,
                         param.get_double("centroid-y").value),
        }


def print_frame(number, buffer):
    time = "-" if buffer.pts == Gst.CLOCK_TIME_NONE else f"{buffer.pts / Gst.SECOND:.3f} s"
    found = list(boxes(buffer))
    print(f"frame {number}, {time}, components: {len(found)}")
    for box in found:
        print("  {label}: {width}x{height} at ({x}, {y}), area {area}, "
              "centroid ({centroid[0]:.2f}, {centroid[1]:.2f})".format(**box))


def buffers(pipeline):
    """The buffers that arrive at the sink, until the end of the stream or an error."""
    bus, sink = pipeline.get_bus(), pipeline.get_by_name("sink")
    ended = False
    while not ended:
        ended = sink.get_property("eos")
        if sample := sink.emit("try-pull-sample", Gst.SECOND // 10):
            yield sample.get_buffer()
        if message := bus.pop_filtered(Gst.MessageType.ERROR):
            error, details = message.parse_error()
            print(details, file=sys.stderr)
            raise RuntimeError(f"{message.src.name}: {error.message}")


def setting(text):
    """PROPERTY=VALUE as text of a pipeline. Values with other characters become strings of octal numbers,
    so that nothing in them ends the value."""
    match = re.fullmatch(r"([a-zA-Z][a-zA-Z0-9-]*)=(.*)", text, re.S)
    if not match:
        sys.exit(f"print-boxes.py: '{text}' is not PROPERTY=VALUE")
    name, value = match.groups()
    if not re.fullmatch(r"[a-zA-Z0-9._:,/+-]+", value):
        value = r'\"' + "".join(rf"\\{byte:03o}" for byte in value.encode()) + r'\"'
    return f"{name}={value}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-e", "--element", default="cudaccl",
                        help="the element that finds the components: cudaccl or cclmotion")
    parser.add_argument("-b", "--backend", default="auto", help="auto, cuda or cpu")
    parser.add_argument("--set", action="append", default=[], metavar="PROPERTY=VALUE",
                        help="set any other property of the element")
    parser.add_argument("-n", "--frames", type=int, metavar="N", help="stop after N frames")
    parser.add_argument("-l", "--live", action="store_true",
                        help="fail if the source ends, as a camera should not")
    parser.add_argument("source", nargs="+", metavar="SOURCE")
    options = parser.parse_args()

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Gst.init(None)
    if not Gst.ElementFactory.find(options.element):
        sys.exit(f"print-boxes.py: no element '{options.element}'")
    try:
        pipeline = Gst.parse_launchv(
            options.source + ["!", options.element, setting(f"backend={options.backend}"),
                              *map(setting, options.set),
                              "!", "appsink", "name=sink", "sync=false", "max-buffers=4"])
    except gi.repository.GLib.Error as error:
        sys.exit(f"print-boxes.py: {error.message}")

    pipeline.set_state(Gst.State.PLAYING)
    try:
        for number, buffer in enumerate(buffers(pipeline)):
            print_frame(number, buffer)
            if number + 1 == options.frames:
                break
        else:
            if options.live:
                raise RuntimeError("the live source has ended")
    except RuntimeError as error:
        sys.exit(f"print-boxes.py: {error}")
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
