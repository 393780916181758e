#!/usr/bin/env python3
"""Shows hostile texts on both pages in headless Chromium: hostile-page.py SERVER SOURCE

SERVER is watch-page-server. Each text of each answer is replaced in the browser, on every screen, at the size of a desk
and of a phone. The content security policy is off: no script may run even without it, and nothing scrolls sideways."""

import functools
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest

try:
    from selenium.webdriver.common.by import By

    from pagelib import CHROMIUM, DRIVER, browser
except ImportError:
    print('SKIP: python3-selenium is not installed')
    sys.exit(77)

if not CHROMIUM or not DRIVER:
    print('SKIP: chromium and chromium-driver are not installed')
    sys.exit(77)

SERVER = sys.argv.pop(1)
SOURCE = pathlib.Path(sys.argv.pop(1))

TEXTS = {
    'markup': '<img src=x onerror="window.hacked=1"><svg onload="window.hacked=2">"\'><script>window.hacked=3</script></style></title>'
              'javascript:window.hacked=4 ${window.hacked=5}{{constructor.constructor("window.hacked=6")()}}{detail}\u202egnp.exe\u2067\u200f',
    'address': 'javascript:window.hacked=7',
    'long': 'W' * 10000,
}
SIZES = ((1366, 900), (390, 844))

# Times, states and codes, which the programs choose, stay: with others, the page would show less.
SCRIPT = """
window.hacked = 0;
const text = %s, answers = %s;
const keep = new Set(['state', 'utc', 'since', 'begin', 'end', 'code', 'event', 'first', 'last', 'seen', 'day', 'start', 'type', 'next']);
const poison = (value, key) => typeof value === 'string' ? keep.has(key) ? value : key === 'zones' ? text.replace(/[:;,]/g, '') + value : text
  : Array.isArray(value) ? value.map(one => poison(one, ''))
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poison(one, name)])) : value;
const real = window.fetch;
window.fetch = async (path, options) => {
  const name = String(path).split('?')[0];
  let body = answers[name];
  if (!body) {
    const answer = await real(path, options).catch(() => null);
    if (!answer || !(answer.headers.get('Content-Type') || '').includes('json'))
      return answer || new Response('', {status: 404});
    body = await answer.json();
  }
  return new Response(JSON.stringify(poison(body, '')), {status: 200, headers: {'Content-Type': 'application/json'}});
};
"""

NOW = '2026-01-31T12:00:00.250Z'
REASON = {'code': 'source-failed', 'arguments': {'address': 'a', 'detail': 'b'}, 'text': 'c'}
EVENT = {'camera': 'yard', 'session': 's', 'number': 1, 'utc': NOW, 'event': 'lost', 'zone': 'z', 'class': 'c', 'text': 't',
         'reason': REASON, 'in': 1, 'out': 1, 'inside': 0, 'picture': 'yard/2026-01-31/120000-000001-0000.jpg', 'clip': 'a.mp4'}
UNKNOWN = EVENT | {'number': 2, 'reason': REASON | {'code': 'of-tomorrow'}}
# No camera here sends these.
WATCH = {
    '/api/discover': {'devices': [{'kind': 'onvif', 'name': 'n', 'model': 'm', 'address': 'a', 'uri': 'u'}]},
    '/api/synopsis': {'state': 'failed', 'camera': 'yard', 'day': '2026-01-31', 'seconds': 60, 'progress': 0, 'error': 'e', 'reason': REASON},
    '/api/events': {'events': [EVENT, UNKNOWN]},
}
CAMERA = {'camera': 'yard', 'state': 'lost', 'since': NOW, 'text': 't', 'reason': REASON, 'rate': 25, 'objects': 1, 'moving': True}
COLLECT = {
    '/api/status': {'version': '1', 'token': False, 'stored': 1, 'again': 0, 'refused': 0, 'text': 't'},
    '/api/fleet': {'programs': [{'program': 'p', 'share': '0/1', 'session': 's', 'start': NOW, 'since': NOW, 'seen': NOW, 'gone': False,
                                 'version': 'v', 'cameras': 1, 'pending': 0, 'dropped': 0, 'text': 't'}],
                   'cameras': [CAMERA, CAMERA | {'camera': 'hall', 'state': 'running'}], 'events': 1, 'missing': 1},
    '/api/events': {'events': [EVENT, UNKNOWN], 'next': None},
    '/api/missing': {'missing': [{'camera': 'yard', 'session': 's', 'missing': 1, 'first': NOW, 'last': NOW, 'numbers': [[1, 2]]}]},
}


