#!/usr/bin/env python3
"""Tests the page of cudaccl-watch in headless Chromium: page.py SERVER [TEST…|--pictures FOLDER [JPEG [VIDEO]]]

SERVER is watch-page-server. --pictures saves what each screen looks like in both languages, at the size
of a desk and of a phone, and dark. With JPEG, cameras show that; with VIDEO, that is the video of the
day."""

import datetime
import os
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.expected_conditions import staleness_of
    from selenium.webdriver.support.ui import Select, WebDriverWait

    from pagelib import CHROMIUM, DRIVER, browser, save_picture
except ImportError:
    print('SKIP: python3-selenium is not installed')
    sys.exit(77)

if not CHROMIUM or not DRIVER:
    print('SKIP: chromium and chromium-driver are not installed')
    sys.exit(77)

SERVER = sys.argv[1]
PICTURES = sys.argv[sys.argv.index('--pictures') + 1] if '--pictures' in sys.argv else None
JPEG, VIDEO = (sys.argv[4:5], sys.argv[5:6]) if PICTURES else ([], [])
# The rest are names of tests.
sys.argv[1:] = [] if PICTURES else sys.argv[2:]


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([SERVER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.uri = self.process.stdout.readline().strip()

    def say(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()

    def read_file(self):
        self.say('file')
        return ''.join(iter(self.process.stdout.readline, '.\n'))

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(20) == 0


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(*JPEG)
        cls.driver = browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.server.stop()

    def tearDown(self):
        # Refused by the browser, such as a script by the content security policy.
        errors = [entry for entry in self.driver.get_log('browser')
                  if entry['level'] == 'SEVERE' and 'status of 40' not in entry['message']]
        self.assertEqual(errors, [])

    def open(self, screen):
        self.driver.get('about:blank')
        self.driver.get(f'{self.server.uri}#{screen}')

    def find(self, selector):
        return self.wait(lambda: self.driver.find_element(By.CSS_SELECTOR, selector))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def click(self, text, within='main'):
        self.wait(lambda: next(e for e in self.all(f'{within} button, {within} .button') if e.text == text and e.is_displayed() and e.is_enabled())).click()

    def wait(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while True:
            try:
                value = condition()
                if value:
                    return value
                problem = 'it is not so'
            except Exception as error:  # an element that is not there, yet or any more
                problem = error
            if time.monotonic() > end:
                raise TimeoutException(f'{problem}\n{self.driver.find_element(By.TAG_NAME, "body").text[:2000]}')
            time.sleep(0.05)

    def text(self):
        return self.driver.find_element(By.TAG_NAME, 'main').text

    def test_live(self):
        self.open('live')
        for name in ('yard', 'hall'):
            picture = self.find(f'article[aria-label={name}] img')
            self.wait(lambda: self.driver.execute_script('return arguments[0].naturalWidth', picture) > 0)
        # Pictures go on.
        url = picture.get_attribute('src')
        self.wait(lambda: picture.get_attribute('src') != url)
        self.assertIn('lawn', self.find('article[aria-label=yard]').text)
        self.assertIn('2 inside', self.find('article[aria-label=yard]').text)

    def test_camera_goes_and_comes(self):
        self.open('live')
        card = self.find('article[aria-label=hall]')
        self.wait(lambda: 'running' in card.text)
        self.server.say('state hall 4 no route to 192.0.2.2: tried again in 8 s')
        self.wait(lambda: '✖ lost' in card.text and 'no route to 192.0.2.2' in card.text)
        self.server.say('state hall 2 running')
        self.wait(lambda: '● running' in card.text and 'no route' not in card.text)

    def test_event_arrives(self):
        self.open('live')
        self.wait(lambda: len(self.all('.events li')) == 20)
        before = self.find('.events li').text
        self.server.say('event yard in the way in')
        self.wait(lambda: 'Crossed in: the way in' in self.find('.events li').text and self.find('.events li').text != before)
        self.assertEqual(len(self.all('.events li')), 20)
        self.click_thumb()

    def test_event_before_the_stream(self):
        """The page shows events that come after it has loaded the latest, and before it gets new ones."""
        script = self.driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': """
            const Real = EventSource;
            window.EventSource = function (uri) {
              window.connect = () => {
                const real = new Real(uri);
                real.onopen = () => this.onopen?.();
                real.onmessage = message => this.onmessage(message);
              };
              this.close = () => {};
            };"""})
        try:
            self.open('live')
            self.wait(lambda: len(self.all('.events li')) == 20)
            self.server.say('event yard in the way back')
            self.wait(lambda: self.driver.execute_script(
                'return fetch("/api/events?limit=1").then(answer => answer.text())').count('the way back'))
            self.assertNotIn('the way back', self.text())
            self.driver.execute_script('connect()')
            self.wait(lambda: 'the way back' in self.find('.events li').text)
        finally:
            self.driver.execute_cdp_cmd('Page.removeScriptToEvaluateOnNewDocument', {'identifier': script['identifier']})

    def click_thumb(self):
        self.find('.events li .thumb').click()
        picture = self.find('dialog img')
        self.wait(lambda: self.driver.execute_script('return arguments[0].naturalWidth', picture) > 0)
        self.driver.find_element(By.CSS_SELECTOR, 'dialog').send_keys(Keys.ESCAPE)
        self.wait(lambda: not self.all('dialog'))

    def test_search(self):
        self.open('events')
        self.wait(lambda: len(self.all('.events li')) == 50)
        self.click('More')
        self.wait(lambda: len(self.all('.events li')) >= 60)
        Select(self.find('select[name=kind]')).select_by_value('leave')
        self.click('Search')
        self.wait(lambda: len(self.all('.events li')) == 30)
        self.assertEqual({line.text.split('\n')[1].split(':')[0] for line in self.all('.events li')}, {'Left'})
        self.find('input[name=zone]').send_keys('nowhere')
        self.click('Search')
        self.wait(lambda: 'Nothing found' in self.text())

    def drag(self, element, points, hold=False):
        # Offsets are from the middle of what is in view.
        self.driver.execute_script('arguments[0].scrollIntoView({block: "end"})', element)
        box = element.rect
        chain = ActionChains(self.driver, duration=50)
        for i, (x, y) in enumerate(points):
            chain.move_to_element_with_offset(element, int((x - 0.5) * box['width']), int((y - 0.5) * box['height']))
            if hold and i == 0:
                chain.click_and_hold()
            elif not hold:
                chain.click()
        if hold:
            chain.release()
        chain.perform()

    def test_tracks_over_a_line(self):
        self.open('events')
        Select(self.find('.filters select')).select_by_value('tracks')
        Select(self.find('select[name=camera]')).select_by_value('yard')
        self.click('Draw a line')
        canvas = self.find('.drawing')
        self.wait(lambda: self.driver.execute_script('return document.querySelector(".canvas img").naturalWidth') > 0)
        self.drag(canvas, [(0.5, 0.05), (0.5, 0.95)], hold=True)
        self.wait(lambda: len(self.all('.drawing .line')) == 1)
        self.click('Search')
        self.wait(lambda: len(self.all('.events li.track')) > 0)
        over = len(self.all('.events li.track'))
        self.assertEqual(len(self.all('.drawing .path')), over)
        self.click('Draw a line')
        self.drag(canvas, [(0.95, 0.02), (0.98, 0.1)], hold=True)
        self.click('Search')
        self.wait(lambda: len(self.all('.events li.track')) < over)

    def test_draw_line_and_zone(self):
        self.open('zones/hall')
        canvas = self.find('.drawing')
        self.wait(lambda: self.driver.execute_script('return document.querySelector(".canvas img").naturalWidth') > 0)
        self.click('Draw a line')
        self.drag(canvas, [(0.25, 0.5), (0.75, 0.5)], hold=True)
        name = self.find('.editor input')
        name.clear()
        name.send_keys('door')
        self.click('Turn the arrow')
        self.click('Draw a zone')
        self.drag(canvas, [(0.2, 0.6), (0.4, 0.6), (0.4, 0.9), (0.2, 0.9)])
        self.click('Done')
        self.wait(lambda: len(self.all('.drawing .zone')) == 1)
        # A corner moves with the keyboard.
        corner = self.find('circle[data-shape="1"][data-corner="0"]')
        self.driver.execute_script('arguments[0].focus()', corner)
        ActionChains(self.driver).send_keys(Keys.ARROW_LEFT * 5).perform()
        self.click('Save')
        self.wait(lambda: self.driver.find_element(By.ID, 'alert').text == 'Saved.')
        settings = self.server.read_file().split('[camera hall]')[1]
        line = next(line for line in settings.splitlines() if line.startswith('tripwires')).replace(':', ' ').replace(',', ' ').split()
        self.assertEqual(line[2], 'door')
        for value, expected in zip(line[3:], (0.75, 0.5, 0.25, 0.5)):
            self.assertAlmostEqual(float(value), expected, delta=0.01)
        zone = next(line for line in settings.splitlines() if line.startswith('zones'))
        self.assertAlmostEqual(float(zone.split(': ')[1].split(',')[0]), 0.15, delta=0.01)
        self.assertEqual(zone.count(','), 4)

    def test_day(self):
        self.open('day')
        self.wait(lambda: len(self.all('.plot')) == 3)
        # The server has the last twelve hours.
        now = datetime.datetime.now()
        if now.hour < 6:
            plot = self.find('.plot')
            self.driver.execute_script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
                                       self.find('input[type=date]'), str(now.date() - datetime.timedelta(days=1)))
            WebDriverWait(self.driver, 10).until(staleness_of(plot))
            self.wait(lambda: len(self.all('.plot')) == 3)
        self.assertGreater(len(self.all('.bar-in')), 20)
        self.find('details summary').click()
        self.assertGreater(len(self.all('table tr')), 2)
        Select(self.find('select')).select_by_value('hall')
        self.wait(lambda: 'Nothing on this day' in self.text())

    def test_synopsis(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'program')
            with open(program, 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n'
                           'while [ $# -gt 1 ]; do [ "$1" = --output ] && out=$2; shift; done\n'
                           'echo \'{"progress":0.42}\'\n'
                           # Keeps standard output open for a while after the script was killed.
                           f'while [ ! -e {folder}/go ]; do sleep 3; done\n'
                           'echo video >"$out"\n'
                           'echo \'{"objects":12,"recordings":3,"unreadable":0,"seconds":61,"jpeg":false}\'\n')
            os.chmod(program, 0o700)
            self.server.say(f'program {program}')
            self.open('day')
            date = self.find('input[type=date]').get_attribute('value')
            day = self.driver.execute_script('return new Date(`${arguments[0]}T00:00`).toLocaleDateString("en", {day: "numeric", month: "short", year: "numeric"})', date)
            card = self.find('.synopsis')
            self.click('Make the video')
            self.wait(lambda: f'yard, {day}: 42' in card.text)
            self.assertEqual(self.find('progress').get_attribute('value'), '0.42')
            # Who comes later sees it, too, and can cancel it.
            self.open('day')
            self.wait(lambda: f'yard, {day}: 42' in self.find('.synopsis').text)
            self.assertFalse(self.wait(lambda: next(e for e in self.all('.synopsis button') if e.text == 'Make the video')).is_enabled())
            self.click('Cancel', '.synopsis')
            self.wait(lambda: self.find('.synopsis [role=status]').text == '' and not self.find('progress').is_displayed())
            with open(os.path.join(folder, 'go'), 'w', encoding='utf-8'):
                pass
            self.wait(lambda: next(e for e in self.all('.synopsis button') if e.text == 'Make the video').is_enabled())
            self.click('Make the video')
            self.wait(lambda: '12 objects · 61 s' in self.find('.synopsis').text)
            self.assertTrue(self.find('.synopsis video').get_attribute('src').endswith('/api/synopsis/video'))
            self.assertEqual(self.find('.synopsis a').get_attribute('download'), f'yard-{date}.mp4')
            self.click('Delete', '.synopsis')
            self.wait(lambda: not self.all('.synopsis video'))

    def test_add_and_remove(self):
        self.open('cameras')
        form = self.wait(lambda: next(form for form in self.all('form') if 'Add a camera' in form.text))
        form.find_element(By.NAME, 'uri').send_keys('a b')
        form.find_element(By.CSS_SELECTOR, '.main').click()
        self.wait(lambda: 'uri: expected' in self.driver.find_element(By.ID, 'alert').text)
        uri = form.find_element(By.NAME, 'uri')
        uri.clear()
        uri.send_keys('rtsp://me:pass%2Fword@192.0.2.9/1')
        name = form.find_element(By.NAME, 'name')
        name.clear()
        name.send_keys('door')
        form.find_element(By.CSS_SELECTOR, '.main').click()
        card = self.find('article[aria-label=door]')
        self.assertIn('rtsp://192.0.2.9/1', card.text)
        self.assertNotIn('word', self.driver.page_source.replace('password', '').replace('Password', ''))
        card.find_element(By.TAG_NAME, 'summary').click()
        schedule = card.find_element(By.NAME, 'schedule')
        schedule.send_keys('mon-fri 08:00-18:00')
        seconds = card.find_element(By.NAME, 'static-time')
        seconds.clear()
        seconds.send_keys('7.5')
        self.click('Save', 'article[aria-label=door]')
        self.wait(lambda: 'schedule = mon-fri 08:00-18:00' in self.server.read_file())
        self.assertIn('static-time = 7.5', self.server.read_file())
        card = self.find('article[aria-label=door]')
        self.wait(lambda: self.all('article[aria-label=door] details:not([open])'))
        self.find('article[aria-label=door] summary').click()
        # A dialog would wait.
        self.driver.execute_script('window.confirm = () => true')
        self.click('Delete', 'article[aria-label=door]')
        self.wait(lambda: not self.all('article[aria-label=door]'))
        self.wait(lambda: 'webhook "example.org"' in self.text())
        self.wait(lambda: 'connection refused' in self.text())

    def test_labels(self):
        """Everything that can be used has a name, and nothing is wider than a phone."""
        phone = browser('de-DE', (360, 740))
        self.addCleanup(phone.quit)
        for screen in ('live', 'events', 'day', 'cameras', 'zones/yard'):
            phone.get('about:blank')
            phone.get(f'{self.server.uri}#{screen}')
            WebDriverWait(phone, 20).until(lambda d: len(d.find_element(By.TAG_NAME, 'main').text) > 40)
            self.assertEqual(phone.find_element(By.TAG_NAME, 'html').get_attribute('lang'), 'de')
            self.assertIn('Ereignisse', phone.find_element(By.TAG_NAME, 'nav').text)
            nameless = phone.execute_script('''
                return [...document.querySelectorAll('button, a, input, select, img, video, [role=img], [role=button]')]
                  .filter(e => !e.textContent.trim() && !e.getAttribute('aria-label') && !e.labels?.length && e.getAttribute('alt') === null)
                  .map(e => e.outerHTML)''')
            self.assertEqual(nameless, [], screen)
            self.assertLessEqual(phone.execute_script('return document.documentElement.scrollWidth'), 360, screen)
        # Text of the program is marked as English, and nothing else is.
        self.server.say('state hall 4 no route to 192.0.2.2')
        phone.get('about:blank')
        phone.get(f'{self.server.uri}#live')
        WebDriverWait(phone, 20).until(lambda d: 'no route' in d.find_element(By.CSS_SELECTOR, 'article[aria-label=hall] .veil').text)
        self.assertEqual([e.text for e in phone.find_elements(By.CSS_SELECTOR, '[lang=en]')], ['no route to 192.0.2.2'])
        self.assertIn('getrennt', phone.find_element(By.CSS_SELECTOR, 'article[aria-label=hall] .state').text)
        self.server.say('late hall 7')
        WebDriverWait(phone, 20).until(lambda d: d.find_element(By.CSS_SELECTOR, 'article[aria-label=hall] .veil').text
                                       == 'seit 7 Sekunden kein neues Bild; wenn das anhält, die Kamera neu starten')
        self.assertEqual(phone.find_elements(By.CSS_SELECTOR, '[lang=en]'), [])
        self.server.say('state hall 2 running')

    def test_login(self):
        server = Server('--token')
        self.addCleanup(server.stop)
        self.driver.get(server.uri)
        field = self.find('input[name=token]')
        field.send_keys('wrong' + Keys.ENTER)
        self.wait(lambda: 'the token is wrong' in self.driver.find_element(By.ID, 'alert').text)
        field.clear()
        field.send_keys('a-long-token' + Keys.ENTER)
        self.find('article[aria-label=yard]')
        self.assertEqual(self.driver.execute_script('return document.cookie'), '')
        self.driver.find_element(By.ID, 'logout').click()
        self.find('input[name=token]')
        self.driver.get('about:blank')

    def test_program_ends(self):
        server = Server()
        self.driver.get(server.uri)
        self.find('article[aria-label=yard]')
        server.stop()
        self.wait(lambda: 'does not answer' in self.driver.find_element(By.ID, 'alert').text)
        self.driver.get('about:blank')
        self.driver.get_log('browser')


def save_pictures():
    server = Server(*JPEG)
    if VIDEO:
        program = os.path.join(PICTURES, 'program')
        with open(program, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" = --output ] && out=$2; shift; done\n'
                       f'cp "{VIDEO[0]}" "$out"\n'
                       'echo \'{"objects":47,"recordings":1,"unreadable":0,"seconds":76,"jpeg":false}\'\n')
        os.chmod(program, 0o700)
        server.say(f'program {program}')
    server.say('lost hall rtsp://192.0.2.2/live')
    for label, language, size, dark in (('desk', 'en', (1280, 860), False), ('phone', 'de', (390, 844), False),
                                        ('german', 'de', (1280, 860), False), ('dark', 'en', (1280, 860), True)):
        driver = browser(language, size, dark)
        for screen in ('live', 'events', 'day', 'cameras', 'zones/yard'):
            driver.get('about:blank')
            driver.get(f'{server.uri}#{screen}')
            if screen == 'day' and VIDEO:
                time.sleep(3)
                driver.find_element(By.CSS_SELECTOR, '.synopsis .main').click()
                time.sleep(3)
                driver.execute_script('document.querySelector("video").currentTime = 10')
            save_picture(driver, os.path.join(PICTURES, f'{label}-{screen.split("/")[0]}.jpg'))
        driver.quit()
    server.stop()


if __name__ == '__main__':
    if PICTURES:
        save_pictures()
    else:
        unittest.main(verbosity=2)
