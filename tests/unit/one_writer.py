#!/usr/bin/env python3
"""State has owners: each field of a struct that a header shows is written by one .c file of its room.

ctags names the members of structs and the types of parameters and locals; from these the type of whatever stands left of an assignment
follows. A write is an assignment, ++ or --, and the first argument of what copies into memory; initialising a whole struct is none.
VALUES are no state: whoever makes one fills it in and hands it on. Headers are small, struct executor and struct lane have few members,
and the files that call each other in a circle are few. LANE_LINES, PARTS and CIRCLE may only shrink. The check itself is tried on a small
tree first.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

COPIES = r'(?:snprintf|memcpy|memset|utf8_copy|utf8_format)\s*\(\s*'
NAME = r'[A-Za-z_]\w*'
INDEX = r'\[(?:[^\[\]]|\[[^\[\]]*\])*\]'
PATH = r'(?<![\w.>])(%s(?:\([^()]*\))?(?:%s)*(?:(?:->|\.)%s(?:%s)*)+)' % (NAME, INDEX, NAME, INDEX)
WRITES = [re.compile(PATH + r'\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)'), re.compile(r'(?:\+\+|--)\s*' + PATH),
          re.compile(COPIES + r'&?' + PATH)]


def code(text):
    def blank(found):
        return re.sub(r'[^\n]', ' ', found.group(0))
    text = re.sub(r'/\*.*?\*/', blank, text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda found: '"' + ' ' * (len(found.group(0)) - 2) + '"', text)


def struct_of(typeref):
    found = re.search(r'\bstruct[: ](?:\w+::)?(\w+)', typeref or '')
    return found.group(1) if found else None


class Tree:
    def __init__(self, root, sources, headers):
        self.members, self.returns, self.variables, self.functions, self.homes = {}, {}, {}, {}, {}
        self.structs = set()
        self.text = {}
        names = sources + headers
        made = subprocess.run(['ctags', '-f', '-', '--kinds-c=+lzmfps', '--fields=+neStZ', '--sort=no'] + names, cwd=root,
                              check=True, capture_output=True, text=True).stdout
        for line in made.splitlines():
            name, file, rest = line.split('\t', 2)
            fields = rest.split(';"\t', 1)[1].split('\t')
            kind, more = fields[0], dict(field.split(':', 1) for field in fields[1:] if ':' in field)
            scope, type_of = more.get('scope', ''), struct_of(more.get('typeref'))
            if kind == 'm' and scope.startswith('struct:'):
                self.members[scope.rsplit(':', 1)[1], name] = type_of
                if file in headers:
                    self.structs.add(scope.rsplit(':', 1)[1])
            elif kind in 'lz' and scope.startswith('function:'):
                self.variables[file, scope.split(':', 1)[1], name] = type_of
            elif kind in 'fp':
                self.returns[name] = type_of
                if kind == 'f' and file.endswith('.c'):
                    self.functions.setdefault(file, []).append((int(more['line']), int(more.get('end', more['line'])), name))
                    if 'file' not in more and 'file:' not in fields:
                        self.homes[name] = file
        for name in sources:
            with open(os.path.join(root, name), encoding='utf-8') as source:
                self.text[name] = code(source.read())

    def function_at(self, file, line):
        for first, last, name in self.functions.get(file, []):
            if first <= line <= last:
                return name
        return ''

    def owner(self, file, function, path):
        """The struct and the member that a path like lane->slots.held names."""
        parts = re.split(r'->|\.', re.sub(INDEX, '', path))
        base = parts[0]
        at = self.returns.get(base.split('(')[0]) if '(' in base else self.variables.get((file, function, base))
        for part in parts[1:-1]:
            at = self.members.get((at, part))
        return at, parts[-1]

    def writers(self):
        found = collections.defaultdict(set)
        for file, text in self.text.items():
            for pattern in WRITES:
                for match in pattern.finditer(text):
                    function = self.function_at(file, text.count('\n', 0, match.start(1)) + 1)
                    struct, member = self.owner(file, function, match.group(1))
                    if struct in self.structs:
                        found['%s.%s' % (struct, member)].add(os.path.basename(file))
        return found

    def calls(self):
        graph = collections.defaultdict(set)
        for file, text in self.text.items():
            for match in re.finditer(r'(?<![.>\w])' + NAME, text):
                name = match.group(0)
                if self.homes.get(name, file) == file:
                    continue
                function = self.function_at(file, text.count('\n', 0, match.start()) + 1)
                if (file, function, name) not in self.variables:
                    graph[file].add(self.homes[name])
        return graph


def circles(graph):
    """The groups of files of which each reaches each (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in graph[file]:
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            found.append(sorted(stack[at:]))
            del stack[at:]
    for file in list(graph):
        if file not in number:
            visit(file)
    return [group for group in found if len(group) > 1]


def self_test():
    tree = {'executor/a.h': 'struct inner { int n; char text[8]; };\nstruct outer { struct inner in; struct outer *next; int k; };\n'
                            'struct outer *a_get(int i);\nvoid b_set(struct outer *o);\n',
            'executor/a.c': 'struct outer *a_get(int i)\n{\n    struct outer *o = 0;\n    o->next->in.n = i; /* o->k = 1; */\n'
                            '    b_set(o);\n    return o;\n}\n',
            'executor/b.c': 'void b_set(struct outer *o)\n{\n    if (o->k == 1)\n        a_get(1)->in.n++;\n'
                            '    snprintf(o[1].in.text, 8, "o->k = 2");\n}\n',
            'executor/c.c': 'void c_only(struct outer *o, int b_set)\n{\n    o->k = b_set;\n}\n'}
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, 'executor'))
        for name, text in tree.items():
            with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                file.write(text)
        parts = parts_of('executor/a.h', root)
        made = Tree(root, sorted(name for name in tree if name.endswith('.c')), ['executor/a.h'])
    assert parts == {'inner': 2, 'outer': 3}, parts
    writers = {field: sorted(files) for field, files in made.writers().items()}
    assert writers == {'inner.n': ['a.c', 'b.c'], 'inner.text': ['b.c'], 'outer.k': ['c.c']}, writers
    assert circles(made.calls()) == [['executor/a.c', 'executor/b.c']], circles(made.calls())


