#!/usr/bin/env python3
# cudaccl-watch - tests: secrets are compared in constant time
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a comparison ends early, its time tells how much of a guess is right: the server compares secrets in
one place, and digests only."""

import pathlib
import re
import sys

FOLDERS = ('apps/web', 'apps/watch/http', 'apps/watch/onvif', 'apps/collect')
COMPARISON = re.compile(r'\b(?:g_)?(?:str_?n?(?:case)?(?:cmp0?|equal|has_prefix)|ascii_strn?casecmp|memcmp|bcmp)'
                        r' *\(([^;{}]*)')
SECRET = re.compile(r'\b(?:\w+(?:->|\.|_))?(?:token|password|secret|given|response|digest|right|cookies?)\b')
# Comparisons with what is no secret.
KNOWN = {
    '(token, name)': "ONVIF's names of recordings are called tokens",
    '(given, redacted)': 'addresses without their secrets',
}


def strip(text):
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def find(text):
    """Returns the comparisons of secrets in the source."""
    found = []
    for match in COMPARISON.finditer(text):
        line = text[text.rfind('\n', 0, match.start()) + 1:].split('\n', 1)[0]
        arguments = re.sub(r'"[^"]*"', '', match.group(1).split(')')[0])
        if SECRET.search(arguments) and not any(known in line for known in KNOWN):
            found.append(line.strip())
    return found


def main(root):
    # The pattern finds what it should.
    assert find('if (g_str_equal (token, given))') and find('!memcmp (self->digest, b, 32)')
    assert find('  return g_strcmp0 (call->settings->onvif_password,\n text) == 0;')
    assert not find('if (g_str_equal (name, "password"))')

    failures = [f'{path}: {line}' for folder in FOLDERS for path in sorted((root / folder).rglob('*.c'))
                for line in find(strip(path.read_text()))]
    auth = strip((root / 'apps/web/auth.c').read_text())
    equal = re.search(r'\nweb_auth_equal \(.*?\n}\n', auth, re.S).group()
    loop = equal[equal.index('for ('):]
    if re.search(r'\b(if|break|goto|while)\b|&&|\|\||\?', loop) or loop.count('return') != 1:
        failures.append('apps/web/auth.c: web_auth_equal() ends early')
    if not re.search(r'digest \(right, \w+\);\s+digest \(given, \w+\);\s+return \w+ \([^;]*\bweb_auth_equal \(', auth):
        failures.append('apps/web/auth.c: web_auth_check_secret() compares no digests')
    print('\n'.join(failures) or 'secrets are compared in constant time')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
