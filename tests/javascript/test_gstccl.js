// cudaccl - components and zones read from JavaScript, as typed values, and compared with ccljson's
// lines
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
const EVENT_FIELDS = ['track', 'dwell', 'x', 'y', 'in', 'out', 'inside'];

function assertEqual(got, expected, what) {
    if (got !== expected)
        throw new Error(`${what} is ${got} (${typeof got}), not ${expected}`);
}

// Lines have thousandths.
function assertRounded(got, line, what) {
    if (typeof got !== 'number' || typeof line !== 'number' || !(Math.abs(got - line) < 0.000501))
        throw new Error(`${what} is ${got} (${typeof got}), not about ${line}`);
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
            assertRounded(component[field], line.components[i][field.replace('_', '-')],
                `${field} of component ${i}`);
            assertEqual(meta.get_component(i)[field], component[field], `${field}, got alone,`);
        }
    });

    return components.length;
}

// The same for zones and events.
function checkZones(buffer, line) {
    const meta = GstCcl.buffer_get_ccl_zones_meta(buffer);
    const zones = meta.get_zones(), events = meta.get_events() ?? [];

    assertEqual(zones.length, 2, 'the number of zones');
    assertEqual(zones[0].name, 'left', 'the name');
    assertEqual(zones[1].tripwire, true, 'whether it is a tripwire');
    assertEqual(zones[1].get_points().join(), '24,0,24,32', 'where it is');
    assertEqual(events.length, (line.events ?? []).length, 'the number of events');
    events.forEach((event, i) => {
        const expected = line.events[i];

        assertEqual(GstCcl.ccl_zone_event_type_get_name(event.type), expected.event, 'the event');
        assertEqual(zones[event.zone].name, expected.zone, 'the zone of the event');
        for (const field of EVENT_FIELDS) {
            assertRounded(event[field], expected[field], `${field} of event ${i}`);
            assertEqual(meta.get_event(i)[field], event[field], `${field}, got alone,`);
        }
    });
    assertEqual(meta.get_event(events.length), null, 'the event past the end');

    return events.length;
}

function checkClasses() {
    const buffer = Gst.Buffer.new();
    const component = new GstCcl.CclComponent({label: 1, width: 1, height: 1, area: 1, class_id: 2,
        confidence: 0.75});
    const meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 1, [component]);

    meta.set_class_names(GstCcl.CclClassNames.new(['person', 'car']));
    assertEqual(meta.get_component(0).class_id, 2, 'the class');
    assertEqual(meta.get_component(0).confidence, 0.75, 'the confidence');
    assertEqual(meta.get_class_name(2), 'car', 'the name of the class');
    assertEqual(meta.get_class_name(3), null, 'the name of no class');
}

function checkNewZone() {
    const buffer = Gst.Buffer.new();
    const zone = GstCcl.CclZone.new('gate', true, [1, 2, 3, 4.5]);
    const meta = GstCcl.buffer_add_ccl_zones_meta(buffer, 64, 48, [zone], []);

    assertEqual(meta.get_zone(0).name, 'gate', 'the name of the new zone');
    assertEqual(meta.get_zone(0).get_points().join(), '1,2,3,4.5', 'where the new zone is');
    assertEqual(meta.get_zone(1), null, 'the zone past the end');
}

const pipeline = Gst.parse_launch(
    `videotestsrc pattern=snow num-buffers=${FRAMES} ! video/x-raw,format=GRAY8,width=48,height=32 \
     ! cudaccl backend=cpu max-components=200 ! ccltrack min-persistence=1 min-relative-area=0 \
     ! cclzones zones="left: 0,0 0.5,0 0.5,1 0,1" tripwires="wire: 0.5,0 0.5,1" ! tee name=t t. ! queue ! appsink name=frames sync=false \
     t. ! queue ! ccljson ! appsink name=lines sync=false`);
const [frames, lines] = ['frames', 'lines'].map(name => pipeline.get_by_name(name));
let n = 0, nEvents = 0;

pipeline.set_state(Gst.State.PLAYING);
for (let i = 0; i < FRAMES; i++) {
    const [buffer, text] = [frames, lines].map(sink => sink.emit('pull-sample').get_buffer());
    const bytes = text.extract_dup(0, text.get_size());
    const line = JSON.parse(new TextDecoder().decode(bytes));

    n += checkFrame(buffer, line);
    nEvents += checkZones(buffer, line);
}
assertEqual(frames.emit('pull-sample'), null, 'what comes after the last frame');
pipeline.set_state(Gst.State.NULL);

checkClasses();
checkNewZone();

if (n < FRAMES || nEvents < FRAMES)
    throw new Error(`${n} components and ${nEvents} events are too few to tell`);
print(`${n} components, ${nEvents} events`);
