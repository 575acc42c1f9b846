#!/usr/bin/env python3
"""A line of SQL, shell or Markdown has at most 120 columns, except a row of a table and a line with a URL. tests/unit/widths.txt lists the
files that have longer lines, with their number, which may only fall: `tests/unit/widths.py --lower` writes the numbers that have fallen.
And this check itself notices one line too many, and a number that is too large.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import ratchet

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
LIST = 'tests/unit/widths.txt'
MOST = 120
SUFFIXES = ('.sql', '.sh', '.bash', '.bats', '.md')
WRITTEN = ('sql/schema.sql',)  # by ./dev schema


def files():
    """What git tracks, or all where this is no checkout."""
    if os.path.exists('.git'):
        return subprocess.run(['git', 'ls-files'], capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for folder, folders, names in os.walk('.'):
        folders[:] = [name for name in folders if not name.startswith('.') and name != 'build']
        found += [os.path.normpath(os.path.join(folder, name)) for name in names]
    return found


def is_shell(path):
    """A script without a suffix says so in its first line."""
    if '.' in os.path.basename(path):
        return False
    with open(path, 'rb') as file:
        return re.match(rb'#!.*\b(ba)?sh\b', file.readline()) is not None


def long_lines(path, text):
    return sum(len(line) > MOST and '://' not in line and not (path.endswith('.md') and line.startswith('|'))
               for line in text.splitlines())


def self_test():
    assert long_lines('a.sql', 'x' * 120 + '\n' + 'x' * 121) == 1
    assert long_lines('a.md', '| ' + 'x' * 121 + '\n' + 'x' * 121 + ' https://a.b') == 0
    assert long_lines('a.sh', 'é' * 120) == 0
    ratchet.self_test()


def main():
    self_test()
    counted, seen = {}, 0
    for path in files():
        if path in WRITTEN or not os.path.isfile(path) or not (path.endswith(SUFFIXES) or is_shell(path)):
            continue
        seen += 1
        with open(path, encoding='utf-8') as file:
            count = long_lines(path, file.read())
        if count:
            counted[path] = count
    assert seen > 1000, f'only {seen} files were looked at'
    listed = ratchet.read(LIST)
    if sys.argv[1:] == ['--lower']:
        ratchet.lower(LIST, listed, counted)
        return 0
    wrong = list(ratchet.judge(listed, counted, f'lines of more than {MOST} columns', 'tests/unit/widths.py'))
    print('\n'.join(wrong) or f'widths: {seen} files, {sum(counted.values())} lines of {len(counted)} are longer')
    return 1 if wrong else 0


sys.exit(main())
