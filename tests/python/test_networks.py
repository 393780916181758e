# cudaccl - ccldetect with networks of each kind on the real ONNX Runtime
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a small network for each kind of outputs, which finds the same object in every picture, and
runs ccldetect with it. Exit status 77: CUDACCL_ONNXRUNTIME does not name a library."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

FLOAT, UINT8, INT64, HALF = 1, 2, 7, 10  # TensorProto.DataType
SIZE = 64
CELLS = 84  # of 8, 16 and 32 pixels
BOX = (16, 8, 32, 48)  # x, y, width and height of the object
NAMES = "{0: 'bird', 1: 'owl', 2: 'cat'}"


def number(value):
    out = bytearray()
    value %= 1 << 64
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(index, value):
    """A field of a message: an integer, or bytes."""
    if isinstance(value, int):
        return number(index * 8) + number(value)
    if isinstance(value, str):
        value = value.encode()
    return number(index * 8 + 2) + number(len(value)) + value


def message(*fields):
    return b''.join(field(index, value) for index, value in fields)


def tensor(name, kind, dims, values):
    form = {FLOAT: 'f', INT64: 'q'}[kind]
    return message(*((1, n) for n in dims), (2, kind), (8, name), (9, struct.pack(f'<{len(values)}{form}', *values)))


def end(name, kind, dims):
    """An input or output."""
    shape = message(*((1, message((1, n))) for n in dims))
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def node(kind, inputs, outputs, **attributes):
    fields = [(1, name) for name in inputs] + [(2, name) for name in outputs] + [(4, kind)]
    return message(*fields, *((5, message((1, key), (3, value), (20, 2))) for key, value in attributes.items()))


def model(outputs, kind=FLOAT, sizes=False, metadata=()):
    """A network that returns constants. Of outputs that need sizes, boxes are shares of the second input."""
    dims = (1, 3, SIZE, SIZE)
    graph = [(2, 'g'), (11, end('images', kind, dims)), (5, tensor('zero', FLOAT, (), [0.0])),
             (1, node('Cast', ['images'], ['floats'], to=FLOAT)),
             (1, node('ReduceMean', ['floats'], ['mean'], keepdims=0)),
             (1, node('Mul', ['mean', 'zero'], ['nothing']))]
    if sizes:
        graph += [(11, end('orig_target_sizes', INT64, (1, 2))), (5, tensor('axis', INT64, (1,), [1])),
                  (1, node('Cast', ['orig_target_sizes'], ['pair'], to=FLOAT)),
                  (1, node('Concat', ['pair', 'pair'], ['four'], axis=1)),
                  (1, node('Unsqueeze', ['four', 'axis'], ['scale']))]
    for name, form, shape, values in outputs:
        scaled = sizes and name == 'boxes'
        graph += [(5, tensor(name + '_values', FLOAT, shape, values)), (12, end(name, form, shape)),
                  (1, node('Add', [name + '_values', 'nothing'], [name + '_sum']))]
        if scaled:
            graph.append((1, node('Mul', [name + '_sum', 'scale'], [name])))
        else:
            graph.append((1, node('Cast', [name + '_sum'], [name], to=form)))
    return message((1, 8), (8, message((1, ''), (2, 17))), (7, message(*graph)),
                   *((14, message((1, key), (2, value))) for key, value in metadata))


def table(rows, columns, row, values, filler=0.0):
    """A table with one row that is not empty."""
    flat = [filler] * (rows * columns)
    flat[row * columns:row * columns + len(values)] = values
    return flat


def turned(rows, columns, flat):
    return [flat[row * columns + column] for column in range(columns) for row in range(rows)]


X, Y, WIDTH, HEIGHT = BOX
CENTER = [X + WIDTH / 2, Y + HEIGHT / 2, WIDTH, HEIGHT]
CORNERS = [X, Y, X + WIDTH, Y + HEIGHT]
SHARES = [value / SIZE for value in CENTER]
OWL = [0.0, 0.9, 0.0]
LOGITS = [-9.0, 3.0, -9.0]
# The cell of 32 pixels at the top left: the center is that of the object, and sizes are logarithms.
CELL = [1.0, 1.0, 0.0, 0.4054651]
MASK = [1.0 if x % 16 < 8 else -1.0 for x in range(256)]  # left half of the picture


