// cudaccl - components read from JavaScript, as typed values, and compared with ccljson's lines
// SPDX-License-Identifier: LGPL-2.1-or-later

// Run by gjs, GNOME's JavaScript; exit status 77 without GStreamer or ccljson.

const System = imports.system;

let Gst, GstCcl;
try {
    imports.gi.versions.Gst = '1.0';
    imports.gi.versions.GstCcl = '1.0';
    ({Gst, GstCcl} = imports.gi);
    Gst.init(null);
} catch (error) {
    printerr(`JavaScript cannot use GStreamer here: ${error.message}`);
    System.exit(77);
}
if (!Gst.ElementFactory.find('cudaccl'))
    throw new Error('the plugin cudaccl is not in GST_PLUGIN_PATH');
for (const name of ['ccljson', 'videotestsrc', 'appsink']) {
    if (!Gst.ElementFactory.find(name)) {
        printerr(`no element ${name}`);
        System.exit(77);
    }
}

const FRAMES = 3;
const FIELDS = ['label', 'x', 'y', 'width', 'height', 'area', 'centroid_x', 'centroid_y', 'track', 'age',
    'velocity_x', 'velocity_y'];

function assertEqual(got, expected, what) {
    if (got !== expected)
        throw new Error(`${what} is ${got} (${typeof got}), not ${expected}`);
}

// Every field is the number that the line of the same frame has.
function checkFrame(buffer, line) {
    const meta = GstCcl.buffer_get_ccl_meta(buffer);

    assertEqual(meta.width, line.width, 'the width');
    assertEqual(meta.height, line.height, 'the height');
    assertEqual(meta.found, line.found, 'found');
    assertEqual(meta.get_n_components(), line.count, 'the count');
    assertEqual(meta.get_component(line.count), null, 'the component past the end');

    const components = meta.get_components();
    assertEqual(components.length, line.count, 'the length of the array');
    components.forEach((component, i) => {
        for (const field of FIELDS) {
            assertEqual(component[field], line.components[i][field.replace('_', '-')],
                `${field} of component ${i}`);
            assertEqual(meta.get_component(i)[field], component[field], `${field}, got alone,`);
        }
    });

    return components.length;
}

const pipeline = Gst.parse_launch(
    `videotestsrc pattern=snow num-buffers=${FRAMES} ! video/x-raw,format=GRAY8,width=48,height=32 \
     ! cudaccl backend=cpu max-components=200 ! ccltrack min-persistence=1 min-relative-area=0 ! tee name=t t. ! queue ! appsink name=frames sync=false \
     t. ! queue ! ccljson ! appsink name=lines sync=false`);
const [frames, lines] = ['frames', 'lines'].map(name => pipeline.get_by_name(name));
let n = 0;

pipeline.set_state(Gst.State.PLAYING);
for (let i = 0; i < FRAMES; i++) {
    const [buffer, text] = [frames, lines].map(sink => sink.emit('pull-sample').get_buffer());
    const bytes = text.extract_dup(0, text.get_size());

    n += checkFrame(buffer, JSON.parse(new TextDecoder().decode(bytes)));
}
assertEqual(frames.emit('pull-sample'), null, 'what comes after the last frame');
pipeline.set_state(Gst.State.NULL);

if (n < FRAMES)
    throw new Error(`${n} components are too few to tell`);
print(`${n} components`);
