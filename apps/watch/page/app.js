// cudaccl-watch - the page
// SPDX-License-Identifier: LGPL-2.1-or-later

import {showCameras} from './cameras.js';
import {showDay} from './day.js';
import {showEditor} from './editor.js';
import {showEvents} from './events.js';
import {showLive} from './live.js';
import {start} from './shell.js';

start({live: showLive, events: showEvents, day: showDay, cameras: showCameras, zones: showEditor});
