"""Turns a file into a C string: embed.py INPUT OUTPUT NAME"""

import sys

source, header, name = sys.argv[1:4]
with open(source, encoding='utf-8') as file:
    lines = file.read().splitlines()
with open(header, 'w', encoding='utf-8') as file:
    file.write(f'static const char {name}[] =')
    for line in lines:
        escaped = line.replace('\\', '\\\\').replace('"', '\\"')
        file.write(f'\n  "{escaped}\\n"')
    file.write(';\n')