class Files(http.server.BaseHTTPRequestHandler):
    """The files of cudaccl-collect's page."""
    TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml'}

    def do_GET(self):
        name = pathlib.PurePosixPath(self.path).name or 'index.html'
        for folder in ('apps/collect/page', 'apps/web/page'):
            path = SOURCE / folder / name
            if path.is_file():
                self.send_response(200)
                self.send_header('Content-Type', self.TYPES.get(path.suffix, 'text/plain'))
                self.end_headers()
                self.wfile.write(path.read_bytes())
                return
        self.send_error(404)

    def log_message(self, *_):
        pass


class Hostile(unittest.TestCase):
    def check(self, driver, where, wanted):
        end = time.monotonic() + 20
        while True:
            shown = driver.execute_script('return document.body.textContent')
            if wanted in shown or time.monotonic() > end:
                break
            time.sleep(0.05)
        self.assertTrue(wanted in shown, f'{where}: the text is not shown')
        time.sleep(0.3)
        for details in driver.find_elements(By.CSS_SELECTOR, 'details'):
            driver.execute_script('arguments[0].open = true', details)
        hacked, width, inner, links, markup = driver.execute_script('''
            const all = [...document.querySelectorAll('a[href], img[src], video[src], iframe, object, embed, form[action]')];
            return [window.hacked, document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth,
                    all.map(one => one.href || one.src || one.data || one.action || '').filter(one => /^\\s*(javascript|data|vbscript):/i.test(one)),
                    document.querySelectorAll('main script, main style, main svg[onload], main img[onerror]').length];''')
        self.assertEqual((hacked, links, markup), (0, [], 0), where)
        self.assertLessEqual(width, inner, f'{where}: the page scrolls sideways')

    def go(self, uri, answers, screens, search=None):
        for size in SIZES:
            driver = browser(size=size)
            try:
                driver.execute_cdp_cmd('Page.enable', {})
                driver.execute_cdp_cmd('Page.setBypassCSP', {'enabled': True})
                for name, text in TEXTS.items():
                    script = driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {
                        'source': f'{{{SCRIPT % (json.dumps(text), json.dumps(answers))}}}'})
                    for screen in screens:
                        with self.subTest(text=name, screen=screen, size=size):
                            driver.get('about:blank')
                            driver.get(f'{uri}#{screen}')
                            if screen in (search or ()):
                                button = self.wait(driver, search[screen])
                                button.click()
                            self.check(driver, f'{name}, {screen}, {size}', text)
                    driver.execute_cdp_cmd('Page.removeScriptToEvaluateOnNewDocument', script)
            finally:
                driver.quit()

    def wait(self, driver, text):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for button in driver.find_elements(By.CSS_SELECTOR, 'main button'):
                if button.text == text:
                    return button
            time.sleep(0.05)
        self.fail(f'there is no button {text}')

    def test_watch(self):
        server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            uri = server.stdout.readline().strip()
            server.stdin.write('lost yard 192.0.2.1\nstate hall 4 later\n')
            server.stdin.flush()
            self.go(uri, WATCH, ('live', 'events', 'day', 'cameras'), {'cameras': 'Find cameras'})
        finally:
            server.stdin.close()
            server.stdout.close()
            self.assertEqual(server.wait(20), 0)

    def test_collect(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Files))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.go(f'http://127.0.0.1:{server.server_port}/', COLLECT, ('fleet', 'events', 'programs'))
        finally:
            server.shutdown()
            server.server_close()


if __name__ == '__main__':
    unittest.main(verbosity=2)
