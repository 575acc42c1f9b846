#!/usr/bin/env python3
"""reference.py [--check] PAGE... [--dbname CONNINFO] [--binary LOCKSTEP]: writes the generated parts of docs/reference.

PAGE is log-events or metrics (from the sources), commands, configuration or api (from what --binary prints), or views and functions (from a
database with today's schema, which psql reads). Names, types, defaults, levels and signatures come from there; the columns behind them, the
meaning and what to do, are written by hand in the page and kept, but the meaning of metrics is in the sources, too. A new option has the meaning
of its --help; any other new row has "?", which --check refuses, as it refuses a page that is not what would be written, and an event of the level
error without what to do.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
FOLDERS = 'action advise base cli config console control db executor kafka metrics phaselock producer reader relay replay scheduler task'.split()
NO_EVENTS = {'queue'}  # a key in base/log.c


def log_events():
    found = {}
    for folder in FOLDERS:
        for name in sorted(glob.glob(os.path.join(ROOT, folder, '*.c'))):
            with open(name, encoding='utf-8') as file:
                text = file.read()
            for call in re.finditer(r'\blog_(?:event|err)\(\s*([^,;]*?),\s*([^;,]*?"[a-z_]+"[^;,]*)', text):
                level = re.findall(r'LOG_(\w+)', call[1])
                for event in re.findall(r'"([a-z_]+)"', call[2]):
                    found.setdefault(event, set()).update(word.lower() for word in level)
    return {'': [(f'`{event}`', ', '.join(sorted(levels)) or 'that of the message')
                 for event, levels in sorted(found.items()) if event not in NO_EVENTS]}


def query(dbname, sql):
    out = subprocess.run(['psql', '-X', '-q', '-At', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-d', dbname or '',
                          '-c', 'SET search_path = pg_catalog', '-c', sql],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split('\t') for line in out.splitlines()]


def views(dbname, sections):
    rows = {name: [] for name in sections}
    for view, column, kind in query(dbname, """
            SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'lockstep'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum"""):
        if view in rows:
            rows[view].append((f'`{column}`', kind))
    return rows


def functions(dbname, sections):
    rows = {name: [] for name in sections}
    have = {}
    for name, arguments, result in query(dbname, """
            SELECT p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid) FROM pg_proc p
             WHERE p.pronamespace = 'lockstep'::regnamespace ORDER BY p.proname"""):
        arguments = re.sub(r'::[a-z_. ]+(\[\])?', '', arguments).replace(' DEFAULT ', ' = ').replace('timestamp with time zone', 'timestamptz')
        taken = [part for part in arguments.split(', ') if not part.startswith('OUT ')]
        given = [part[4:] for part in arguments.split(', ') if part.startswith('OUT ')]
        have[name] = (f'`{name}({", ".join(taken)})`', ', '.join(given) or result.replace('timestamp with time zone', 'timestamptz'))
    for section, names in sections.items():
        rows[section] = [have.get(name, (f'`{name}`', 'there is no such function')) for name in names]
    return rows


def metrics():
    with open(os.path.join(ROOT, 'metrics', 'names.c'), encoding='utf-8') as file:
        text = file.read()
    rows = {'Counted by each process': [], 'Numbers of the installation': [], 'librdkafka': [], 'The process': []}
    for kind, name, rest in re.findall(r'^    (OWN|ALL|ALL_SINCE|PROCESS)\("(\w+)", ?((?:[^"]|"[^"]*")*?)\),$', text, re.M):
        parts = [''.join(re.findall('"([^"]*)"', part)) or part.strip() for part in re.findall(r'((?:"[^"]*"|[^",])+)', rest)]
        type_of = {'ALL': 'gauge', 'ALL_SINCE': 'counter'}.get(kind) or parts.pop(0).lower()
        labels = ', '.join(f'`{label}`' for label in parts[1:] if label != 'NULL')
        section = ('The process' if kind == 'PROCESS' else 'Numbers of the installation' if kind != 'OWN' else
                   'librdkafka' if name.startswith('kafka_') else 'Counted by each process')
        full = ('process_' if kind == 'PROCESS' else 'lockstep_') + name
        rows[section].append((f'`{full}`', type_of, labels, parts[0]))
    return rows


def printed(binary, *arguments):
    return subprocess.run([binary, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def options(binary, *words):
    """The options of a command as (how it is written, meaning)."""
    block = re.search(r'(?ms)^options\n(.*?)\n\n', printed(binary, 'help', *words))
    for short, name, value, meaning in re.findall(r'(?m)^  (-\w,)? *(--[\w-]+)((?: \S+)*)  +(.*)$', block[1] if block else ''):
        words = re.fullmatch(r'(.*): ([\w-]+(?:\|[\w-]+)+)', meaning)
        if words:
            meaning, value = words[1], ' ' + words[2]
        if ' ' in value[1:]:
            value = f" '{value[1:]}'"
        yield f'`{short} {name}{value}`'.replace('` ', '`').replace('|', '\\|'), meaning.replace('|', '\\|')


def commands(binary, sections):
    """Of each command its options in the order of --help; a new one has its meaning, too."""
    rows = {}
    for title in sections:
        words = re.match(r'[a-z]+( [a-z]+)?', title)
        if words:
            rows[title] = [(name,) if subject(name) in sections[title] else (name, meaning)
                           for name, meaning in options(binary, *words[0].split())]
    return rows


def configuration(binary, sections):
    rows = {}
    for key in json.loads(printed(binary, 'config', 'list', '-o', 'json')):
        kind = key['type'].replace('|', ', ') + (f' ({key["unit"]})' if key['unit'] else '')
        section = key['section'].replace('http:NAME', 'http:HOST')
        rows.setdefault(f'[{section}]', []).append((f'`{key["key"]}`', kind, key['default'] or ''))
    return {title: rows[title] for title in sections if title in rows}


TABLE = re.compile(r'(?m)^(\|[^\n]*\|\n\|[-|]+\|\n)((?:\|[^\n]*\|\n)*)')


def cells(line):
    return [cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip()[1:-1])]


def subject(cell):
    """What a row is about: `word`, `-w, --word VALUE`."""
    word = re.match(r'`(?:-\w, )?([-\w.*]+)', cell)
    return word[1] if word else cell


def rewrite(text, make):
    """The page with the rows of each section's first table made anew; the meanings stay."""
    parts = re.split(r'(?m)^(?=## )', text)
    titles = [re.match(r'## (.*)', part) for part in parts]
    tables = {title[1] if title else '': TABLE.search(part) for title, part in zip(titles, parts) if TABLE.search(part)}
    named = {title: [subject(cells(row)[0]) for row in table[2].splitlines()] for title, table in tables.items()}
    rows = make(named)
    for number, (title, part) in enumerate(zip(titles, parts)):
        table, fresh = TABLE.search(part), rows.get(title[1] if title else '')
        if not table or fresh is None:
            continue
        width = len(cells(table[1].split('\n')[0]))
        by_hand = {subject(cells(row)[0]): cells(row) for row in table[2].splitlines()}
        body = ''
        for row in fresh:
            known = by_hand.get(subject(row[0]), ['?'] * width)
            body += '| ' + ' | '.join((*row, *known[len(row):])) + ' |\n'
        parts[number] = part[:table.start()] + table[1] + body + part[table.end():]
    return ''.join(parts)


