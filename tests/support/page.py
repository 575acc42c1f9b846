#!/usr/bin/env python3
"""page.py PAGE: writes a bash script that runs a page of the documentation as it is printed.

What is run: each block of a page that is fenced as ```sh, in their order and in one shell, and what stands in a comment <!-- test ... -->, which is
what a reader has and a test must make. "```sh exit=N" says that its last command ends with N. A block fenced as ```text behind such a block is its
output: each of its lines is there, with any number for a number and any id for an id; a line of ... stands for what is left out.
A page without a block that is run is an error, and so is a comment of a test that does not end on a line of its own: it would be left out. `page.py --self-test` tests itself.
"""
import re
import sys

BLOCK = re.compile(r'(?ms)^(?P<margin> *)```(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=margin)```$|^<!-- test\n(?P<hidden>.*?)^-->$')


def blocks(text):
    """(line, kind, exit code, body): kind is run or output."""
    for found in BLOCK.finditer(text):
        line = text.count('\n', 0, found.start()) + 1
        if found['hidden'] is not None:
            yield line, 'run', 0, found['hidden']
            continue
        body = re.sub('(?m)^' + found['margin'], '', found['body'])
        if found['info'] == 'text':
            yield line, 'output', 0, body
        else:
            words = re.fullmatch(r'sh(?: exit=(\d+))?', found['info'])
            if words:
                yield line, 'run', int(words[1] or 0), body


def unclosed(text):
    """Lines at which a comment of a test begins that is none of the blocks."""
    begun = {text.count('\n', 0, found.start()) + 1 for found in re.finditer(r'(?m)^[ \t]*<!--[ \t]*test\b', text)}
    return sorted(begun - {text.count('\n', 0, found.start()) + 1 for found in BLOCK.finditer(text) if found['hidden'] is not None})


def pattern(line):
    """An extended regular expression for one line of output."""
    line = re.sub(r'\b[0-9a-f]{8}-[0-9a-f-]{27}\b', '\x01', line.strip())
    line = re.sub(r'\b[0-9a-f]{8}\b(?=.*[0-9a-f])', lambda m: '\x02' if re.search(r'\d', m[0]) else m[0], line)
    line = re.sub(r'\d+', '\x03', line)
    line = re.sub(r'[][\\.^$*+?(){}|]', lambda m: '[' + m[0] + ']' if m[0] not in '^\\[]' else '\\' + m[0], line)
    line = line.replace('\x01', '[0-9a-f-]{36}').replace('\x02', '[0-9a-f]{8}').replace('\x03', '[0-9]+')
    return re.sub(r'[ \t]+', '[[:space:]]+', line)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def script(page, text):
    lines, ran = ['set -eu -o pipefail'], 0
    for line in unclosed(text):
        raise SystemExit(f'page.py: {page}:{line}: the comment of a test has no line --> of its own')
    for line, kind, code, body in blocks(text):
        if kind == 'run':
            ran += 1
            lines.append(f'page_at {quoted(page)} {line}')
            if code:
                lines += ['set +e', body.rstrip('\n'), 'page_status=$?', 'set -e', f'page_ended "$page_status" {code}']
            else:
                lines.append(body.rstrip('\n'))
        elif ran:
            for expected in body.splitlines():
                if expected.strip() not in ('', '...'):
                    lines.append(f'page_says {quoted(pattern(expected))} {quoted(expected)}')
    if not ran:
        raise SystemExit(f'page.py: {page} has no block that is run')
    return '\n'.join(lines + ['page_done']) + '\n'


def self_test():
    page = 'a\n```sh\ntrue\n```\n```text\nrun 3f2a  2.5 s\n...\n```\n<!-- test\nhidden\n-->\n```sh exit=1\nfalse\n```\n```\nshown\n```\n1. a\n\n   ```sh\n   cat <<E\n   E\n   ```\n'
    assert [block[:3] for block in blocks(page)] == [(2, 'run', 0), (5, 'output', 0), (9, 'run', 0), (12, 'run', 1), (20, 'run', 0)]
    assert pattern('took 2.5 s') == 'took[[:space:]]+[0-9]+[.][0-9]+[[:space:]]+s'
    made = script('p', page)
    assert '\ncat <<E\nE\n' in made and 'hidden' in made and 'shown' not in made and 'page_ended "$page_status" 1' in made
    for refused in ('```\nnothing\n```\n', page + '<!-- test\nleft out -->\n', page + ' <!-- test\nindented\n-->\n'):
        try:
            script('p', refused)
        except SystemExit:
            continue
        raise AssertionError('accepted: ' + refused)


if sys.argv[1] == '--self-test':
    self_test()
else:
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(script(sys.argv[1], file.read()))
