// cudaccl-watch - draws zones and lines over a picture
// SPDX-License-Identifier: LGPL-2.1-or-later

import {svg} from './dom.js';
import {t} from './text.js';

const STEP = 0.01; // of the arrow keys
const NEAR = 0.04; // a click this close to the first corner closes a zone

// Shapes over an <img>, changed with mouse, touch and keyboard. onchange is called after each
// change, of the selection, too.
export class Drawing {
  constructor(image, shapes, onchange) {
    this.image = image;
    this.shapes = shapes;
    this.onchange = onchange;
    this.selected = -1;
    this.mode = ''; // zone or line while one is drawn
    this.corners = [];
    this.svg = svg('svg', {class: 'drawing', role: 'group', 'aria-label': t('drawing'),
      onpointerdown: event => this.press(event), onpointermove: event => this.move(event),
      onpointerup: event => this.release(event), onpointercancel: () => { this.dragged = null; },
      ondblclick: () => this.finish()});
    image.addEventListener('load', () => this.resize());
    this.resize();
  }

  // Keep the picture's proportions, so that arrows are at right angles.
  resize() {
    const width = this.image.naturalWidth || 16, height = this.image.naturalHeight || 9;
    const box = `0 0 ${1000} ${Math.round(1000 * height / width)}`;
    if (this.svg.getAttribute('viewBox') === box)
      return;
    this.svg.setAttribute('viewBox', box);
    this.height = 1000 * height / width;
    this.draw();
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    const clamp = x => Math.min(Math.max(x, 0), 1);
    return [clamp((event.clientX - box.left) / box.width), clamp((event.clientY - box.top) / box.height)];
  }

  pixels([x, y]) {
    return [1000 * x, this.height * y];
  }

  begin(mode) {
    this.mode = mode;
    this.corners = [];
    this.selected = -1;
    this.changed();
  }

  // Ends a shape; one without corners goes to the middle, for the keyboard.
  finish() {
    const line = this.mode === 'line';
    if (!this.mode)
      return;
    let corners = this.corners.filter((point, i, all) => !i || point.some((x, k) => Math.abs(x - all[i - 1][k]) > 0.002));
    if (corners.length < (line ? 2 : 3))
      corners = line ? [[0.3, 0.5], [0.7, 0.5]] : [[0.35, 0.35], [0.65, 0.35], [0.65, 0.65], [0.35, 0.65]];
    this.mode = '';
    this.shapes.push({name: this.newName(line), tripwire: line, points: corners, extra: null});
    this.corners = [];
    this.selected = this.shapes.length - 1;
    this.changed();
  }

  newName(line) {
    for (let i = 1; ; i++) {
      const name = `${line ? t('line-name') : t('zone-name')} ${i}`;
      if (!this.shapes.some(shape => shape.name === name))
        return name;
    }
  }

  press(event) {
    const [x, y] = this.place(event);
    this.svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    if (this.mode) {
      const first = this.corners[0];
      if (this.mode === 'zone' && this.corners.length > 2 && Math.hypot(x - first[0], y - first[1]) < NEAR) {
        this.finish();
        return;
      }
      this.corners.push([x, y]);
      this.pressed = [x, y];
      if (this.mode === 'line' && this.corners.length === 2)
        this.finish();
      else
        this.draw();
      return;
    }
    const {shape, corner} = event.target.dataset;
    this.selected = shape === undefined ? -1 : Number(shape);
    this.dragged = shape === undefined ? null : {corner: corner === undefined ? -1 : Number(corner), x, y};
    this.changed();
  }

  move(event) {
    const [x, y] = this.place(event);
    if (this.mode && this.corners.length) {
      this.hover = [x, y];
      this.draw();
      return;
    }
    if (!this.dragged)
      return;
    const {points} = this.shapes[this.selected];
    if (this.dragged.corner >= 0) {
      points[this.dragged.corner] = [x, y];
    } else {
      const dx = x - this.dragged.x, dy = y - this.dragged.y;
      if (points.every(p => p[0] + dx >= 0 && p[0] + dx <= 1 && p[1] + dy >= 0 && p[1] + dy <= 1))
        for (const point of points) {
          point[0] += dx;
          point[1] += dy;
        }
      Object.assign(this.dragged, {x, y});
    }
    this.changed();
  }