def api(text, binary):
    """docs/reference/api.md with the rows of its table of operations as the OpenAPI document has them."""
    document = json.loads(subprocess.run([binary, 'console', 'openapi'], check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = []
    for path, item in document['paths'].items():
        for method, operation in item.items():
            body = operation.get('requestBody', {}).get('content', {}).get('application/json', {}).get('schema', {})
            either = [name for one in body.get('oneOf', []) for name in one['required']]
            members = body.get('properties', {}) # with JSON Lines some of them are in the query
            takes = [(p['name'], p['required']) for p in operation.get('parameters', []) if p['in'] == 'query' and p['name'] not in members]
            takes += [(name, name in body.get('required', []) or name in either) for name in members]
            words = ', '.join(f'**`{name}`**' if needed else f'`{name}`' for name, needed in takes)
            who = operation['description'].removeprefix('For ').rstrip('.').removeprefix('lockstep_')
            rows.append(f'| `{method.upper()} {path[1:]}` | {who} | {operation["summary"]} | {words} |\n')
    return re.sub(r'(?m)(^\| operation \|[^\n]*\n\|[-|]+\|\n)(?:\|[^\n]*\n)*', lambda head: head[1] + ''.join(rows), text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('pages', nargs='+', choices=['log-events', 'metrics', 'commands', 'configuration', 'views', 'functions', 'api'])
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--dbname')
    parser.add_argument('--binary', default=os.path.join(ROOT, 'build/release/lockstep'))
    asked = parser.parse_args()
    wrong = []
    for page in asked.pages:
        make = {'log-events': lambda named: log_events(), 'metrics': lambda named: metrics(),
                'commands': lambda named: commands(asked.binary, named),
                'configuration': lambda named: configuration(asked.binary, named),
                'views': lambda named: views(asked.dbname, named), 'functions': lambda named: functions(asked.dbname, named), 'api': None}[page]
        name = os.path.join(ROOT, 'docs/reference', page + '.md')
        with open(name, encoding='utf-8') as file:
            old = file.read()
        new = api(old, asked.binary) if page == 'api' else rewrite(old, make)
        if not asked.check:
            with open(name, 'w', encoding='utf-8') as file:
                file.write(new)
        elif new != old:
            gone = [line for line in old.splitlines() if line not in new.splitlines()]
            wrong += [f'{page}.md: not as scripts/reference.py {page} writes it'] + gone
        for line in new.splitlines() if page != 'api' else []:
            by_hand = cells(line)[2:] if page == 'log-events' else cells(line)[-1:]
            if line.startswith('|') and ('?' in by_hand or by_hand[0] == '' or page == 'log-events' and cells(line)[1] == 'error' and by_hand[1] == ''):
                wrong.append(f'{page}.md: write the meaning of {cells(line)[0]}')
    print('\n'.join(wrong))
    return 1 if wrong else 0


sys.exit(main())
