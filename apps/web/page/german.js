// cudaccl-watch - what the program says most often, in German
// SPDX-License-Identifier: LGPL-2.1-or-later

// As in apps/watch/camera/errors.c and camera.c; * stands for any text.
const phrases = {
  'the camera refuses the user or password; check `credentials`': 'die Kamera lehnt Benutzer oder Passwort ab',
  'the camera does not allow this user to see the stream (403)': 'die Kamera zeigt diesem Benutzer den Stream nicht (403)',
  'the camera has no such stream (404); check the path in `uri`': 'die Kamera hat keinen solchen Stream (404); stimmt der Pfad der Adresse?',
  'the camera is connected, but sends no picture; check the path in `uri`': 'die Kamera ist verbunden, sendet aber kein Bild; stimmt der Pfad der Adresse?',
  'the camera ended the stream': 'die Kamera hat den Stream beendet',
  'the source hangs and cannot be stopped; check the device, or restart cudaccl-watch':
    'die Quelle hängt und lässt sich nicht beenden; prüfen Sie das Gerät, oder starten Sie cudaccl-watch neu',
  'the file has ended; `loop = true` repeats it': 'die Datei ist zu Ende; `loop = true` wiederholt sie',
  'the file has no frames that can be decoded': 'die Datei hat keine Bilder, die decodiert werden können',
  'the video has a format that cannot be analysed': 'das Video hat ein Format, das nicht ausgewertet werden kann',
  'the camera ended the session': 'die Kamera hat die Sitzung beendet',
  'the camera is busy (503): perhaps it serves no more viewers': 'die Kamera ist ausgelastet (503): vielleicht lässt sie keine weiteren Zuschauer zu',
  'the camera cannot send over TCP; try rtspu:// instead of rtsp://': 'die Kamera kann nicht über TCP senden; versuchen Sie rtspu:// statt rtsp://',
  'nothing answers at this address and port; is the camera on?': 'an dieser Adresse und diesem Port antwortet nichts; ist die Kamera eingeschaltet?',
  'there is no way to this address; check the network and the address': 'zu dieser Adresse führt kein Weg; stimmen Netzwerk und Adresse?',
  'there is no way to this address; check the network': 'zu dieser Adresse führt kein Weg; ist das Netzwerk verbunden?',
  'the camera does not answer; is it on, and in this network?': 'die Kamera antwortet nicht; ist sie eingeschaltet und in diesem Netzwerk?',
  'there is no machine of this name; check the address': 'es gibt kein Gerät dieses Namens; stimmt die Adresse?',
  'the connection is not secure: its certificate is not valid; use rtsp:// or http:// in a network that you trust':
    'die Verbindung ist nicht sicher: ihr Zertifikat ist ungültig; in einem vertrauenswürdigen Netzwerk geht rtsp:// oder http://',
  'the certificate of the camera is not valid': 'das Zertifikat der Kamera ist ungültig',
  'the camera closed the connection': 'die Kamera hat die Verbindung beendet',
  'the connection to the camera broke': 'die Verbindung zur Kamera ist abgebrochen',
  'there is no such file or device': 'es gibt diese Datei oder dieses Gerät nicht',
  'the file or device may not be read; check its permissions': 'die Datei oder das Gerät darf nicht gelesen werden; stimmen die Rechte?',
  'another program uses the device': 'ein anderes Programm benutzt das Gerät',
  'there is no decoder for *; install the package gstreamer1.0-libav, or choose another codec, such as H.264, in the camera\'s settings':
    'für * gibt es keinen Decoder; installieren Sie das Paket gstreamer1.0-libav, oder wählen Sie in der Kamera einen anderen Codec, etwa H.264',
  'no new picture for * seconds; if this lasts, restart the camera': 'seit * Sekunden kein neues Bild; wenn das anhält, die Kamera neu starten',
  'the picture has been the same for * seconds; if this lasts, restart the camera':
    'seit * Sekunden das gleiche Bild; wenn das anhält, die Kamera neu starten',
  'only H.264 and H.265 can be recorded, and this is *': 'nur H.264 und H.265 können aufgenommen werden, und dies ist *',
  'connecting to *': 'verbindet mit *',
  'the token is wrong': 'das Token ist falsch',
  'too many wrong tokens: wait a minute': 'zu viele falsche Tokens: eine Minute warten',
};

const patterns = Object.entries(phrases).map(([english, german]) =>
  [new RegExp(`^${english.replace(/[.()?]/g, '\\$&').replace('*', '(.*)')}$`), german]);

// Returns the text in German, perhaps behind an address as in English, or null if it is not known.
export function toGerman(text) {
  const [, address, words] = /^(\S+: )?(.*)$/s.exec(text);
  for (const [pattern, german] of patterns)
    for (const [before, rest] of [['', text], [address, words]]) {
      const found = before !== undefined && pattern.exec(rest);
      if (found)
        return before + german.replace('*', () => found[1]);
    }
  return null;
}