# Errors, mails, answers, reports and rows of output. The lines of lane.h, and the members of each of its structs; the files of a folder
# that may call each other in a circle. A file that is one table of functions names what calls it.
VALUES = {'err', 'mail', 'action_result', 'cache_outcome', 'replay_line', 'replay_report', 'simulate_run', 'staged_text', 'table_style'}
LANE_LINES = 78
PARTS = 15
CIRCLE = 3
TABLES = {'cli/commands.c'}


def folders():
    with open('LAYERS', encoding='utf-8') as layers:
        return sorted(set(re.findall(r'(?m)^(\w+) *:', layers.read())) - {'tests', 'bench', 'examples'})


def largest_circle(folder):
    sources = [name for name in sorted(glob.glob(folder + '/*.c')) if name not in TABLES]
    return max([[]] + circles(Tree('.', sources, sorted(glob.glob(folder + '/*.h'))).calls()), key=len) if sources else []


def written(folder):
    """The fields that the files of a folder write, but for those of values."""
    sources = sorted(glob.glob(folder + '/*.c'))
    if not sources:
        return {}
    writers = Tree('.', sources, sorted(glob.glob('*/*.h'))).writers()
    return {field: files for field, files in writers.items() if field.split('.')[0] not in VALUES}


def parts_of(header, root='.'):
    """How many members each struct of a header has."""
    return collections.Counter(struct for struct, member in Tree(root, [], [header]).members)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    self_test()
    wrong, fields, shared = [], 0, []
    for folder in folders():
        writers = written(folder)
        fields += len(writers)
        assert folder != 'executor' or len(writers) > 150, 'only %d fields were seen' % len(writers)
        for field, files in sorted(writers.items()):
            if len(files) > 1:
                shared.append(field)
                wrong.append('%s/: %s is written by %s: one of them owns it, the others tell it' % (folder, field, ' and '.join(sorted(files))))
    with open('executor/lane.h', encoding='utf-8') as file:
        lines = len(file.readlines())
    if lines > LANE_LINES:
        wrong.append('executor/lane.h has %d lines, more than %d' % (lines, LANE_LINES))
    for struct, members in sorted(parts_of('executor/lane.h').items()):
        if members > PARTS:
            wrong.append('struct %s has %d members, more than %d: group those that one file writes' % (struct, members, PARTS))
    largest = []
    for circle in map(largest_circle, folders()):
        largest = max(largest, circle, key=len)
        if len(circle) > CIRCLE:
            wrong.append('%d files call each other in a circle, more than %d: %s' % (len(circle), CIRCLE, ' '.join(circle)))
    for line in wrong:
        print('one_writer: ' + line)
    if '--tell' in sys.argv:
        print(' '.join(shared), fields, lines, len(largest), ' '.join(largest))
    if not wrong:
        print('one_writer: %d fields, each with one writer; the largest circle has %d files' % (fields, len(largest)))
    return 1 if wrong else 0


sys.exit(main())
