// cudaccl-watch - makes elements, and words for times and sizes
// SPDX-License-Identifier: LGPL-2.1-or-later

import {pieces} from './reasons.js';
import {language, t} from './text.js';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else if (value === true)
      element.setAttribute(name, '');
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

// Text is never read as HTML.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

// The states of cameras, in shape as well as in colour.
export const signs = {off: '■', connecting: '◌', running: '●', frozen: '▲', lost: '✖', gone: '✖'};

// Returns a reason in the language of the page. A `detail`, an unknown code and a text without a code stay in English.
export function said(reason, text = reason?.text) {
  const parts = reason && pieces(reason, language === 'de' ? 1 : 0);
  const value = name => {
    const one = reason.arguments[name];
    return name === 'detail' ? h('span', {lang: 'en'}, one) : typeof one === 'number' ? number(one, 1) : one;
  };
  return parts ? h('span', null, parts.map((part, i) => i % 2 ? value(part) : part)) : h('span', {lang: 'en'}, text);
}

// Why an action failed.
export const told = error => error.reason ? said(error.reason) : error.message;

export function field(label, input) {
  return h('label', {class: 'field'}, h('span', null, label), input);
}

export function select(options, value) {
  const element = h('select', null, options.map(([key, text]) => h('option', {value: key}, text)));
  element.value = value ?? '';
  return element;
}

export function button(text, onclick, attributes) {
  return h('button', {type: 'button', onclick, ...attributes}, text);
}

export function time(text, withDate = true) {
  const date = new Date(text);
  const options = {hour: '2-digit', minute: '2-digit', second: '2-digit'};
  if (withDate && date.toDateString() !== new Date().toDateString())
    Object.assign(options, {day: 'numeric', month: 'short', year: 'numeric'});
  return h('time', {datetime: text}, date.toLocaleString(language, options));
}

// A day, such as 2026-01-31, in the words of the language.
export function day(text) {
  return new Date(`${text}T00:00`).toLocaleDateString(language, {day: 'numeric', month: 'short', year: 'numeric'});
}

export function number(n, digits = 0) {
  return Number(n).toLocaleString(language, {maximumFractionDigits: digits});
}

export function bytes(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; n >= 1000 && unit < units.length - 1; n /= 1000)
    unit++;
  return `${number(n, n < 10 && unit ? 1 : 0)} ${units[unit]}`;
}

// A message to be read out: text, or what told() returns.
let timer = 0;
export function say(content) {
  const alert = document.getElementById('alert');
  alert.replaceChildren(content);
  alert.hidden = !content;
  clearTimeout(timer);
  timer = setTimeout(() => { alert.hidden = true; }, 8000);
}

// Runs an action of the user; an error is told.
export async function act(action) {
  try {
    return await action();
  } catch (error) {
    say(told(error) || t('failed'));
    return undefined;
  }
}
