#!/usr/bin/env python3
"""The fields of a struct have one writer: where a header says "only NAME.c writes the fields", no other file of its folder does.

The struct has the name of its header, and so has every variable through which another file may change it, so that a write is known by its
text. A field that the header excepts ("but for FIELD") may be written by others. And this check itself notices each kind of write.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


def code(text):
    return re.sub(r'/\*.*?\*/', lambda found: re.sub(r'[^\n]', ' ', found.group(0)), text, flags=re.S)


def parts(sources):
    """The structs with an owner: name, owner, field names that are guarded."""
    for name, text in sorted(sources.items()):
        said = re.search(r'only (\w+)\.c writes the fields(?:,\s[\s*]*but for (\w+))?', text)
        if not said or not name.endswith('.h'):
            continue
        part = os.path.basename(name)[:-2]
        body = re.search(r'(?ms)^struct %s \{\n(.*?)^\};' % part, code(text))
        yield part, os.path.dirname(name), said.group(1), body.group(1) if body else None, said.group(2)


def fields(body):
    found = set()
    for declaration in re.split(r'[;{}]', body):
        declaration = re.sub(r'\[[^]]*\]', '', declaration)
        if '(' in declaration:
            found.update(re.findall(r'\(\*(\w+)\)', declaration))
        else:
            found.update(re.findall(r'(\w+)\s*(?=,|$)', declaration.strip()))
    return found


def writes(part, names, text):
    """Lines of text that change a field of the part, or hold it by another name through which they could."""
    place = r'\b%s(?:\.|->)(?:%s)\b(?:\[[^]]*\]|\.\w+|->\w+)*' % (part, '|'.join(sorted(names)))
    change = re.compile(r'%s\s*(?:=(?!=)|[-+*/|&^]=|<<=|>>=|\+\+|--)|(?:\+\+|--)\s*(?:\w+(?:\.|->))*%s|'
                        r'\b(?:v?snprintf|mem\w+|str(?:n?cpy|n?cat))\(\s*(?:\w+(?:\.|->))*%s' % (place, place, place))
    alias = re.compile(r'(?<!const )\bstruct %s \*(?!%s\b)\w+' % (part, part))
    for number, line in enumerate(code(text).split('\n'), 1):
        if change.search(line) or alias.search(line):
            yield number, line.strip()


def foreign(sources):
    for part, folder, owner, body, excepted in parts(sources):
        if body is None:
            yield '%s/%s.h' % (folder, part), 1, 'there is no struct %s' % part
            continue
        names = fields(body) - {excepted}
        for name, text in sorted(sources.items()):
            if name.startswith(folder + '/') and name.endswith('.c') and name != '%s/%s.c' % (folder, owner):
                for number, line in writes(part, names, text):
                    yield name, number, '%s (struct %s is written by %s.c)' % (line, part, owner)


def check_itself():
    header = ('/** Invariants: only door.c writes the fields, but\n *   for paint. */\nstruct door {\n    int open, *hinges; /* a */\n'
              '    char name[3];\n    struct lock {\n        bool shut;\n    } lock;\n    int paint;\n};\n')
    header = header.replace('but\n *   for', 'but for')
    bad = ['door->open = 1;', 'p->door.open++;', '++p->door.open;', 'p->door.lock.shut |= x;', 'snprintf(door->name, 3, "a");',
           'door->hinges[i] = 2;', 'struct door *d = &p->door;', 'door.open -= 1;']
    good = ['if (door->open == 1)', 'int open = door->open;', 'window->open = 1;', 'door->paint = 1;', 'const struct door *d = x;',
            '/* door->open = 1; */', 'struct door *door = &p->door;', 'printf("%d", door->open);', 'x = door->open >= 1;']
    for line in bad + good:
        found = list(foreign({'house/door.h': header, 'house/door.c': 'door->open = 1;', 'house/wall.c': line}))
        assert bool(found) == (line in bad), (line, found)


def main():
    check_itself()
    sources = {}
    for name in glob.glob('*/*.[ch]'):
        with open(name, encoding='utf-8') as file:
            sources[name] = file.read()
    assert len(sources) > 150, 'only %d files were looked at' % len(sources)
    found = list(foreign(sources))
    for name, number, why in found:
        print('owners: %s:%d: %s' % (name, number, why))
    if not found:
        print('owners: %d structs are written by one file each' % len(list(parts(sources))))
    return 1 if found else 0


sys.exit(main())
