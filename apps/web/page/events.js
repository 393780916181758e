// cudaccl-watch - events and tracks, searched
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, picture, query} from './api.js';
import {act, button, field, h, number, said, select, svg, time} from './dom.js';
import {Drawing} from './drawing.js';
import {t} from './text.js';
import {points} from './zones.js';

export const kinds = ['motion', 'still', 'enter', 'leave', 'dwell', 'in', 'out', 'lost', 'back', 'stopped', 'left', 'removed'];
const signs = {motion: '≈', still: '–', enter: '⇥', leave: '↦', dwell: '⧗', in: '→', out: '←', lost: '✖', back: '●', stopped: '■',
  left: '▣', removed: '□'};
const media = name => '/media/' + name.split('/').map(encodeURIComponent).join('/');

// A clip may have several events. Its name has the time of the first, in UTC, and it begins the
// seconds of `pre-roll` before: so this is as long before the event.
function seek(video, item) {
  const [, date, h, m, s] = /\/(\d{4}-\d\d-\d\d)\/(\d\d)(\d\d)(\d\d)-/.exec(item.clip) || [];
  const seconds = (new Date(item.utc || item.begin) - new Date(`${date}T${h}:${m}:${s}Z`)) / 1000;
  if (seconds > 1 && seconds < video.duration)
    video.currentTime = seconds;
}

function showMedia(title, item) {
  const video = item.clip && h('video', {controls: true, autoplay: true, playsinline: true, muted: true, src: media(item.clip), poster: item.picture && media(item.picture),
    onloadedmetadata: () => seek(video, item),
    onerror: () => video.replaceWith(h('p', null, t('no-clip')), ...item.picture ? [h('img', {src: media(item.picture), alt: title})] : [])});
  const dialog = h('dialog', {class: 'show', 'aria-label': title, onclose: () => dialog.remove()},
    h('header', null, h('h2', null, title), button('✕', () => dialog.close(), {'aria-label': t('close')})),
    video || h('img', {src: media(item.picture), alt: title}));
  document.body.append(dialog);
  dialog.showModal();
}

function thumb(title, item) {
  if (!item.picture && !item.clip)
    return null;
  return h('button', {type: 'button', class: 'thumb', 'aria-label': `${t('play')}: ${title}`, onclick: () => showMedia(title, item)},
    item.picture ? h('img', {src: media(item.picture), alt: '', loading: 'lazy', width: 112, height: 63}) : '▶',
    item.clip && item.picture ? h('span', {class: 'film', 'aria-hidden': 'true'}, '▶') : null);
}

export function eventItem(event) {
  const kind = t(`k-${event.event}`);
  const what = [event.zone, event.class, event.text && said(event.reason, event.text), event.dwell ? `${number(event.dwell)} ${t('seconds')}` : ''].filter(Boolean)
    .map((one, i) => [i ? ' · ' : ': ', one]);
  const counts = event.zone ? `${number(event.in)}\u00a0${t('in')} · ${number(event.out)}\u00a0${t('out')}` : '';
  return h('li', {class: `event ${event.event}`},
    h('span', {class: 'sign', 'aria-hidden': 'true'}, signs[event.event] || '?'),
    h('div', null, h('b', null, kind, what), h('br'), h('small', null, time(event.utc), ` · ${event.camera}`, counts ? [' · ', h('span', {class: 'whole'}, counts)] : null)),
    thumb(`${kind}, ${event.camera}`, event));
}

function trackItem(track) {
  const title = `${t('track')} ${track.track}`;
  const seconds = (new Date(track.end) - new Date(track.begin)) / 1000;
  return h('li', {class: 'event track'},
    h('span', {class: 'sign', 'aria-hidden': 'true'}, '⤳'),
    h('div', null, h('b', null, [title, track.class, (track.zones || []).join(', ')].filter(Boolean).join(' · ')), h('br'),
      h('small', null, time(track.begin), ` · ${number(seconds, 1)} ${t('seconds')} · ${track.camera}`)),
    thumb(`${title}, ${track.camera}`, track));
}

// A track's path over the picture: the feet of its boxes.
function path(track, drawing) {
  const line = track.path.map(([, x, y, width, height]) => drawing.pixels([x + width / 2, y + height]).join(',')).join(' ');
  return svg('polyline', {class: 'path', points: line});
}

