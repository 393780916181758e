// cudaccl-watch - words of the page
// SPDX-License-Identifier: LGPL-2.1-or-later

const words = {
  en: {
    skip: 'To the content', live: 'Live', events: 'Events', day: 'Day', cameras: 'Cameras', logout: 'Log out', pages: 'Pages',
    away: 'The program does not answer. Is it running?', failed: 'That did not work.',
    token: 'Token', login: 'Log in', 'login-text': 'This page needs the token from the file that “token-file” names.',
    'no-cameras': 'There is no camera yet.', 'add-first': 'Add the first camera',
    off: 'off', connecting: 'connecting', running: 'running', frozen: 'frozen', lost: 'lost',
    since: 'since', moving: 'something moves', still: 'nothing moves', fps: 'pictures/s',
    inside: 'inside', in: 'in', out: 'out', enlarge: 'Enlarge', reduce: 'Reduce', 'edit-zones': 'Zones and lines',
    latest: 'Latest events', 'no-events': 'No events yet.', picture: 'Live picture of', 'no-picture': 'no picture',
    drawing: 'Zones and lines over the picture', corner: 'corner', 'zone-name': 'zone', 'line-name': 'line',
    'add-zone': 'Draw a zone', 'add-line': 'Draw a line', done: 'Done', turn: 'Turn the arrow', remove: 'Delete', save: 'Save', cancel: 'Cancel', name: 'Name',
    'draw-zone': 'Click the corners; click the first one again, or “Done”, to close the zone.',
    'draw-line': 'Draw a line from its start to its end.',
    'draw-none': 'Drag shapes and corners, or use Tab and the arrow keys; + adds a corner, Delete removes one.',
    saved: 'Saved.', back: '← Back',
    camera: 'Camera', kind: 'Kind', class: 'Class', zone: 'Zone', begin: 'From', end: 'Until', all: 'all', search: 'Search', more: 'More',
    what: 'Search for', tracks: 'Tracks', 'only-through': 'Tracks through a zone or over a line that you draw:', clear: 'Clear',
    found: 'found', none: 'Nothing found.', close: 'Close', play: 'Show', 'no-clip': 'The clip is still being recorded, or was removed.',
    'choose-camera': 'Choose a camera to draw over its picture.', seconds: 's',
    'k-motion': 'Motion', 'k-still': 'Still again', 'k-enter': 'Entered', 'k-leave': 'Left', 'k-dwell': 'Stays', 'k-in': 'Crossed in', 'k-out': 'Crossed out', 'k-lost': 'Camera lost', 'k-back': 'Camera back', track: 'Track',
    date: 'Date', whole: 'Whole picture', 'per-hour': 'Counts by hour', hour: 'Hour', 'day-text': 'Bars up: in; hatched bars down: out.', 'nothing-day': 'Nothing on this day.', appeared: 'appeared', vanished: 'vanished',
    synopsis: 'The day in three minutes', 'synopsis-text': 'A video of everything that moved on this day, from its clips: objects of different times appear together, each with its time.', make: 'Make the video', objects: 'objects', unreadable: 'clips could not be read', 'no-encoder': 'There is no encoder for H.264: browsers cannot play this video.', download: 'Download',
    add: 'Add a camera', uri: 'Address', 'uri-text': 'Such as rtsp://192.168.1.20/stream1, /dev/video0 or /home/me/video.mp4', user: 'User', password: 'Password', 'password-set': 'unchanged',
    find: 'Find cameras', finding: 'Searching for three seconds …', 'found-none': 'No cameras answered. Type the address: it is in the manual of the camera.', use: 'Use', 'found-text': 'The path after / depends on the camera: see its manual.',
    test: 'Test picture', testing: 'Waiting for a picture, up to 15 seconds …', 'add-it': 'Add', settings: 'Settings', enabled: 'Switched on', record: 'Record clips', detect: 'Recognise classes', schedule: 'Schedule', classes: 'Classes that count', 'schedule-text': 'Such as mon-fri 08:00-18:00; empty: always', 'classes-text': 'Such as person, car; empty: all',
    'record-uri': 'Address to record', 'record-uri-text': 'Empty: the same', 'frozen-after': 'Frozen after seconds', 'really-remove': 'Remove this camera? Its events stay.',
    sinks: 'Who is told', 'no-sinks': 'No broker, web hook or file is set in the file of settings.', connected: 'connected', disconnected: 'not connected', sent: 'sent', pending: 'waiting', dropped: 'dropped', refused: 'refused', storage: 'Storage', database: 'Database', media: 'Clips and pictures', of: 'of', program: 'Program', 'wrong-name': 'Letters, digits, - and _',
  },
  de: {
    skip: 'Zum Inhalt', live: 'Live', events: 'Ereignisse', day: 'Tag', cameras: 'Kameras', logout: 'Abmelden', pages: 'Seiten',
    away: 'Das Programm antwortet nicht. Läuft es?', failed: 'Das hat nicht geklappt.',
    token: 'Token', login: 'Anmelden', 'login-text': 'Diese Seite braucht das Token aus der Datei, die „token-file“ nennt.',
    'no-cameras': 'Es gibt noch keine Kamera.', 'add-first': 'Die erste Kamera hinzufügen',
    off: 'aus', connecting: 'verbindet', running: 'läuft', frozen: 'eingefroren', lost: 'getrennt',
    since: 'seit', moving: 'etwas bewegt sich', still: 'nichts bewegt sich', fps: 'Bilder/s',
    inside: 'darin', in: 'ein', out: 'aus', enlarge: 'Vergrößern', reduce: 'Verkleinern', 'edit-zones': 'Zonen und Linien',
    latest: 'Neueste Ereignisse', 'no-events': 'Noch keine Ereignisse.', picture: 'Livebild von', 'no-picture': 'kein Bild',
    drawing: 'Zonen und Linien über dem Bild', corner: 'Ecke', 'zone-name': 'Zone', 'line-name': 'Linie',
    'add-zone': 'Zone zeichnen', 'add-line': 'Linie zeichnen', done: 'Fertig', turn: 'Pfeil umdrehen', remove: 'Löschen', save: 'Speichern', cancel: 'Abbrechen', name: 'Name',
    'draw-zone': 'Die Ecken anklicken; die erste noch einmal oder „Fertig“ schließt die Zone.',
    'draw-line': 'Eine Linie vom Anfang zum Ende ziehen.',
    'draw-none': 'Formen und Ecken ziehen, oder mit Tab und Pfeiltasten; + fügt eine Ecke ein, Entf löscht sie.',
    saved: 'Gespeichert.', back: '← Zurück',
    camera: 'Kamera', kind: 'Art', class: 'Klasse', zone: 'Zone', begin: 'Von', end: 'Bis', all: 'alle', search: 'Suchen', more: 'Mehr',
    what: 'Suchen nach', tracks: 'Spuren', 'only-through': 'Spuren durch eine Zone oder über eine Linie, die Sie zeichnen:', clear: 'Leeren',
    found: 'gefunden', none: 'Nichts gefunden.', close: 'Schließen', play: 'Zeigen', 'no-clip': 'Der Clip wird noch aufgenommen oder wurde gelöscht.',
    'choose-camera': 'Wählen Sie eine Kamera, um über ihr Bild zu zeichnen.', seconds: 's',
    'k-motion': 'Bewegung', 'k-still': 'Wieder still', 'k-enter': 'Betreten', 'k-leave': 'Verlassen', 'k-dwell': 'Bleibt', 'k-in': 'Hinein', 'k-out': 'Hinaus', 'k-lost': 'Kamera weg', 'k-back': 'Kamera zurück', track: 'Spur',
    date: 'Datum', whole: 'Ganzes Bild', 'per-hour': 'Zahlen je Stunde', hour: 'Stunde', 'day-text': 'Balken nach oben: ein; schraffiert nach unten: aus.', 'nothing-day': 'Nichts an diesem Tag.', appeared: 'erschienen', vanished: 'verschwunden',
    synopsis: 'Der Tag in drei Minuten', 'synopsis-text': 'Ein Video von allem, was sich an diesem Tag bewegt hat, aus seinen Clips: Objekte verschiedener Zeiten erscheinen zusammen, jedes mit seiner Uhrzeit.', make: 'Video erstellen', objects: 'Objekte', unreadable: 'Clips waren nicht lesbar', 'no-encoder': 'Es gibt keinen Encoder für H.264: Browser können dieses Video nicht abspielen.', download: 'Herunterladen',
    add: 'Kamera hinzufügen', uri: 'Adresse', 'uri-text': 'Etwa rtsp://192.168.1.20/stream1, /dev/video0 oder /home/ich/video.mp4', user: 'Benutzer', password: 'Passwort', 'password-set': 'unverändert',
    find: 'Kameras suchen', finding: 'Suche, drei Sekunden …', 'found-none': 'Keine Kamera hat geantwortet. Geben Sie die Adresse ein: Sie steht im Handbuch der Kamera.', use: 'Nehmen', 'found-text': 'Der Pfad nach / hängt von der Kamera ab: siehe ihr Handbuch.',
    test: 'Testbild', testing: 'Warte auf ein Bild, bis zu 15 Sekunden …', 'add-it': 'Hinzufügen', settings: 'Einstellungen', enabled: 'Eingeschaltet', record: 'Clips aufnehmen', detect: 'Klassen erkennen', schedule: 'Zeitplan', classes: 'Klassen, die zählen', 'schedule-text': 'Etwa mon-fri 08:00-18:00; leer: immer', 'classes-text': 'Etwa person, car; leer: alle',
    'record-uri': 'Adresse für Aufnahmen', 'record-uri-text': 'Leer: dieselbe', 'frozen-after': 'Eingefroren nach Sekunden', 'really-remove': 'Diese Kamera entfernen? Ihre Ereignisse bleiben.',
    sinks: 'Wer davon erfährt', 'no-sinks': 'In der Datei der Einstellungen steht kein Broker, Webhook und keine Datei.', connected: 'verbunden', disconnected: 'nicht verbunden', sent: 'gesendet', pending: 'warten', dropped: 'verworfen', refused: 'abgelehnt', storage: 'Speicher', database: 'Datenbank', media: 'Clips und Bilder', of: 'von', program: 'Programm', 'wrong-name': 'Buchstaben, Ziffern, - und _',
  },
};

export const language = (navigator.language || 'en').startsWith('de') ? 'de' : 'en';

export function t(key) {
  return words[language][key] ?? words.en[key] ?? key;
}

export function translate(root) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll('[data-t]'))
    element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll('[data-label]'))
    element.setAttribute('aria-label', t(element.dataset.label));
}
