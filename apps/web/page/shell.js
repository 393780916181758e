// cudaccl-watch - the frame of all pages: login, and the present screen
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, send, setRefused} from './api.js';
import {act, field, h, say} from './dom.js';
import {t, translate} from './text.js';

const main = document.getElementById('main');
let leave = null; // ends what the screen does

function showLogin(show) {
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

// Shows the screen that the address names, or the first.
export function start(screens) {
  const first = Object.keys(screens)[0];
  async function show() {
    const [name, argument] = location.hash.slice(1).split('/');
    leave?.();
    leave = null;
    for (const link of document.querySelectorAll('#nav a')) {
      const here = link.hash === `#${screens[name] ? name.replace('zones', 'cameras') : first}`;
      here ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
    }
    main.replaceChildren();
    await act(async () => {
      const {token} = await get('/api/status');
      document.getElementById('logout').hidden = !token;
      leave = await (screens[name] || screens[first])(main, argument ? decodeURIComponent(argument) : '');
    });
  }

  setRefused(() => showLogin(show));
  translate(document);
  document.getElementById('logout').addEventListener('click', () => act(async () => {
    await send('POST', '/api/logout');
    showLogin(show);
  }));
  addEventListener('hashchange', () => { show(); main.focus(); });
  show();
}
