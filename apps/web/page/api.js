// cudaccl-watch - talks to the program
// SPDX-License-Identifier: LGPL-2.1-or-later

import {t} from './text.js';

// An error with the reason that the program gave.
class Said extends Error {
  constructor(reason) {
    super(reason.text);
    this.reason = reason;
  }
}
export class Refused extends Said {}

let onRefused = () => {};
export function setRefused(func) {
  onRefused = func;
}

async function ask(method, path, body) {
  const options = {method, headers: {'X-Cudaccl-Watch': '1'}, cache: 'no-store'};
  if (body !== undefined)
    options.body = JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error(t('away'));
  }
  if (answer.ok)
    return answer;
  const {error, reason = {text: error || `${answer.status} ${answer.statusText}`}} = await answer.json().catch(() => ({}));
  if (answer.status === 401 && path !== '/api/login') {
    onRefused();
    throw new Refused(reason);
  }
  throw new Said(reason);
}

export const get = async path => (await ask('GET', path)).json();
export const send = async (method, path, body) => (await ask(method, path, body)).json();
export const picture = async (method, path, body) => URL.createObjectURL(await (await ask(method, path, body)).blob());

export function query(path, values) {
  const entries = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return path + (entries.length ? '?' + new URLSearchParams(entries) : '');
}

const wait = (seconds, signal) => new Promise(resolve => {
  const timer = setTimeout(resolve, 1000 * seconds);
  signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); });
});

// Extracts pictures from a multipart answer, whose parts have Content-Length.
class Parts {
  constructor(onPicture) {
    this.onPicture = onPicture;
    this.data = new Uint8Array(0);
    this.camera = '';
    this.length = -1;
  }

  add(chunk) {
    const data = new Uint8Array(this.data.length + chunk.length);
    data.set(this.data);
    data.set(chunk, this.data.length);
    this.data = data;
    while (this.length < 0 ? this.readHead() : this.readPicture())
      ;
  }

  readHead() {
    const text = new TextDecoder('latin1').decode(this.data.subarray(0, 1024));
    const end = text.search(/Content-Length[^]*\r\n\r\n/i) < 0 ? -1 : text.indexOf('\r\n\r\n', text.search(/Content-Length/i));
    if (end < 0)
      return false;
    const head = text.slice(0, end);
    this.length = Number(/Content-Length: (\d+)/i.exec(head)[1]);
    this.camera = (/X-Camera: ([\w-]+)/i.exec(head) || [])[1];
    this.data = this.data.slice(end + 4);
    return true;
  }

  readPicture() {
    if (this.data.length < this.length)
      return false;
    this.onPicture(this.camera, new Blob([this.data.subarray(0, this.length)], {type: 'image/jpeg'}));
    this.data = this.data.slice(this.length);
    this.length = -1;
    return true;
  }
}

// Calls onPicture(camera, blob) until the function that it returns is called. All cameras come
// through one connection, since browsers open six. A hidden page takes none.
export function showLive(cameras, values, onPicture) {
  const stop = new AbortController();
  let current = new AbortController();

  const run = async () => {
    while (!stop.signal.aborted) {
      if (document.hidden || !cameras.length) {
        await wait(1, stop.signal);
        continue;
      }
      current = new AbortController();
      try {
        const answer = await fetch(query('/api/live', {cameras: cameras.join(','), ...values}), {signal: current.signal});
        const reader = answer.ok ? answer.body.getReader() : null;
        const parts = new Parts(onPicture);
        for (let piece; reader && !(piece = await reader.read()).done;)
          parts.add(piece.value);
      } catch {
        // Try again until it is stopped.
      }
      await wait(1, stop.signal);
    }
  };
  const onHidden = () => document.hidden && current.abort();
  document.addEventListener('visibilitychange', onHidden);
  run();
  return () => {
    stop.abort();
    current.abort();
    document.removeEventListener('visibilitychange', onHidden);
  };
}

// Shows a picture in an <img>, and frees the one before.
export function setPicture(image, blob) {
  const before = image.dataset.url;
  image.dataset.url = URL.createObjectURL(blob);
  image.src = image.dataset.url;
  if (before)
    URL.revokeObjectURL(before);
}

// Calls onEvent with each event, once, in order: with the latest ones, which load() fetches, then with
// each as it happens. When a stream opens, load() is called again for what came in between; when the
// browser opens it again, the program sends what it missed.
export function listen(onEvent, load) {
  const seen = new Set();
  let source = null;
  let stopped = false, received = false;
  let ready = Promise.resolve();
  const take = event => {
    const key = `${event.camera} ${event.session} ${event.number}`;
    if (seen.has(key))
      return;
    seen.add(key);
    if (seen.size > 2000)
      seen.delete(seen.values().next().value);
    onEvent(event);
  };
  const catchUp = () => {
    ready = ready.then(load).then(events => events?.forEach(take)).catch(console.error);
  };
  const update = () => {
    if (stopped || document.hidden || source)
      return;
    source = new EventSource('/api/events/stream');
    received = false;
    source.onopen = () => received || catchUp();
    source.onmessage = message => {
      received = true;
      const event = JSON.parse(message.data);
      ready = ready.then(() => take(event)).catch(console.error);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(update, 5000);
      }
    };
  };
  document.addEventListener('visibilitychange', update);
  catchUp();
  update();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', update);
    source?.close();
  };
}
