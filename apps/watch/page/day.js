// cudaccl-watch - the counts of a day
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, query} from './api.js';
import {act, field, h, number, select, svg} from './dom.js';
import {synopsisCard} from './synopsis.js';
import {t} from './text.js';

const HALF = 60, MINUTE = 60000;

function pad(n) {
  return String(n).padStart(2, '0');
}

// Sums in and out over the day, in local time, in bins of the given minutes.
function sum(minutes, begin, size) {
  const bins = Array.from({length: 1440 / size}, () => ({in: 0, out: 0}));
  for (const minute of minutes) {
    const bin = bins[Math.floor((new Date(minute.utc) - begin) / (size * MINUTE))];
    if (bin) {
      bin.in += minute.in;
      bin.out += minute.out;
    }
  }
  return bins;
}

// One unit is one pixel: text keeps its size on every screen.
function plot(title, bins, width) {
  const most = Math.max(1, ...bins.map(bin => Math.max(bin.in, bin.out)));
  const step = width / bins.length, size = 1440 / bins.length, hour = width / 24;
  const bar = (value, i, up) => value ? svg('rect', {class: up ? 'bar-in' : 'bar-out', x: i * step, width: step - 0.5,
    y: up ? HALF - value / most * (HALF - 4) : HALF, height: value / most * (HALF - 4)},
  svg('title', null, `${pad(Math.floor(i * size / 60))}:${pad(i * size % 60)} ${number(value)} ${t(up ? 'in' : 'out')}`)) : null;
  const hours = Array.from({length: width < 700 ? 7 : 13}, (_, i) => i * (width < 700 ? 4 : 2));
  return svg('svg', {class: 'plot', viewBox: `0 -20 ${width} ${2 * HALF + 42}`, role: 'img', 'aria-label': title},
    svg('defs', null, svg('pattern', {id: 'hatch', width: 4, height: 4, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'}, svg('rect', {class: 'hatch', width: 2, height: 4}))),
    hours.map(n => svg('line', {class: 'tick', x1: n * hour, x2: n * hour, y1: 0, y2: 2 * HALF})),
    bins.map((bin, i) => [bar(bin.in, i, true), bar(bin.out, i, false)]),
    svg('line', {class: 'axis', x1: 0, x2: width, y1: HALF, y2: HALF}),
    svg('text', {class: 'most', x: 2, y: -6}, number(most)),
    hours.map(n => svg('text', {class: 'hour', x: Math.min(Math.max(n * hour, 10), width - 10), y: 2 * HALF + 16}, pad(n))));
}

function table(bins) {
  const n = bins.length / 24;
  const hours = Array.from({length: 24}, (_, hour) => bins.slice(n * hour, n * hour + n))
    .map((some, hour) => [hour, some.reduce((m, bin) => m + bin.in, 0), some.reduce((m, bin) => m + bin.out, 0)])
    .filter(([, into, out]) => into || out);
  return h('details', null, h('summary', null, t('per-hour')), h('table', null,
    h('tr', null, [t('hour'), t('in'), t('out')].map(text => h('th', {scope: 'col'}, text))),
    hours.map(([hour, into, out]) => h('tr', null, h('th', {scope: 'row'}, `${pad(hour)}:00`), h('td', null, number(into)), h('td', null, number(out))))));
}

export async function showDay(main) {
  const {cameras} = await get('/api/cameras');
  const today = new Date();
  const camera = select(cameras.map(({name}) => [name, name]), cameras[0]?.name);
  const date = h('input', {type: 'date', required: true, value: `${today.getFullYear()}-${pad(today.getMonth() + 1)}-${pad(today.getDate())}`});
  const plots = h('div');
  const [synopsis, leave] = synopsisCard(() => ({camera: camera.value, day: date.value}));

  async function load() {
    const chosen = cameras.find(({name}) => name === camera.value);
    const begin = new Date(`${date.value}T00:00`), end = new Date(begin);
    if (!chosen || isNaN(begin))
      return;
    end.setDate(end.getDate() + 1);
    const places = [{name: ''}, ...chosen.zones];
    const answers = await Promise.all(places.map(({name}) => get(query('/api/minutes',
      {camera: chosen.name, zone: name, begin: begin.toISOString(), end: end.toISOString()}))));
    const width = Math.max(280, plots.clientWidth - 34), narrow = width < 700;
    plots.replaceChildren(...places.map(({name}, i) => {
      const bins = sum(answers[i].minutes, begin, narrow ? 15 : 5);
      const [into, out] = ['in', 'out'].map(way => bins.reduce((n, bin) => n + bin[way], 0));
      const words = name ? ['in', 'out'] : ['appeared', 'vanished'];
      const text = `${number(into)} ${t(words[0])} · ${number(out)} ${t(words[1])}`;
      return h('section', {class: 'card'}, h('h3', null, name || t('whole')), h('p', null, into || out ? text : t('nothing-day')),
        into || out ? [plot(`${name || t('whole')}: ${text}`, bins, width), table(bins)] : null);
    }));
  }

  camera.addEventListener('change', () => act(load));
  date.addEventListener('change', () => act(load));
  main.append(h('h2', null, t('day')), h('div', {class: 'card filters'}, field(t('camera'), camera), field(t('date'), date)),
    synopsis, h('p', {class: 'hint'}, t('day-text')), plots);
  await load();
  return leave;
}
