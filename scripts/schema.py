#!/usr/bin/env python3
"""schema.py [--check] CONNINFO: writes sql/schema.sql, what the migrations and views add up to.

CONNINFO is a database with today's schema. pg_dump tells what is in it; this puts together what belongs to one table and sorts the rest by name, so that
neither the order of the migrations nor the login that applied them shows. pg_dump and psql are those beside $LOCKSTEP_TEST_PGBIN, or in PATH. With --check
the file is compared; the difference goes to stdout and the exit code is 1.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys

FILE = 'sql/schema.sql'
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
MAJOR = 15  # of the server whose words are compared
HEAD = """-- The schema lockstep, as sql/migrations and sql/views add up to it. Written by ./dev schema, compared by the test db.migrate, applied by nobody.
-- A view is shown by its columns. Functions are in sql/functions and sql/api; roles in sql/migrations/0001_baseline.sql.
"""
VIEWS = """
    SELECT c.relname, pg_catalog.quote_ident(a.attname), pg_catalog.format_type(a.atttypid, a.atttypmod)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 ORDER BY c.relname, a.attnum"""
IDENTITY = re.compile(r'ALTER TABLE lockstep\.(\w+) ALTER COLUMN (\S+) ADD GENERATED (ALWAYS|BY DEFAULT) AS IDENTITY \(\s+SEQUENCE NAME \S+\s+'
                      r'START WITH 1\s+INCREMENT BY 1\s+NO MINVALUE\s+NO MAXVALUE\s+CACHE 1\s+\);')
TABLE = re.compile(r'CREATE TABLE lockstep\.\w+ \(\n(.*?)\n\)(\nWITH \(.*?\))?;\n*(.*)', re.S)
GRANT = re.compile(r'GRANT (.+?) ON (\w+) (\S+) TO (\w+);$')
PARTS = ['PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY']


def run(program, *arguments):
    beside = os.path.join(os.environ.get('LOCKSTEP_TEST_PGBIN', ''), program)
    return subprocess.run([beside, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def query(conninfo, sql):
    out = run('psql', '-X', '-q', '-At', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-d', conninfo, '-c', 'SET search_path = pg_catalog', '-c', sql)
    return [line.split('\t') for line in out.splitlines()]


def entries(conninfo):
    """What pg_dump tells, as (type, name, text)."""
    dump = run('pg_dump', '--schema-only', '--schema=lockstep', '--no-owner', '-d', conninfo)
    dump = re.sub(r'^(SET|SELECT pg_catalog\.set_config|\\(un)?restrict)\b.*\n', '', dump, flags=re.M)
    dump = re.sub(r'\n--\n-- PostgreSQL database dump complete\n--\n', '', dump)
    found = re.split(r'^--\n-- Name: (.*); Type: (.*?); Schema: .*\n--\n', dump, flags=re.M)[1:]
    for name, kind, text in zip(found[0::3], found[1::3], found[2::3]):
        yield kind, name, text.strip().replace('\t', '    ')


def grants(texts):
    """One statement for what several roles may, and for a role's columns of a table."""
    rights, rest = {}, []  # (object, role) -> rights; what is no plain GRANT
    for line in '\n'.join(texts).splitlines():
        grant = GRANT.match(line)
        if grant is None:
            rest += [line] if line else []
            continue
        what, kind, name, role = grant.groups()
        words = rights.setdefault((kind + ' ' + name, role), {})
        for right, column in re.findall(r'(\w+)(?:\(([^)]*)\))?', what):
            words.setdefault((right, bool(column)), []).append(column)
    said = {}
    for (name, role), words in rights.items():
        text = ', '.join(right + (f' ({", ".join(columns)})' if of_columns else '') for (right, of_columns), columns in words.items())
        said.setdefault((name, text), []).append(role)
    return sorted(f'GRANT {text} ON {name} TO {", ".join(sorted(roles))};' for (name, text), roles in said.items()) + sorted(rest)


