#!/usr/bin/env python3
"""Each field of console/field.c is a parameter of a route of console/routes.c, or a member of a field that is an object; and each of those is a field."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent.parent.parent


def compare(fields, routes):
    names = re.findall(r'^\s+\{"(\w+)",\s+FIELD_', fields, re.M)
    strings = re.findall(r'(?:LEVEL_NONE|PING|MONITOR|OPERATOR),\s*((?:"[^"]*"\s*)+),', routes)
    strings += re.findall(r'FIELD_OBJECT,[^}]*?"([^"]*=[^"]*)"', fields)
    words = {word.rstrip('!^').split('=')[-1] for string in strings for word in string.replace('"', ' ').split()}
    return [name for name in names if name not in words], sorted(word for word in words if word and word[0] != '@' and word not in names)


fields, routes = [(here / 'console' / name).read_text() for name in ('field.c', 'routes.c')]
planted = fields.replace('{"queue", FIELD', '{"planted", FIELD', 1)
left, lacking = compare(planted, routes)
if 'planted' not in left or 'queue' not in lacking:
    sys.exit('fields.py: it does not see a field that no route has, or a parameter that is no field')
left, lacking = compare(fields, routes)
if left:
    sys.exit('console/field.c: no route has ' + ', '.join(left))
if lacking:
    sys.exit('console/routes.c: no field is ' + ', '.join(lacking))
