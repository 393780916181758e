#!/usr/bin/env python3
# cudaccl - draw the picture of the README
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/boxes.png: one frame of the recording vtest.avi, with the boxes and centroids that
cudaccl finds in its mask. Run it in the build's environment:

  meson devenv -C build python3 docs/make-picture.py FILE [FRAME]"""

import pathlib
import struct
import sys
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PIPELINE = """
filesrc location="{file}" ! decodebin ! videoconvert ! tee name=frames
frames. ! queue ! videoconvert ! video/x-raw,format=RGB ! appsink name=picture sync=false max-buffers=4
frames. ! queue ! videoconvert ! segmentation test-mode=true method=mog2 ! videoconvert
  ! video/x-raw,format=GRAY8 ! cudaccl min-area=100 ! appsink name=mask sync=false max-buffers=4
"""
BOX, CENTRE = (255, 208, 0), (255, 48, 48)


class Picture:
    def __init__(self, sample):
        video = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        buffer = sample.get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        self.width, self.height = video.width, video.height
        stride = video.stride[0]
        # Five bits a channel: a third of the size, and hardly to be seen.
        self.rows = [bytearray(byte & 0xf8 for byte in data[y * stride:y * stride + 3 * video.width])
                     for y in range(video.height)]

    def fill(self, x, y, width, height, colour):
        left, right = max(x, 0), min(x + width, self.width)
        for row in self.rows[max(y, 0):y + height]:
            row[3 * left:3 * right] = bytes(colour) * (right - left)

    def outline(self, x, y, width, height, colour, thickness=2):
        x, y, width, height = x - 2, y - 2, width + 4, height + 4
        self.fill(x, y, width, thickness, colour)
        self.fill(x, y + height - thickness, width, thickness, colour)
        self.fill(x, y, thickness, height, colour)
        self.fill(x + width - thickness, y, thickness, height, colour)

    def write(self, path):
        def chunk(kind, data):
            return (struct.pack(">I", len(data)) + kind + data
                    + struct.pack(">I", zlib.crc32(kind + data)))

        # Each row as its difference from the one above.
        above = bytes(3 * self.width)
        lines = bytearray()
        for row in self.rows:
            lines += b"\2" + bytes((a - b) & 0xff for a, b in zip(row, above))
            above = row
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                         + chunk(b"IDAT", zlib.compress(bytes(lines), 9)) + chunk(b"IEND", b""))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    frame = int(sys.argv[2]) if len(sys.argv) == 3 else 260
    Gst.init(None)
    pipeline = Gst.parse_launch(PIPELINE.format(file=sys.argv[1]))
    pipeline.set_state(Gst.State.PLAYING)
    pictures, masks = pipeline.get_by_name("picture"), pipeline.get_by_name("mask")
    for _ in range(frame + 1):
        picture, mask = (sink.emit("try-pull-sample", 10 * Gst.SECOND) for sink in (pictures, masks))
        if not picture or not mask:
            sys.exit("make-picture.py: the recording has no such frame")

    canvas = Picture(picture)
    number = 0
    while region := GstVideo.buffer_get_video_region_of_interest_meta_id(mask.get_buffer(), number):
        number += 1
        param = region.get_param("cudaccl")
        canvas.outline(region.x, region.y, region.w, region.h, BOX)
        canvas.fill(round(param.get_double("centroid-x").value) - 2,
                    round(param.get_double("centroid-y").value) - 2, 5, 5, CENTRE)
    pipeline.set_state(Gst.State.NULL)

    path = pathlib.Path(__file__).parent / "boxes.png"
    canvas.write(path)
    print(f"{path}: frame {frame}, {number} boxes, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