// The form's values by name, without those that are empty.
export function values(form) {
  const found = {};
  for (const element of form.elements)
    if (element.name && element.value && !element.disabled)
      found[element.name] = element.type === 'datetime-local' ? new Date(element.value).toISOString() : element.value;
  return found;
}

export function named(element, name, attributes) {
  element.name = name;
  for (const [key, value] of Object.entries(attributes || {}))
    element.setAttribute(key, value);
  return element;
}

export async function showEvents(main) {
  const {cameras} = await get('/api/cameras');
  const list = h('ul', {class: 'events'});
  const count = h('p', {role: 'status'});
  const more = button(t('more'), () => act(() => load(false)), {hidden: true});
  const camera = named(select([['', t('all')], ...cameras.map(one => [one.name, one.name])]), 'camera');
  const kind = named(select([['', t('all')], ...kinds.map(one => [one, t(`k-${one}`)])]), 'kind');
  const zones = h('datalist', {id: 'zone-names'}, [...new Set(cameras.flatMap(one => one.zones.map(zone => zone.name)))].map(name => h('option', {value: name})));
  const what = select([['events', t('events')], ['tracks', t('tracks')]], 'events');
  const image = h('img', {alt: '', width: 640, height: 360});
  const hint = h('p', {class: 'hint'}, t('choose-camera'));
  const drawing = new Drawing(image, [], () => {
    if (!drawing.mode && drawing.shapes.length > 1)
      drawing.shapes.splice(0, drawing.shapes.length - 1);
  });
  const draw = mode => {
    drawing.shapes.length = 0;
    drawing.begin(mode);
    hint.textContent = t(`draw-${mode}`);
  };
  const canvas = h('div', {class: 'canvas', hidden: true}, image, drawing.svg);
  const tools = h('div', {class: 'buttons', hidden: true}, button(t('add-zone'), () => draw('zone')), button(t('add-line'), () => draw('line')),
    button(t('done'), () => drawing.finish()), button(t('clear'), () => { drawing.shapes.length = 0; drawing.draw(); }));
  const place = h('div', {class: 'place', hidden: true}, h('p', null, t('only-through')), hint, tools, canvas);
  let next = 0, n = 0;

  async function load(anew) {
    const asked = values(form);
    const tracks = what.value === 'tracks';
    if (tracks && drawing.shapes[0] && asked.camera)
      asked.points = points(drawing.shapes[0]);
    if (anew) {
      list.replaceChildren();
      drawing.paths = [];
      n = next = 0;
    }
    const answer = await get(query(tracks ? '/api/tracks' : '/api/events', {...asked, limit: 50, before: next || ''}));
    const found = answer[what.value];
    n += found.length;
    next = answer.next || 0;
    list.append(...found.map(tracks ? trackItem : eventItem));
    if (tracks) {
      drawing.paths.push(...found.map(track => path(track, drawing)));
      drawing.draw();
    }
    more.hidden = !next;
    count.textContent = n ? `${number(n)}${next ? '+' : ''} ${t('found')}` : t('none');
  }

  async function update() {
    const tracks = what.value === 'tracks', known = tracks && camera.value;
    kind.disabled = tracks;
    place.hidden = !tracks;
    canvas.hidden = tools.hidden = !known;
    drawing.shapes.length = 0;
    drawing.paths = [];
    drawing.draw();
    if (!known) {
      hint.textContent = t('choose-camera');
      return;
    }
    hint.textContent = '';
    image.src = await picture('GET', `/api/cameras/${camera.value}/snapshot?boxes=0`).catch(() => '');
  }

  const form = h('form', {class: 'card filters', onsubmit: event => { event.preventDefault(); act(() => load(true)); }},
    field(t('what'), what), field(t('camera'), camera), field(t('kind'), kind),
    field(t('zone'), named(h('input', {type: 'text', list: 'zone-names'}), 'zone')), zones,
    field(t('class'), named(h('input', {type: 'text'}), 'class')),
    h('div', {class: 'long'}, field(t('begin'), named(h('input', {type: 'datetime-local', step: 1}), 'begin'))),
    h('div', {class: 'long'}, field(t('end'), named(h('input', {type: 'datetime-local', step: 1}), 'end'))),
    place, h('button', {class: 'main long'}, t('search')));
  what.addEventListener('change', () => act(update));
  camera.addEventListener('change', () => act(update));
  main.append(h('h2', null, t('events')), form, count, list, more);
  await load(true);
  return null;
}