  // A line may also be drawn in one stroke.
  release(event) {
    const [x, y] = this.place(event);
    this.dragged = null;
    if (this.mode === 'line' && this.corners.length === 1 && Math.hypot(x - this.pressed[0], y - this.pressed[1]) > NEAR) {
      this.corners.push([x, y]);
      this.finish();
    }
    this.hover = null;
  }

  key(event, shape, corner) {
    const steps = {ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP]};
    const {points} = this.shapes[shape];
    if (steps[event.key]) {
      points[corner] = points[corner].map((x, k) => Math.min(Math.max(x + steps[event.key][k], 0), 1));
    } else if (event.key === 'Delete' && points.length > 3) {
      points.splice(corner, 1);
    } else if (event.key === '+' && !this.shapes[shape].tripwire) {
      const next = points[(corner + 1) % points.length];
      points.splice(corner + 1, 0, points[corner].map((x, k) => (x + next[k]) / 2));
    } else {
      return;
    }
    event.preventDefault();
    this.selected = shape;
    this.changed();
    this.svg.querySelector(`circle[data-shape="${shape}"][data-corner="${Math.min(corner, points.length - 1)}"]`)?.focus();
  }

  turn() {
    this.shapes[this.selected]?.points.reverse();
    this.changed();
  }

  remove() {
    if (this.selected >= 0)
      this.shapes.splice(this.selected, 1);
    this.selected = -1;
    this.changed();
  }

  changed() {
    this.draw();
    this.onchange?.(this);
  }

  // The arrow points to where a crossing counts as `in`: right of the line's direction.
  drawArrow(points) {
    const [[x1, y1], [x2, y2]] = points.map(point => this.pixels(point));
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, size = 60;
    const nx = -(y2 - y1) / length, ny = (x2 - x1) / length, mx = (x1 + x2) / 2, my = (y1 + y2) / 2;
    const tip = [mx + nx * size, my + ny * size], wing = 17;
    const side = sign => [tip[0] - nx * wing * 1.4 + sign * ny * wing, tip[1] - ny * wing * 1.4 - sign * nx * wing];
    return [svg('path', {class: 'arrow', d: `M${mx},${my}L${tip}M${side(1)}L${tip}L${side(-1)}`}),
      svg('text', {class: 'direction', x: tip[0] + nx * 26, y: tip[1] + ny * 26}, t('in'))];
  }

  drawShape(shape, i) {
    const chosen = i === this.selected;
    const text = shape.points.map(point => this.pixels(point).join(',')).join(' ');
    const left = shape.points.reduce((a, b) => b[1] < a[1] ? b : a);
    const [x, y] = this.pixels(left);
    const group = svg('g', {class: chosen ? 'shape chosen' : 'shape'},
      svg(shape.tripwire ? 'polyline' : 'polygon', {class: 'halo', points: text}),
      svg(shape.tripwire ? 'polyline' : 'polygon', {class: shape.tripwire ? 'line' : 'zone', points: text, 'data-shape': i}),
      shape.tripwire && shape.points.length === 2 ? this.drawArrow(shape.points) : null,
      svg('text', {class: 'name', x: Math.min(Math.max(x, 60), 940), y: Math.max(y - 26, 40)}, shape.name));
    shape.points.forEach((point, corner) => {
      const [cx, cy] = this.pixels(point);
      group.append(svg('circle', {class: 'handle', cx, cy, r: chosen ? 14 : 9, tabindex: 0, role: 'button',
        'aria-label': `${shape.name}: ${t('corner')} ${corner + 1}`, 'data-shape': i, 'data-corner': corner,
        onkeydown: event => this.key(event, i, corner), onfocus: () => { if (this.selected !== i) { this.selected = i; this.onchange?.(this); } }}));
    });
    return group;
  }

  draw() {
    const open = [...this.corners, ...(this.hover && this.corners.length ? [this.hover] : [])];
    this.svg.replaceChildren(...this.shapes.map((shape, i) => this.drawShape(shape, i)),
      svg('polyline', {class: 'open', points: open.map(point => this.pixels(point).join(',')).join(' ')}),
      ...this.corners.map(point => svg('circle', {class: 'handle', cx: this.pixels(point)[0], cy: this.pixels(point)[1], r: 10})),
      ...(this.paths || []));
    this.svg.classList.toggle('draws', Boolean(this.mode));
  }
}
