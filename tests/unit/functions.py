#!/usr/bin/env python3
"""The functions of sql/functions and sql/api keep their form: a body has fewer than 120 lines, a function has fewer than 12 parameters, the path is
pinned where docs/explanation/decisions.md says ("search_path"), and the statuses that count as finished are listed once. A statement that calls one
with four arguments or more names them. And this check itself notices each of these. tests/sql/definer.sql looks into the bodies of those that are not pinned.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BODY, PARAMETERS = 120, 12
# forecast_agent takes a row of SQL Server Agent's sysschedules, column by column.
MANY_PARAMETERS = {'forecast_agent'}
# They run for each task or at each barrier: every name and operator in them is qualified instead.
UNPINNED = {'complete', 'step_done', 'definitions_changed', 'event_logged', 'event_of_phase'}
PIN = 'SET search_path = pg_catalog, pg_temp'
FINISHED = {'Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted'}
UNFINISHED = {'Pending', 'Processing', 'Error', 'Paused'}
FAILED = {'Failed', 'Terminated', 'PartiallyCompleted'}
LISTS = (FINISHED, UNFINISHED, FAILED, FAILED | {'Cancelled'}, {'Pending', 'Error'}, {'Pending', 'Processing', 'Error'}, {'Pending', 'Error', 'Paused'},
         {'Failed', 'Cancelled', 'Terminated'})
HAVE_LISTS = ['sql/api/is_failed.sql', 'sql/api/is_finished.sql', 'sql/api/is_processable.sql', 'sql/functions/task/frees_key.sql',
              'sql/functions/task/is_ownable.sql', 'sql/functions/task/is_unstarted.sql']


def parameters(text):
    """The parameters in a list of parameters that the caller gives."""
    depth, parts = 0, ['']
    for c in re.sub(r'--[^\n]*', '', text):
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += c
    return [part for part in map(str.strip, parts) if part and not part.startswith('OUT ')]


def split(text):
    """The name, the parameters, the options and the body of the function that a file makes."""
    start = re.search(r'(?m)^CREATE OR REPLACE FUNCTION lockstep\.(\w+)\(', text)
    depth, at = 1, start.end()
    while depth:
        depth += {'(': 1, ')': -1}.get(text[at], 0)
        at += 1
    body = text.find('AS $$\n', at)
    if body < 0:
        sys.exit(f'functions: {start[1]} has no body between AS $$ and $$, each at the end or the beginning of a line')
    end = text.index('\n$$', body)
    return start[1], parameters(text[start.end():at - 1]), text[at:body], text[body + len('AS $$\n'):end]


def wrong(text):
    name, given, options, body = split(text)
    lines = body.count('\n') + 1
    if lines >= BODY:
        yield f'{lines} lines: give what is rare a function of its own'
    if len(given) >= PARAMETERS and name not in MANY_PARAMETERS:
        yield f'{len(given)} parameters'
    judges = 'SECURITY DEFINER' in options or 'RETURNS trigger' in options
    if judges and name not in UNPINNED and PIN not in options:
        yield f'it has the rights of its owner, or is a trigger, and needs {PIN}'
    if 'search_path' in options and (not judges or name in UNPINNED or PIN not in options):
        yield f'only {PIN}, and only where a function has the rights of its owner or is a trigger'
    bare = re.sub(r"--[^\n]*|'[^']*'", "''", body)
    if PIN in options and 'pg_catalog.' in bare:
        yield 'its path is pinned: pg_catalog. is not needed'


def listed(text):
    """Lists of statuses that have a function."""
    for found in re.findall(r"\bIN \((?:'\w+'(?:, )?)+\)|'\{\w+(?:,\w+)+\}'", re.sub(r'--[^\n]*', '', text)):
        found = found.removeprefix('IN ')
        if set(re.findall(r'\w+', found)) in LISTS:
            yield found


MOST_UNNAMED = 3


def by_position(text):
    """The functions that a statement calls with more arguments than MOST_UNNAMED and without their names."""
    bare = re.sub(r"--[^\n]*|'[^']*'", "''", text)
    for call in re.finditer(r'\blockstep\.(\w+)\(', bare):
        depth, at, commas = 1, call.end(), 0
        while depth and at < len(bare):
            depth += (bare[at] in '([') - (bare[at] in ')]')
            commas += bare[at] == ',' and depth == 1
            at += 1
        if commas >= MOST_UNNAMED and '=>' not in bare[call.end():at]:
            yield call[1]


def check(text, expected):
    said = ' '.join(wrong(text))
    if expected not in said or (not expected and said):
        sys.exit(f'functions: the check says "{said}" and not "{expected}" of\n{text[:300]}')


def made(options='LANGUAGE plpgsql', body='BEGIN\nEND', given='a int'):
    return f'CREATE OR REPLACE FUNCTION lockstep.f({given}) RETURNS void {options} AS $$\n{body}\n$$;\n'


check(made(), '')
check(made(body='\n' * 118), '')
check(made(body='\n' * 119), '120 lines')
check(made(given='a int DEFAULT left(1, 2), OUT b int, ' * 11 + 'OUT c int'), '')
check(made(given=', '.join(['a numeric(1, 2)'] * 12)), '12 parameters')
check(made('SECURITY DEFINER'), 'needs SET search_path')
check(made('SECURITY DEFINER ' + PIN), '')
check(made('SECURITY DEFINER SET search_path = public'), 'needs SET search_path')
check(made(PIN), 'only SET search_path')
check(made('SECURITY DEFINER ' + PIN, 'pg_catalog.now()'), 'not needed')
finished, failed, other = [list(listed(f'status IN ({members})')) for members in (
    "'Failed', 'Completed', 'Cancelled', 'PartiallyCompleted', 'Terminated'", "'Terminated', 'Failed', 'PartiallyCompleted'", "'Failed', 'Completed'")]
if not finished or not failed or other:
    sys.exit('functions: the check does not notice a list of statuses')
assert list(listed("$4 <@ '{Failed,Terminated,PartiallyCompleted}'")) and not list(listed("$4 <@ '{Running,Paused}'"))

assert list(by_position('SELECT lockstep.f(1, 2, g(3, 4, 5)), lockstep.h(1, 2, 3, $4)')) == ['h']
assert not list(by_position('SELECT lockstep.h(p_a => 1, p_b => 2, p_c => 3, p_d => 4)'))

bad, files = [], sorted(glob.glob('sql/functions/*/*.sql') + glob.glob('sql/api/*.sql'))
for path in files:
    with open(path, encoding='utf-8') as file:
        bad += [f'{path}: {what}' for what in wrong(file.read())]
lists = [path for path in sorted(glob.glob('sql/*/*.sql') + glob.glob('sql/functions/*/*.sql')) if not path.startswith('sql/migrations/')
         for _ in listed(open(path, encoding='utf-8').read())]
if lists != HAVE_LISTS:
    bad.append(f'use the functions of {" ".join(HAVE_LISTS)} instead of a list of statuses: {" ".join(sorted(set(lists) - set(HAVE_LISTS)))}')
for path in sorted(glob.glob('sql/*/*.sql')):
    folder = path.split('/')[1]
    if folder in ('migrations', 'functions', 'api', 'views'):
        continue
    with open(path, encoding='utf-8') as file:
        called = list(by_position(file.read()))
    if called:
        bad.append(f'{path}: names the arguments of {", ".join(called)}: p_name => $1')
print('\n'.join(bad) or f'functions: {len(files)} have the form')
sys.exit(1 if bad or len(files) < 200 else 0)