def networks():
    """Name, kind as stats say it, and the network."""
    yolov8 = turned(CELLS, 7, table(CELLS, 7, 70, CENTER + OWL))
    masked = turned(CELLS, 9, table(CELLS, 9, 70, CENTER + OWL + [1.0, 0.0]))
    queries = table(100, 4, 5, SHARES, 0.4)
    yield 'YOLOX', 'yolox', model([('output', FLOAT, (1, CELLS, 8), table(CELLS, 8, 80, CELL + [0.9, 0.0, 1.0, 0.0]))])
    yield 'YOLOv5', 'yolov5', model([('output0', FLOAT, (1, 252, 8), table(252, 8, 7, CENTER + [0.9, 0.0, 1.0, 0.0]))])
    for form, text in (FLOAT, ''), (HALF, ', 16 bits'):
        yield 'YOLOv8' + text, 'yolov8', model([('output0', form, (1, 7, CELLS), yolov8)], form)
        yield 'RT-DETRv2 of Transformers' + text, 'detr', model(
            [('logits', form, (1, 100, 3), table(100, 3, 5, LOGITS, -9.0)), ('pred_boxes', form, (1, 100, 4), queries)], form)
    yield 'YOLOv8, bytes', 'yolov8', model([('output0', FLOAT, (1, 7, CELLS), yolov8)], UINT8)
    yield 'YOLOv8-seg', 'yolov8', model([('output0', FLOAT, (1, 9, CELLS), masked),
                                         ('output1', FLOAT, (1, 2, 16, 16), MASK + [0.0] * 256)])
    yield 'YOLO26', 'yolov10', model([('output0', FLOAT, (1, 300, 6), table(300, 6, 7, CORNERS + [0.9, 1.0]))])
    yield 'YOLO26-obb', 'yolov10', model([('output0', FLOAT, (1, 300, 7), table(300, 7, 7, CORNERS + [0.9, 1.0, 0.1]))],
                                         metadata=[('end2end', 'True')])
    yield 'RF-DETR', 'detr', model([('dets', FLOAT, (1, 100, 4), queries),
                                    ('labels', FLOAT, (1, 100, 3), table(100, 3, 5, LOGITS, -9.0))])
    yield 'RT-DETR of Ultralytics', 'detr', model(
        [('output0', FLOAT, (1, 100, 7), table(100, 7, 5, SHARES + OWL))], metadata=[('names', NAMES)])
    yield 'D-FINE', 'detr', model([('labels', INT64, (1, 2), [1.0, 2.0]),
                                   ('boxes', FLOAT, (1, 2, 4), [value / SIZE for value in CORNERS] + [0.0] * 4),
                                   ('scores', FLOAT, (1, 2), [0.9, 0.1])], sizes=True)
    yield 'SSD', 'ssd', model([('boxes', FLOAT, (1, 2, 4), CORNERS + [0.0] * 4), ('scores', FLOAT, (1, 2), [0.9, 0.1]),
                               ('classes', FLOAT, (1, 2), [1.0, 2.0])])
    yield 'SSD, anchors', 'ssd', model([('boxes', FLOAT, (1, 2, 4), CORNERS + [0.0] * 4),
                                        ('scores', FLOAT, (1, 2, 4), [0.1, 0.0, 0.9, 0.0] + [1.0, 0.0, 0.0, 0.0])])


def detect(path, labels):
    """The objects of the last frame, and what ccldetect says about the network."""
    command = ['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=3', '!', f'video/x-raw,format=I420,width={SIZE},height={SIZE}',
               '!', 'ccldetect', f'model={path}', f'labels={labels}', 'wait=true', '!', 'ccltrack', 'min-persistence=0',
               '!', 'ccljson', '!', 'fdsink']
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, 'GST_DEBUG': 'ccldetect:INFO', 'GST_DEBUG_NO_COLOR': '1'})
    if run.returncode != 0:
        sys.exit(run.stderr[-2000:])
    return json.loads(run.stdout.splitlines()[-1])['components'], run.stderr


def main():
    if not os.path.isfile(os.environ.get('CUDACCL_ONNXRUNTIME', '')):
        print('CUDACCL_ONNXRUNTIME names no library')
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        labels = pathlib.Path(folder) / 'labels'
        labels.write_text('bird\nowl\ncat\n', encoding='utf-8')
        for name, kind, network in networks():
            path = pathlib.Path(folder) / 'network.onnx'
            path.write_bytes(network)
            objects, says = detect(path, labels)
            found = [(*(o[key] for key in ('x', 'y', 'width', 'height')), o['class']) for o in objects]
            area = WIDTH * HEIGHT // (2 if 'seg' in name else 1)
            good = (found == [(*BOX, 'owl')] and abs(objects[0]['area'] - area) <= 0.05 * area
                    and f'{kind} network of {SIZE}x{SIZE}' in says)
            print(f'{name}: {found}{"" if good else " WRONG"}', flush=True)
            wrong += [] if good else [name, says[-500:]]
    return '\n'.join(wrong) or 0


if __name__ == '__main__':
    sys.exit(main())
