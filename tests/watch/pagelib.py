# Headless Chromium, for tests of pages and for their pictures in the documentation.
# SPDX-License-Identifier: LGPL-2.1-or-later

import base64
import shutil
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which('chromium')
DRIVER = shutil.which('chromedriver')


def browser(language='en', size=(1366, 1200), dark=False):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                     f'--lang={language}', f'--window-size={size[0]},{size[1]}', '--hide-scrollbars'):
        options.add_argument(argument)
    options.add_experimental_option('prefs', {'intl.accept_languages': language})
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    # A window is at least 500 pixels wide.
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                           {'width': size[0], 'height': size[1], 'deviceScaleFactor': 1, 'mobile': size[0] < 500})
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})
    driver.set_page_load_timeout(30)
    return driver


def save_picture(driver, path, seconds=3):
    """The page as wide as the window and up to half as high again, after so many seconds."""
    time.sleep(seconds)
    metrics = driver.execute_cdp_cmd('Page.getLayoutMetrics', {})
    width, height = (metrics['cssLayoutViewport'][f'client{side}'] for side in ('Width', 'Height'))
    height = max(height, min(metrics['cssContentSize']['height'], height * 3 // 2))
    clip = {'x': 0, 'y': 0, 'width': width, 'height': height, 'scale': 1}
    picture = driver.execute_cdp_cmd('Page.captureScreenshot', {
        'format': 'jpeg', 'quality': 80, 'clip': clip, 'captureBeyondViewport': True})
    with open(path, 'wb') as file:
        file.write(base64.b64decode(picture['data']))
