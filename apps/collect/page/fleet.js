// cudaccl-collect - the page for the cameras of many programs
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, query} from './api.js';
import {act, button, field, h, number, said, select, signs, time} from './dom.js';
import {eventItem, kinds, named, values} from './events.js';
import {start} from './shell.js';
import {language, t} from './text.js';

const INTERVAL = 5000; // ms, as programs tell
const MOST = 500; // rows that are shown
const states = ['gone', 'lost', 'frozen', 'connecting', 'running', 'off']; // what needs somebody first

const byName = new Intl.Collator(language, {numeric: true}).compare;

// Calls update now, and repeatedly while the page is visible. Returns a function that stops it.
async function repeat(update) {
  const timer = setInterval(() => !document.hidden && act(update), INTERVAL);
  await act(update);
  return () => clearInterval(timer);
}

// Shows rows, identified by keys. Unchanged rows stay in place, with focus and selection.
// On a phone, a row is a paragraph, and each value has its head before it.
function showTable(place, heads, rows) {
  const focused = document.activeElement;
  if (!place.querySelector('table'))
    place.replaceChildren(h('div', {class: 'list card'}, h('table', null,
      h('thead', null, h('tr', null, heads.map(text => h('th', {scope: 'col'}, t(text))))), h('tbody'))));
  const body = place.querySelector('tbody'), keys = new Set(rows.map(([key]) => key));
  const old = new Map([...body.rows].map(row => [row.dataset.key, row]));
  old.forEach((row, key) => keys.has(key) || row.remove());
  let next = body.firstChild;
  for (const [key, ...cells] of rows) {
    const made = h('tr', {'data-key': key}, cells.map((cell, i) => i ? h('td', {'data-head': t(heads[i])}, cell) : h('th', {scope: 'row'}, cell)));
    const row = old.get(key) || made;
    [...made.cells].forEach((cell, i) => cell.isEqualNode(row.cells[i]) || row.cells[i].replaceWith(cell));
    if (row === next)
      next = next.nextSibling;
    else
      body.insertBefore(row, next);
  }
  // Moving a row loses the focus.
  focused?.focus({preventScroll: true});
}

const sign = state => h('span', {class: `state ${state}`}, h('span', {'aria-hidden': 'true'}, signs[state] || '?'), ' ', t(state));
const state = camera => [sign(camera.state), camera.text && camera.state !== 'gone' ? [' ', h('small', null, said(camera.reason, camera.text))] : null];

async function showFleet(main) {
  const name = h('input', {type: 'search', autocomplete: 'off'});
  const wanted = select([['', t('all')], ...states.map(one => [one, t(one)])]);
  const summary = h('p', {role: 'status'}), list = h('div');
  let fleet = {cameras: []};

  function draw() {
    const text = name.value.trim().toLowerCase();
    const counts = Object.fromEntries(states.map(one => [one, 0]));
    fleet.cameras.forEach(one => { counts[one.state]++; });
    const found = fleet.cameras.filter(one => (!wanted.value || one.state === wanted.value)
      && `${one.camera} ${one.program}`.toLowerCase().includes(text));
    const words = [`${number(fleet.cameras.length)} ${t('cameras')}`,
      ...states.filter(one => counts[one]).map(one => `${number(counts[one])} ${t(one)}`),
      `${number(fleet.events)} ${t('events')}`, `${number(fleet.missing)} ${t('missing')}`,
      ...found.length > MOST ? [`${number(MOST)} ${t('of')} ${number(found.length)}`] : []].join(' · ');
    // Screen readers read out every write, even of the same text.
    if (words !== summary.textContent)
      summary.textContent = words;
    showTable(list, ['camera', 'state', 'since', 'fps', 'objects-now', 'program'], found.slice(0, MOST).map(one => [
      one.camera, h('a', {href: `#events/${encodeURIComponent(one.camera)}`}, one.camera), state(one), time(one.since),
      ...one.state === 'gone' ? ['–', '–'] : [number(one.rate), number(one.objects)], one.program]));
  }

  name.addEventListener('input', draw);
  wanted.addEventListener('change', draw);
  main.append(h('h2', null, t('cameras')), h('div', {class: 'card filters'}, field(t('search'), name), field(t('state'), wanted)), summary, list);
  return repeat(async () => {
    fleet = await get('/api/fleet');
    fleet.cameras.sort((a, b) => states.indexOf(a.state) - states.indexOf(b.state) || byName(a.camera, b.camera));
    draw();
  });
}

// The programs keep pictures and clips.
const item = event => eventItem({...event, picture: null, clip: null});

async function showEvents(main, camera) {
  const list = h('ul', {class: 'events'}), status = h('p', {role: 'status'});
  const more = button(t('more'), () => act(() => load(false)), {hidden: true});
  let next = '', n = 0;

  async function load(anew) {
    if (anew) {
      list.replaceChildren();
      next = '';
      n = 0;
    }
    const answer = await get(query('/api/events', {...values(form), limit: 50, before: next}));
    next = answer.next || '';
    n += answer.events.length;
    list.append(...answer.events.map(item));
    more.hidden = !next;
    status.textContent = n ? `${number(n)}${next ? '+' : ''} ${t('found')}` : t('none');
  }

  const form = h('form', {class: 'card filters', onsubmit: event => { event.preventDefault(); act(() => load(true)); }},
    field(t('camera'), named(h('input', {type: 'text', value: camera}), 'camera')),
    field(t('kind'), named(select([['', t('all')], ...kinds.map(one => [one, t(`k-${one}`)])]), 'kind')),
    h('div', {class: 'long'}, field(t('begin'), named(h('input', {type: 'datetime-local', step: 1}), 'begin'))),
    h('div', {class: 'long'}, field(t('end'), named(h('input', {type: 'datetime-local', step: 1}), 'end'))),
    h('button', {class: 'main'}, t('search')));
  main.append(h('h2', null, t('events')), form, status, list, more);
  await load(true);
  return null;
}

const ranges = numbers => (numbers || []).map(([a, b]) => a === b ? a : `${a}–${b}`).join(', ');

async function showPrograms(main) {
  const programs = h('div'), missing = h('div');

  main.append(h('h2', null, t('programs')), programs, h('h2', null, t('missing-events')), h('p', {class: 'hint'}, t('missing-text')), missing);
  return repeat(async () => {
    const [fleet, lost] = await Promise.all([get('/api/fleet'), get('/api/missing')]);
    showTable(programs, ['program', 'state', 'cameras', 'seen', 'since', 'pending', 'dropped', 'version'], fleet.programs.map(one => [
      one.program, one.program, sign(one.gone ? 'gone' : 'running'), number(one.cameras), time(one.seen),
      time(one.start), number(one.pending), number(one.dropped), one.version]));
    if (lost.missing.length)
      showTable(missing, ['camera', 'missing', 'numbers', 'begin', 'end', 'session'], lost.missing.map(one => [
        `${one.camera}/${one.session}`, one.camera, number(one.missing), ranges(one.numbers), time(one.first), time(one.last), one.session]));
    else
      missing.replaceChildren(h('p', null, t('none')));
  });
}

start({fleet: showFleet, events: showEvents, programs: showPrograms});
