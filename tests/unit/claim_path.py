#!/usr/bin/env python3
"""How far a lane travels from claim(): followed as a parameter from call to call it passes under 40 functions of executor/, and climbs
back to a file of one of its callers under 4 times. The bounds are there so that the state of a lane stays with its parts.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FUNCTIONS_MOST, CLIMBS_MOST = 39, 3


def functions(sources):
    """Their file and body by name."""
    found = {}
    for name, text in sources.items():
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        for head in re.finditer(r'(?ms)^(?:\w[\w \*]*?[ \*])(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}', text):
            found[head.group(1)] = (name, head.group(2))
    return found


def calls(body):
    """The functions that a body gives its lane to."""
    for call in re.finditer(r'\b(\w+)\(', body):
        at, depth = call.end(), 1
        while depth:
            depth += (body[at] == '(') - (body[at] == ')')
            at += 1
        if re.search(r'(?:^|[,(])\s*lane\s*(?:,|$)', body[call.end():at - 1]):
            yield call.group(1)


def follow(known, function, above=(), seen=None):
    """All functions that are passed, and each climb as caller and called."""
    seen = {} if seen is None else seen
    climbs = []
    seen[function] = known[function][0]
    files = {seen[name] for name in above}
    for called in calls(known[function][1]):
        if called not in known or called == function:
            continue
        if known[called][0] != seen[function] and known[called][0] in files:
            climbs.append(f'{function} -> {called}')
        if called not in seen:
            climbs += follow(known, called, above + (function,), seen)[1]
    return seen, climbs


def check_itself():
    sources = {'a.c': 'int first(struct lane *lane)\n{\n    return second(lane, g(1));\n}\nint third(struct lane *lane)\n{\n}\n'
                      'int other(int lane)\n{\n}\n', 'b.c': 'int second(struct lane *lane, int a)\n{\n    third(lane);\n    other(lane->x);\n}\n'}
    seen, climbs = follow(functions(sources), 'first')
    assert sorted(seen) == ['first', 'second', 'third'] and climbs == ['second -> third'], (seen, climbs)


def main():
    check_itself()
    sources = {}
    for name in glob.glob('executor/*.c'):
        with open(name, encoding='utf-8') as file:
            sources[name] = file.read()
    seen, climbs = follow(functions(sources), 'claim')
    print(f'claim_path: the lane of claim() passes {len(seen)} functions, at most {FUNCTIONS_MOST}, and climbs {len(climbs)} times, at most '
          f'{CLIMBS_MOST}: {" ".join(climbs)}')
    if len(seen) > FUNCTIONS_MOST:
        for name, where in sorted(seen.items(), key=lambda pair: pair[1]):
            print(where, name)
    sys.exit(not 20 < len(seen) <= FUNCTIONS_MOST or len(climbs) > CLIMBS_MOST)


main()
