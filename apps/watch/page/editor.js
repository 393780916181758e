// cudaccl-watch - edits the zones and tripwires of a camera
// SPDX-License-Identifier: LGPL-2.1-or-later

import {get, send, setPicture, showLive} from './api.js';
import {act, button, field, h, say} from './dom.js';
import {Drawing} from './drawing.js';
import {t} from './text.js';
import {format, parse} from './zones.js';

export async function showEditor(main, name) {
  const camera = (await get('/api/cameras')).cameras.find(one => one.name === name);
  if (!camera) {
    location.hash = '#cameras';
    return null;
  }
  const {zones, tripwires} = camera.settings;
  const shapes = [...parse(zones, false, camera.width, camera.height), ...parse(tripwires, true, camera.width, camera.height)];
  const image = h('img', {alt: `${t('picture')} ${name}`, width: camera.width || 640, height: camera.height || 360});
  const hint = h('p', {class: 'hint', 'aria-live': 'polite'});
  const input = h('input', {type: 'text', maxlength: 64, oninput: () => {
    drawing.shapes[drawing.selected].name = input.value;
    drawing.draw();
  }});
  const bar = h('div', {class: 'buttons'});
  const chosen = h('div', {class: 'buttons', hidden: true}, field(t('name'), input));
  const turn = button(t('turn'), () => drawing.turn());
  const done = button(t('done'), () => drawing.finish(), {class: 'main'});
  const drawing = new Drawing(image, shapes, update);

  function update() {
    const shape = drawing.shapes[drawing.selected];
    chosen.hidden = !shape;
    turn.hidden = !shape?.tripwire;
    done.hidden = !drawing.mode;
    hint.textContent = t(drawing.mode ? `draw-${drawing.mode}` : 'draw-none');
    if (shape && input.value !== shape.name)
      input.value = shape.name;
  }

  // Fit the whole picture on the screen.
  const canvas = h('div', {class: 'canvas'}, image, drawing.svg);
  canvas.style.maxWidth = `max(18rem, min(64rem, calc((100vh - 20rem) * ${(camera.width || 16) / (camera.height || 9)})))`;
  chosen.append(turn, button(t('remove'), () => drawing.remove()));
  bar.append(button(t('add-zone'), () => drawing.begin('zone')), button(t('add-line'), () => drawing.begin('line')), done);
  main.append(h('section', {class: 'editor'},
    h('p', null, h('a', {href: '#cameras'}, t('back'))), h('h2', null, `${name}: ${t('edit-zones')}`), bar, hint,
    canvas, chosen,
    h('p', {class: 'buttons'}, button(t('save'), () => act(async () => {
      await send('PUT', `/api/cameras/${name}`, {
        zones: format(drawing.shapes.filter(shape => !shape.tripwire)),
        tripwires: format(drawing.shapes.filter(shape => shape.tripwire)),
      });
      say(t('saved'));
    }), {class: 'main'}), h('a', {class: 'button', href: '#live'}, t('cancel')))));
  update();
  return showLive([name], {boxes: 0, rate: 3}, (_, blob) => setPicture(image, blob));
}
