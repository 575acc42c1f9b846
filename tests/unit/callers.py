#!/usr/bin/env python3
"""Every function of a public header, and every function of the database that is not promised to users (sql/api/), has a caller in another file
of the product: what only tests use belongs to tests/support.

A prototype is a line of a header's code that begins at the left margin with a type and names a function; a caller is another .c or .h
file of the product that names it. A function of the database is called by a statement, a view, another function or C as lockstep.NAME, or by a
trigger of a migration. And this check itself notices one of each kind without a caller.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
with open('LAYERS', encoding='utf-8') as rows:
    FOLDERS = [row.split(':')[0] for row in rows if re.match(r'(?!sql:|tests:|examples:|bench:)[a-z]+:', row)]
FOR_TESTS = {
    'kafka_mock_inject', 'kafka_mock_reachable',  # what a real broker cannot be made to do
    'kafka_topic_delete',  # tests clean up
    'db_prepare', 'message_field_name', 'metrics_all', 'utf8_mend',  # parts of what is called, which tests look at alone
}


def code(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    return re.sub(r'(?m)^#(?!define).*$', '', text)


def prototypes(header):
    return re.findall(r'(?m)^(?!typedef|static|#)[A-Za-z_][\w \*]*?\b(\w+)\(', code(header))


def unused(sources):
    words = {name: set(re.findall(r'\w+', code(text))) for name, text in sources.items()}
    macros = {name: ' '.join(re.findall(r'(?m)^#define(?:.*\\\n)*.*$', code(text))) for name, text in sources.items()}
    for header, text in sorted(sources.items()):
        if not header.endswith('.h'):
            continue
        for name in prototypes(text):
            body = re.compile(r'(?m)^[A-Za-z_][\w \*]*\b%s\((?:[^;{}]|\n)*?\)\n\{' % name)
            if name == '__attribute__' or name in FOR_TESTS or re.search(r'\b%s\b' % name, macros[header]):
                continue
            if not any(name in has and other != header and not body.search(sources[other]) for other, has in words.items()):
                yield header, name


def sql_code(path, text):
    """The statements of an SQL file without its comments; of a migration its triggers, because its other statements have been run."""
    text = re.sub(r'--[^\n]*|/\*.*?\*/', '', text, flags=re.S)
    return '\n'.join(re.findall(r'EXECUTE FUNCTION[^;]*', text)) if path.startswith('sql/migrations/') else text


def uncalled(texts):
    """The functions of sql/functions/ that no other file names."""
    named = {path: set(re.findall(r'\blockstep\.(\w+)', text)) for path, text in texts.items()}
    for path in sorted(texts):
        name = os.path.basename(path)[:-len('.sql')]
        if path.startswith('sql/functions/') and not any(name in names for other, names in named.items() if other != path):
            yield path


def read_all(patterns):
    texts = {}
    for pattern in patterns:
        for name in glob.glob(pattern, recursive=True):
            with open(name, encoding='utf-8') as file:
                texts[name] = file.read()
    return texts


def main():
    sample = {'a/a.h': 'int a_used(void);\nint a_idle(int x);\n', 'a/a.c': 'int a_idle(int x)\n{\n}\n',
              'b/b.c': 'return a_used(); /* a_idle */\n'}
    assert list(unused(sample)) == [('a/a.h', 'a_idle')], list(unused(sample))
    sample = {'sql/functions/a/a_idle.sql': 'lockstep.a_idle()', 'sql/functions/a/a_used.sql': '',
              'sql/migrations/1.sql': sql_code('sql/migrations/1.sql', 'SELECT lockstep.a_idle(); EXECUTE FUNCTION lockstep.a_used(); -- lockstep.a_idle')}
    assert list(uncalled(sample)) == ['sql/functions/a/a_idle.sql'], list(uncalled(sample))
    sources = read_all(folder + '/*.[ch]' for folder in FOLDERS)
    assert len(FOLDERS) >= 17 and len(sources) > 150, 'only %d files were looked at' % len(sources)
    found = list(unused(sources))
    for header, name in found:
        print('callers: %s: %s has no caller in the product: make it static, or move it to tests/support' % (header, name))
    statements = read_all(['sql/**/*.sql'])
    statements.pop('sql/schema.sql', None)
    texts = {name: sql_code(name, text) for name, text in statements.items()}
    idle = list(uncalled({**texts, **{name: code(text) for name, text in sources.items()}}))
    for path in idle:
        print('callers: %s has no caller in the product: remove it, or move it to tests/support' % path)
    if not found and not idle:
        print('callers: every function of %d files of C and %d of SQL has one' % (len(sources), len(texts)))
    return 1 if found or idle else 0


sys.exit(main())
