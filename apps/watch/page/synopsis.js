// cudaccl-watch - makes a short video of a day
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, send} from './api.js';
import {act, button, day, h, number, said, told} from './dom.js';
import {t} from './text.js';

const PATH = '/api/synopsis';

// A card with a button for the day that choose() returns, {camera, day}; the program makes one video at
// a time. Returns the element, and a function that ends the watching.
export function synopsisCard(choose) {
  const state = h('div', {role: 'status'}), place = h('div');
  const make = button(t('make'), () => change('POST', choose()), {class: 'main'});
  const stop = button(t('cancel'), () => change('DELETE'), {hidden: true});
  const progress = h('progress', {max: 1, 'aria-label': t('synopsis'), hidden: true});
  let timer = 0, shown = '', changes = 0;

  function change(method, body) {
    return act(async () => {
      const one = await send(method, PATH, body);
      changes++;
      show(one);
    });
  }

  function showVideo({camera, day, type, objects, length, unreadable}) {
    const words = [`${number(objects)} ${t('objects')}`, `${number(length)} ${t('seconds')}`,
      unreadable ? `${number(unreadable)} ${t('unreadable')}` : ''].filter(Boolean).join(' · ');
    place.replaceChildren(h('p', null, words),
      type === 'video/mp4' ? h('video', {controls: true, playsinline: true, src: `${PATH}/video`}) : h('p', null, t('no-encoder')),
      h('p', {class: 'buttons'}, h('a', {class: 'button', href: `${PATH}/video`, download: `${camera}-${day}${type === 'video/mp4' ? '.mp4' : '.mkv'}`}, t('download')),
        button(t('remove'), () => change('DELETE'))));
  }

  function show(one) {
    const running = one.state === 'running', ending = one.state === 'ending', key = JSON.stringify(one);
    clearTimeout(timer);
    if (running || ending)
      pollIn(running ? 1000 : 200);
    make.disabled = running || ending;
    stop.hidden = progress.hidden = !running;
    progress.value = one.progress || 0;
    if (key === shown)
      return;
    shown = key;
    state.textContent = one.state === 'none' || ending ? '' : `${one.camera}, ${day(one.day)}${running ? `: ${number(100 * one.progress)} %` : ''}`;
    place.replaceChildren();
    if (one.state === 'done')
      showVideo(one);
    else if (one.state === 'failed')
      place.append(h('p', {class: 'problem'}, '▲ ', said(one.reason, one.error)));
  }

  async function poll() {
    const before = changes;
    try {
      const one = await get(PATH);
      // An answer from before a change would end the polling.
      if (changes === before)
        show(one);
    } catch (error) {
      state.replaceChildren(told(error));
      shown = '';
      pollIn(5000);
    }
  }

  // Stop once the page shows something else, such as the login.
  function pollIn(time) {
    if (card.isConnected)
      timer = setTimeout(poll, time);
  }

  const card = h('section', {class: 'card synopsis', 'aria-label': t('synopsis')}, h('h3', null, t('synopsis')), h('p', {class: 'hint'}, t('synopsis-text')),
    h('p', {class: 'buttons'}, make, stop, progress), state, place);
  poll();
  return [card, () => clearTimeout(timer)];
}