class Table:
    def __init__(self):
        self.text, self.identities, self.constraints, self.indexes, self.triggers, self.grants = '', {}, [], [], [], []

    def statements(self, name):
        match = TABLE.fullmatch(self.text)
        members = match[1].split('\n')
        for column, always in self.identities.items():
            members = [re.sub(r'(,?)$', rf' GENERATED {always} AS IDENTITY\1', line, count=1) if line.startswith(f'    {column} ') else line
                       for line in members]
        self.constraints.sort(key=lambda text: ([part in text for part in PARTS].index(True), text))
        for constraint in self.constraints:
            members[-1] += ','
            members.append('    ' + constraint)
        create = f'CREATE TABLE lockstep.{name} (\n' + '\n'.join(members) + f'\n){match[2] or ""};'
        columns = [line for line in match[3].splitlines() if line]
        return '\n'.join([create, *columns, *sorted(self.indexes), *sorted(self.triggers), *grants(self.grants)])


def schema(conninfo):
    tables, views, types, first, others = {}, {}, {}, [], []
    acl = {}
    for kind, name, text in entries(conninfo):
        if 'FUNCTION' in (kind, name.split(' ')[0]):
            continue
        if kind == 'TABLE':
            tables.setdefault(name, Table()).text = text
        elif kind == 'SEQUENCE' and IDENTITY.fullmatch(text):
            of, column, always = IDENTITY.fullmatch(text).groups()
            tables.setdefault(of, Table()).identities[column] = always
        elif kind in ('CONSTRAINT', 'FK CONSTRAINT') and any(part in text for part in PARTS):
            tables.setdefault(name.split(' ')[0], Table()).constraints.append(text[text.index('CONSTRAINT'):].rstrip(';'))
        elif kind == 'INDEX':
            tables.setdefault(re.search(r' ON lockstep\.(\w+) ', text)[1], Table()).indexes.append(text.replace(' USING btree', ''))
        elif kind == 'TRIGGER':
            tables.setdefault(name.split(' ')[0], Table()).triggers.append(text)
        elif kind == 'ACL':
            acl.setdefault(re.split('[ .]', name)[1], []).append(text)
        elif kind == 'VIEW':
            views[name] = []
        elif kind == 'TYPE':
            types[name] = text
        elif kind == 'SCHEMA':
            first.append(text)
        else:
            others.append(text)
    for view, column, of_type in query(conninfo, VIEWS):
        views[view].append(f'    NULL::{of_type} AS {column}')
    first += grants(acl.pop('lockstep', []))
    paragraphs = ['\n'.join(first)]
    paragraphs += ['\n'.join([types[name], *grants(acl.pop(name, []))]) for name in sorted(types)]
    for name in sorted(tables):
        tables[name].grants = acl.pop(name, [])
        paragraphs.append(tables[name].statements(name))
    for name in sorted(views):
        create = f'CREATE VIEW lockstep.{name} AS SELECT\n' + ',\n'.join(views[name]) + ';'
        paragraphs.append('\n'.join([create, *grants(acl.pop(name, []))]))
    paragraphs += sorted(others) + [line for name in sorted(acl) for line in grants(acl[name])]
    return HEAD + '\n' + '\n\n'.join(paragraphs) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--check', action='store_true', help='compare, write nothing')
    parser.add_argument('conninfo')
    given = parser.parse_args()
    new = schema(given.conninfo)
    path = os.path.join(ROOT, FILE)
    try:
        with open(path, encoding='utf-8') as file:
            old = file.read()
    except FileNotFoundError:
        old = ''
    if not given.check:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(new)
        return 0
    if old == new:
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), FILE, 'the database', n=3))
    major = int(query(given.conninfo, 'SHOW server_version_num')[0][0]) // 10000
    if major != MAJOR:
        print(f'schema.py: skipped: {FILE} has the words of PostgreSQL {MAJOR}, this is {major}')
        return 0
    print(f'schema.py: {FILE} is not what the migrations and views add up to. To write it anew: ./dev schema')
    return 1


if __name__ == '__main__':
    sys.exit(main())
