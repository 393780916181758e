// cudaccl-watch - zones and tripwires as cclzones takes them
// SPDX-License-Identifier: LGPL-2.1-or-later

// A shape is {name, tripwire, points: [[x, y], …] in shares of the picture, extra}: extra holds what
// JSON said beside that, such as classes.

function fromText(text) {
  return text.split(';').filter(item => item.trim()).map((item, i) => {
    const colon = item.indexOf(':');
    const points = item.slice(colon + 1).trim().split(/\s+/).map(point => point.split(',').map(Number));
    return {name: colon < 0 ? '' : item.slice(0, colon).trim(), points, number: i + 1};
  });
}

function fromJson(text) {
  return JSON.parse(text).map((item, i) => {
    const {id, points, type, center, radius, ...extra} = item;
    const pair = point => Array.isArray(point) ? point : [point.x, point.y];
    const circle = type === 'circle' ? pair(center) : null;
    return {
      name: id ?? '', number: i + 1, extra,
      points: circle ? Array.from({length: 16}, (_, k) => [circle[0] + radius * Math.cos(k * Math.PI / 8),
        circle[1] + radius * Math.sin(k * Math.PI / 8)]) : points.map(pair),
    };
  });
}

export function parse(text, tripwire, width, height) {
  const trimmed = (text || '').trim();
  return (trimmed.startsWith('[') ? fromJson(trimmed) : fromText(trimmed)).map(shape => {
    const pixels = shape.points.some(point => point[0] > 1 || point[1] > 1);
    return {
      name: shape.name || `${tripwire ? 'tripwire' : 'zone'}${shape.number}`,
      tripwire,
      extra: shape.extra && Object.keys(shape.extra).length ? shape.extra : null,
      points: shape.points.map(([x, y]) => pixels ? [x / (width || 1), y / (height || 1)] : [x, y]),
    };
  });
}

const round = x => Math.round(Math.min(Math.max(x, 0), 1) * 10000) / 10000;

export function format(shapes) {
  const plain = shapes.every(shape => !shape.extra && !/[:;[\]]/.test(shape.name));
  if (plain)
    return shapes.map(shape => `${shape.name}: ${points(shape)}`).join('; ');
  return JSON.stringify(shapes.map(shape => ({
    ...shape.extra, id: shape.name, points: shape.points.map(([x, y]) => [round(x), round(y)]),
  })));
}

export function points(shape) {
  return shape.points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
}
