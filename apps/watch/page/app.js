// cudaccl-watch - the page: login, and which screen is shown
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, send, setRefused} from './api.js';
import {act, field, h, say} from './dom.js';
import {t, translate} from './text.js';
import {showCameras} from './cameras.js';
import {showDay} from './day.js';
import {showEditor} from './editor.js';
import {showEvents} from './events.js';
import {showLive} from './live.js';

const main = document.getElementById('main');
const screens = {live: showLive, events: showEvents, day: showDay, cameras: showCameras, zones: showEditor};
let leave = null; // ends what the screen does

function showLogin() {
  const input = h('input', {type: 'password', autocomplete: 'current-password', required: true, name: 'token'});
  leave?.();
  leave = null;
  main.replaceChildren(h('form', {class: 'card narrow', onsubmit: event => {
    event.preventDefault();
    act(async () => {
      await send('POST', '/api/login', {token: input.value});
      say('');
      show();
    });
  }}, h('h2', null, t('login')), h('p', null, t('login-text')), field(t('token'), input),
  h('button', {class: 'main'}, t('login'))));
  input.focus();
}

async function show() {
  const [name, argument] = location.hash.slice(1).split('/');
  const screen = screens[name] || showLive;
  leave?.();
  leave = null;
  for (const link of document.querySelectorAll('#nav a')) {
    const here = link.hash === `#${screens[name] ? name.replace('zones', 'cameras') : 'live'}`;
    here ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  }
  main.replaceChildren();
  await act(async () => {
    const {token} = await get('/api/status');
    document.getElementById('logout').hidden = !token;
    leave = await screen(main, argument ? decodeURIComponent(argument) : '');
  });
}

setRefused(showLogin);
translate(document);
document.getElementById('logout').addEventListener('click', () => act(async () => {
  await send('POST', '/api/logout');
  showLogin();
}));
addEventListener('hashchange', () => { show(); main.focus(); });
show();
