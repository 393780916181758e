// cudaccl-watch - adds, changes and removes cameras; shows the state of everything else
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, picture, send} from './api.js';
import {act, button, bytes, field, h, number, said, say, time, told} from './dom.js';
import {t} from './text.js';

function text(name, attributes) {
  return h('input', {type: 'text', name, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', ...attributes});
}

function check(name, label, value) {
  return h('label', {class: 'check'}, h('input', {type: 'checkbox', name, checked: value}), ' ', label);
}

function hinted(label, input, hint) {
  const id = `hint-${Math.random().toString(36).slice(2)}`;
  input.setAttribute('aria-describedby', id);
  return h('div', null, field(label, input), h('small', {id}, hint));
}

function seconds(name, settings) {
  return text(name, {type: 'number', min: 0, max: 86400, step: 'any', value: settings[name]});
}

// A test picture of the address in the form.
function tester(form) {
  const place = h('div', {class: 'test', role: 'status'});
  const test = button(t('test'), () => act(async () => {
    const {uri, user, password} = form.elements;
    const body = {uri: uri.value};
    if (user.value)
      Object.assign(body, {user: user.value, password: password.value});
    test.disabled = true;
    place.textContent = t('testing');
    try {
      place.replaceChildren(h('img', {src: await picture('POST', '/api/try', body), alt: t('test')}));
    } catch (error) {
      place.replaceChildren(told(error));
    }
    test.disabled = false;
  }));
  return [test, place];
}

function finder(form) {
  const list = h('ul', {class: 'found'});
  const find = button(t('find'), () => act(async () => {
    find.disabled = true;
    list.replaceChildren(h('li', {role: 'status'}, t('finding')));
    try {
      const {devices} = await get('/api/discover');
      const use = device => {
        form.elements.uri.value = device.uri;
        form.elements.uri.focus();
      };
      list.replaceChildren(...devices.map(device => h('li', null,
        [device.name, device.model, device.address || device.uri].filter(Boolean).join(' · '), ' ', button(t('use'), () => use(device)))),
      h('li', null, t(devices.length ? 'found-text' : 'found-none')));
    } catch (error) {
      list.replaceChildren(h('li', null, told(error)));
    }
    find.disabled = false;
  }));
  return [find, list];
}

function addForm(names, done) {
  const form = h('form', {class: 'card', onsubmit: event => {
    event.preventDefault();
    const {name, uri, user, password} = form.elements;
    const body = {name: name.value, uri: uri.value};
    if (user.value)
      Object.assign(body, {user: user.value, password: password.value});
    act(async () => {
      await send('POST', '/api/cameras', body);
      say(t('saved'));
      await done();
    });
  }});
  let n = names.length + 1;
  while (names.includes(`camera${n}`))
    n++;
  const [find, list] = finder(form);
  const [test, place] = tester(form);
  form.append(h('h3', null, t('add')), h('p', {class: 'buttons'}, find), list,
    hinted(t('uri'), text('uri', {required: true, inputmode: 'url'}), t('uri-text')),
    h('div', {class: 'filters top'}, field(t('user'), text('user')), field(t('password'), text('password', {type: 'password', autocomplete: 'new-password'})),
      hinted(t('name'), text('name', {required: true, pattern: '[A-Za-z0-9_\\-]{1,64}', value: `camera${n}`}), t('wrong-name'))),
    h('p', {class: 'buttons'}, test, h('button', {class: 'main'}, t('add-it'))), place);
  return form;
}

function settingsForm(camera, model, done) {
  const {settings} = camera;
  const form = h('form', {onsubmit: event => {
    const body = {};
    event.preventDefault();
    for (const {name, type, value, checked, defaultValue, defaultChecked} of form.elements) {
      if (type === 'checkbox' && checked !== defaultChecked)
        body[name] = checked;
      else if (name && type !== 'checkbox' && value !== defaultValue)
        body[name] = type === 'number' ? Number(value) : value;
    }
    act(async () => {
      await send('PUT', `/api/cameras/${camera.name}`, body);
      say(t('saved'));
      await done();
    });
  }},
  hinted(t('uri'), text('uri', {value: settings.uri, required: true}), t('uri-text')),
  hinted(t('record-uri'), text('record-uri', {value: settings['record-uri'] || ''}), t('record-uri-text')),
  h('div', {class: 'filters top'}, field(t('user'), text('user')),
    field(t('password'), text('password', {type: 'password', autocomplete: 'new-password', placeholder: settings.password ? t('password-set') : ''})),
    hinted(t('schedule'), text('schedule', {value: settings.schedule || ''}), t('schedule-text')),
    hinted(t('classes'), text('classes', {value: (settings.classes || []).join(', ')}), t('classes-text')),
    field(t('frozen-after'), text('frozen-after', {type: 'number', min: 1, max: 3600, value: settings['frozen-after']})),
    hinted(t('dwell-time'), seconds('dwell-time', settings), t('dwell-time-text')),
    hinted(t('static-time'), seconds('static-time', settings), t('static-time-text'))),
  h('p', null, check('enabled', t('enabled'), settings.enabled), check('record', t('record'), settings.record),
    model ? check('detect', t('detect'), settings.detect) : null));
  const [test, place] = tester(form);
  form.append(h('p', {class: 'buttons'}, h('button', {class: 'main'}, t('save')), test,
    button(t('remove'), () => confirm(t('really-remove')) && act(async () => {
      await send('DELETE', `/api/cameras/${camera.name}`);
      await done();
    }))), place);
  return form;
}

function cameraCard(camera, model, done) {
  return h('article', {class: 'card', 'aria-label': camera.name}, h('h3', null, camera.name),
    h('p', null, camera.state === 'running' ? [t(camera.state), camera.width ? `${camera.width} × ${camera.height}` : '', `${number(camera.rate, 1)} ${t('fps')}`].filter(Boolean).join(' · ')
      : [t(camera.state), camera.text ? [': ', said(camera.reason, camera.text)] : null]),
    h('p', null, h('code', null, camera.settings.uri)),
    h('p', {class: 'buttons'}, h('a', {class: 'button', href: `#zones/${camera.name}`}, t('edit-zones'))),
    h('details', null, h('summary', null, t('settings')), settingsForm(camera, model, done)));
}

function row(name, words, {reason, text} = {}) {
  return h('li', null, h('b', null, name), ' ', words.filter(Boolean).join(' · '), text ? h('p', {class: 'problem'}, '▲ ', said(reason, text)) : null);
}

function stateCard(status) {
  const {database, media, sinks} = status;
  const sink = one => row(one.name, [`${one.connected ? '●' : '✖'} ${t(one.connected ? 'connected' : 'disconnected')}`,
    `${number(one.sent)} ${t('sent')}`, `${number(one.pending)} ${t('pending')}`, one.dropped ? `${number(one.dropped)} ${t('dropped')}` : '',
    one.refused ? `${number(one.refused)} ${t('refused')}` : ''], one);
  return [h('section', {class: 'card'}, h('h3', null, t('sinks')), sinks.length ? h('ul', null, sinks.map(sink)) : h('p', null, t('no-sinks'))),
    h('section', {class: 'card'}, h('h3', null, t('storage')), h('ul', null,
      row(t('database'), [bytes(database.bytes), database.dropped ? `${number(database.dropped)} ${t('dropped')}` : ''], database),
      row(t('media'), [bytes(media.bytes) + (media.limit ? ` ${t('of')} ${bytes(media.limit)}` : '')], media),
      row(t('program'), [`cudaccl-watch ${status.version}`, `${t('since')} ${time(status.start).textContent}`])))];
}

export async function showCameras(main) {
  const list = h('div', {class: 'grid wide'}), form = h('div'), state = h('div', {class: 'grid wide'});

  async function load() {
    const [{cameras}, status] = await Promise.all([get('/api/cameras'), get('/api/status')]);
    list.replaceChildren(...cameras.map(camera => cameraCard(camera, status.model, load)));
    form.replaceChildren(addForm(cameras.map(({name}) => name), load));
    state.replaceChildren(...stateCard(status));
  }

  main.append(h('h2', null, t('cameras')), list, form, state);
  await load();
  return null;
}
