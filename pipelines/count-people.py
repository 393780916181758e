#!/usr/bin/env python3
# Counts the people who cross a line in a recording, and draws them: count-people.py FILE [SINK]
# SINK is the end of a pipeline in gst-launch syntax.
import sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch('filesrc name=file ! decodebin ! cclmotion ! ccltrack ! cclzones name=zones '
                            'tripwires="line: 0.5,0.05 0.35,0.95" ! ccloverlay draw=boxes+tracks+trails+zones '
                            '! videoconvert ! ' + (sys.argv[2] if len(sys.argv) > 2 else "autovideosink"))
pipeline.get_by_name("file").set_property("location", sys.argv[1])
pipeline.set_state(Gst.State.PLAYING)
end = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
counts = pipeline.get_by_name("zones").get_property("counts")
line = counts.get_value("line") if end.type == Gst.MessageType.EOS else sys.exit(end.parse_error()[0].message)
print(f"in {line.get_value('in')}, out {line.get_value('out')}")
pipeline.set_state(Gst.State.NULL)
