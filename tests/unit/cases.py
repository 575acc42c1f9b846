#!/usr/bin/env python3
"""Each script of tests/e2e reports cases: it begins with what the scripts share, names each case in a sentence, and ends with cases_end and
exit $failed; it has no trap of its own. A script that only runs another one is judged by that one. SQL of more than four lines is a
here-document. And this check itself notices each kind."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGINS = re.compile(r'^\. "\$\(dirname "\$0"\)/\.\./support/(begin|e2e|own_servers)\.bash"$', re.M)
RUNS = re.compile(r'^exec "\$\(dirname "\$0"\)/(\S+)"', re.M)
CASE = re.compile(r'^ *(?:case_begin|case_of|situation) (\'[^\']*\'(?:\\\'\'[^\']*\')*|"(?:[^"\\]|\\.)*")', re.M)
BANNED = re.compile(r"\b(told|tells?|nobody|somebody|anew|stands?(?! still)|beside (?:live|claims|the)|gives? back|goes? on)\b")
TRAP = re.compile(r'^ *trap .* EXIT$', re.M)
ENDS = re.compile(r'\ncases_end\n(\[ \$failed = 0 \] \|\|[^\n]*\n(?: {4}[^\n]*\n)*)?exit \$failed\n\Z')
SQL = re.compile(r'\bsql (["\'])')


def closing(text, at, quote):
    """Where the string that begins at `at` ends."""
    depth = 0
    while at < len(text):
        if quote == '"' and text[at] == '\\':
            at += 1
        elif quote == '"' and text.startswith('$(', at):
            depth += 1
            at += 1
        elif depth and text[at] == '(':
            depth += 1
        elif depth and text[at] == ')':
            depth -= 1
        elif not depth and text[at] == quote:
            break
        at += 1
    return at


def long_sql(text):
    """The lines in which a string of more than four lines of SQL begins."""
    return [
        text.count('\n', 0, found.start()) + 1
        for found in SQL.finditer(text)
        if text.count('\n', found.start(), closing(text, found.end(), found[1])) > 3
    ]


def wrong(name, text, read):
    """What is wrong with a script; `read` gives the text of another one."""
    said = [f'{name}:{line}: SQL of more than four lines is a here-document' for line in long_sql(text)]
    runs = RUNS.search(text)
    if runs:
        text = read(runs[1])
    elif not BEGINS.search(text):
        said.append(f'{name}: it begins with tests/support/e2e.bash, begin.bash or own_servers.bash')
    if not runs and TRAP.search(text):
        said.append(f'{name}: what is to be undone at its end is in e2e_leave and e2e_roles, not in a trap')
    cases = [case for case in CASE.findall(text) if case != '"$1"']
    if not cases:
        said.append(f'{name}: it has no case')
    said += [f'{name}: a case is named in a sentence: {case}' for case in cases if len(case.split()) < 4 or case[-2] == '.']
    said += [f'{name}: a case has a word that unit.english does not use: {case}' for case in cases if BANNED.search(case)]
    if runs and '\ncases_end\n' not in text or not runs and not ENDS.search(text):
        said.append(f'{name}: it ends with cases_end, what it prints of a failure, and exit $failed')
    return said


def self_test():
    begin = '. "$(dirname "$0")/../support/e2e.bash"\n'
    good = begin + "case_begin 'what holds is a sentence'\nsql \"SELECT $(sql 'SELECT 1'),\n    2\"\ncases_end\nexit $failed\n"
    other = {'other.sh': "case_begin 'what holds is a sentence'\ncases_end\n", 'none.sh': 'exit 0\n'}
    assert not wrong('x', good, None)
    assert not wrong('x', good.replace('exit', '[ $failed = 0 ] || cat "$tmp/log"\nexit'), None)
    assert not wrong('x', good.replace('exit', '[ $failed = 0 ] || cat "$tmp/log" |\n    tail\nexit'), None)
    assert not wrong('x', good.replace('2"', '\n\n2"'), None)
    assert not wrong('x', 'exec "$(dirname "$0")/other.sh" --all\n', other.get)
    for text in (
        good.replace(begin, ''),
        good.replace('case_begin', 'echo'),
        good.replace('what holds is a sentence', 'a point'),
        good.replace('sentence', 'sentence.'),
        good.replace('is a sentence', 'tells a sentence'),
        good.replace('cases_end\n', ''),
        good.replace('exit $failed\n', ''),
        good.replace('cases_end\n', 'cases_end\necho more\n'),
        good.replace('2"', '\n\n\n2"'),
        good.replace('cases_end\n', 'trap leave EXIT\ncases_end\n'),
        'exec "$(dirname "$0")/none.sh" --all\n',
    ):
        assert wrong('x', text, other.get), text


self_test()
scripts = sorted(ROOT.glob('tests/e2e/*.sh'))
problems = []
for path in scripts + sorted(ROOT.glob('tests/e2e/*.bash')):
    text, name = path.read_text(encoding='utf-8'), path.relative_to(ROOT)
    if path.suffix == '.sh':
        problems += wrong(name, text, lambda other: (ROOT / 'tests/e2e' / other).read_text(encoding='utf-8'))
    else:
        problems += [f'{name}:{line}: SQL of more than four lines is a here-document' for line in long_sql(text)]
print('\n'.join(f'cases.py: {problem}' for problem in problems) or f'cases.py: {len(scripts)} scripts report cases')
sys.exit(bool(problems) or len(scripts) < 80)
