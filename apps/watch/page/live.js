// cudaccl-watch - all cameras live, and the latest events
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, listen, query, setPicture, showLive as openLive} from './api.js';
import {act, button, h, number, said, signs, time} from './dom.js';
import {eventItem} from './events.js';
import {t} from './text.js';

const LATEST = 20;

function zoneRow(zone) {
  const parts = [`${number(zone.in)} ${t('in')}`, `${number(zone.out)} ${t('out')}`];
  if (!zone.tripwire)
    parts.unshift(`${number(zone.inside)} ${t('inside')}`);
  return h('li', null, h('b', null, zone.name), ' ', parts.join(' · '));
}

class Card {
  constructor(name) {
    this.image = h('img', {alt: `${t('picture')} ${name}`, width: 640, height: 360, hidden: true});
    this.veil = h('p', {class: 'veil'}, t('no-picture'));
    this.state = h('span', {class: 'state'});
    this.detail = h('p', {class: 'detail'});
    this.zones = h('ul', {class: 'zones'});
    this.size = button(t('enlarge'), () => {
      const large = this.element.classList.toggle('large');
      this.size.textContent = t(large ? 'reduce' : 'enlarge');
      this.element.scrollIntoView({block: 'nearest'});
    });
    this.picture = h('div', {class: 'picture'}, this.image, this.veil);
    this.element = h('article', {class: 'card camera', 'aria-label': name}, this.picture,
      h('header', null, h('h3', null, name), this.state),
      this.detail, this.zones,
      h('p', {class: 'buttons'}, this.size, h('a', {class: 'button', href: `#zones/${name}`}, t('edit-zones'))));
  }

  update(camera) {
    const running = camera.state === 'running';
    this.state.replaceChildren(h('span', {class: camera.state, 'aria-hidden': 'true'}, signs[camera.state] || '?'), ' ', t(camera.state));
    this.veil.hidden = running && !this.image.hidden;
    this.veil.replaceChildren(running ? t('no-picture') : camera.text ? said(camera.reason, camera.text) : t(camera.state));
    this.image.classList.toggle('old', !running);
    if (camera.width)
      this.picture.style.aspectRatio = camera.width / camera.height;
    this.detail.replaceChildren(...running
      ? [`${number(camera.rate, 1)} ${t('fps')} · ${t(camera.moving ? 'moving' : 'still')}`]
      : [`${t('since')} `, time(camera.since)]);
    this.zones.replaceChildren(...camera.zones.map(zoneRow));
  }

  show(blob) {
    setPicture(this.image, blob);
    this.image.hidden = false;
    this.veil.hidden = !this.image.classList.contains('old');
  }
}

export async function showLive(main) {
  const cards = new Map();
  const grid = h('div', {class: 'grid'});
  const list = h('ul', {class: 'events', 'aria-live': 'polite', 'aria-relevant': 'additions'});
  const empty = h('p', null, t('no-events'));
  let stopPictures = () => {};
  let names = null;

  function update(cameras) {
    const now = cameras.map(camera => camera.name).join(',');
    if (now !== names) {
      names = now;
      for (const name of cards.keys())
        if (!cameras.some(camera => camera.name === name))
          cards.delete(name);
      for (const {name} of cameras)
        if (!cards.has(name))
          cards.set(name, new Card(name));
      grid.replaceChildren(...cameras.map(({name}) => cards.get(name).element));
      if (!cameras.length)
        grid.append(h('div', {class: 'card'}, h('p', null, t('no-cameras')), h('a', {class: 'button main', href: '#cameras'}, t('add-first'))));
      stopPictures();
      stopPictures = openLive(cameras.map(({name}) => name), {rate: cameras.length > 9 ? 1 : cameras.length > 4 ? 2 : 5},
        (name, blob) => cards.get(name)?.show(blob));
    }
    for (const camera of cameras)
      cards.get(camera.name).update(camera);
  }

  function add(event) {
    empty.remove();
    list.prepend(eventItem(event));
    while (list.children.length > LATEST)
      list.lastChild.remove();
  }

  const load = async () => update((await get('/api/cameras')).cameras);
  await load();
  main.append(h('div', {class: 'live'}, h('section', {'aria-label': t('cameras')}, grid),
    h('section', {class: 'latest'}, h('h2', null, t('latest')), empty, list)));
  const getLatest = async () => (await get(query('/api/events', {limit: LATEST}))).events.reverse();
  const stopEvents = listen(add, () => act(getLatest));
  const timer = setInterval(() => document.hidden || act(load), 2000);
  return () => {
    clearInterval(timer);
    stopEvents();
    stopPictures();
  };
}
