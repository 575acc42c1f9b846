"""Compares answers of the console's API with its OpenAPI document, more strictly than a client may: a member that the
document does not describe is an error, too. Run by the python that has schemathesis, which brings jsonschema_rs.

    answers.py DOCUMENT ANSWERS METHODS MEMBER...

ANSWERS has a line each: status, method, path below the console's address, body. All that is wrong is printed: an answer
that does not fit; an operation of one of the METHODS that was not answered with 200; a member of their answers that has
no value in any of them, because the type of what is always null, or in a list that is always empty, is not proven. The
MEMBERs have none. Exit 1 if there is anything."""

import json
import re
import sys

import jsonschema_rs

SHAPES = '#/components/schemas/'
PART = '.part'  # behind the name of a shape: as a part of another one
MOST = 10  # that are printed of each kind


def strict(schema, is_part=False):
    """The schema, with other members as an error. A part of allOf does not see the members of the others, so the
    whole refuses what none of them has."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {name: strict(value) for name, value in schema.items() if name != 'allOf'}
    if 'allOf' in schema:
        whole['allOf'] = [strict(part, True) for part in schema['allOf']]
    if is_part and '$ref' in whole:
        whole['$ref'] += PART
    elif ('allOf' in schema or schema.get('type') == 'object' and 'properties' in schema) and not is_part:
        whole['unevaluatedProperties'] = False
    return whole


class Document:
    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            document = json.load(file)
        shapes = document['components']['schemas']
        self.responses = document['components']['responses']
        self.shapes = {}
        for name, shape in shapes.items():
            self.shapes[name] = strict(shape)
            self.shapes[name + PART] = strict(shape, True)
        self.operations = {}
        for path, item in document['paths'].items():
            for method, operation in item.items():
                self.operations[method.upper(), path] = operation['responses']
        self.patterns = sorted(((path.count('{'), re.compile(re.sub(r'\{\w+\}', '[^/]+', re.escape(path).replace(
            r'\{', '{').replace(r'\}', '}')) + '$'), method, path) for method, path in self.operations),
            key=lambda entry: entry[0])
        self.validators = {}

    def operation(self, method, path):
        for _, pattern, known, template in self.patterns:
            if known == method and pattern.match(path):
                return known, template
        return None

    def schema(self, operation, status):
        """That of JSON; None: there is none."""
        response = self.operations[operation].get(status, {})
        if '$ref' in response:
            response = self.responses[response['$ref'].rpartition('/')[2]]
        content = response.get('content', {})
        for kind in ('application/json', 'application/problem+json'):
            if kind in content:
                return strict(content[kind]['schema'])
        return None

    def errors(self, operation, status, answer):
        key = operation, status
        if key not in self.validators:
            self.validators[key] = jsonschema_rs.validator_for(
                {'$schema': 'https://json-schema.org/draft/2020-12/schema', 'components': {'schemas': self.shapes},
                 'allOf': [self.schema(operation, status)]}, validate_formats=True)
        return self.validators[key].iter_errors(answer)

    def members(self, schema, owner):
        """The members that an answer of the schema may have, and of which it is known, as OWNER.MEMBER: a shape or an
        operation owns them."""
        found, open_ = set(), [(schema, owner)]
        while open_:
            part, owner = open_.pop()
            if '$ref' in part:
                name = self.name(part)
                if f'{name}.' not in found:
                    found.add(f'{name}.')
                    open_.append((self.shapes[name], name))
            for name, member in part.get('properties', {}).items():
                found.add(f'{owner}.{name}')
                open_.append((member, owner))
            open_ += [(inner, owner) for inner in part.get('allOf', []) + part.get('anyOf', [])]
            if 'items' in part:
                open_.append((part['items'], owner))
        return {member for member in found if not member.endswith('.')}

    def see(self, schema, value, owner, seen):
        """Adds the members that have a value, not null, in the value, which fits the schema."""
        if value is None:
            return
        if '$ref' in schema:
            owner = self.name(schema)
            schema = self.shapes[owner]
        for part in schema.get('allOf', []) + schema.get('anyOf', [])[:1]:  # any of a shape and null
            self.see(part, value, owner, seen)
        if isinstance(value, dict):
            for name, member in schema.get('properties', {}).items():
                if value.get(name) is not None:
                    seen.add(f'{owner}.{name}')
                    self.see(member, value[name], owner, seen)
        if isinstance(value, list) and 'items' in schema:
            for item in value:
                self.see(schema['items'], item, owner, seen)

    @staticmethod
    def name(reference):
        return reference['$ref'].removeprefix(SHAPES).removesuffix(PART)


def is_empty(schema):
    """Whether it says nothing about the members of an object."""
    return schema is None or not ('$ref' in schema or 'allOf' in schema or schema.get('properties'))


def check(document, lines, methods, without):
    wrong, asked, seen = {}, set(), set()
    for line in lines:
        status, method, path, body = line.split(' ', 3)
        path = '/' + path.split('?')[0].split('api/v1/', 1)[1]
        operation = document.operation(method, path)
        schema = operation and document.schema(operation, status)
        if not schema:
            continue  # of a path that there is not, or no JSON
        try:
            answer = json.loads(body)
        except ValueError as error:
            wrong[f'{method} {path}: {status}: no JSON: {error}: {body[:200]}'] = 1
            continue
        errors = [f'{operation[0]} {operation[1]}: {status}: {"/".join(map(str, error.instance_path))}: '
                  f'{error.message[:300]}' for error in document.errors(operation, status, answer)]
        wrong.update(dict.fromkeys(errors))
        if status == '200' and not errors:
            asked.add(operation)
            document.see(schema, answer, ' '.join(operation), seen)
    yield from list(wrong)[:MOST]
    wanted = set()
    for operation, responses in sorted(document.operations.items()):
        if operation[0] not in methods or 'text/event-stream' in responses['200']['content']:
            continue
        schema, name = document.schema(operation, '200'), ' '.join(operation)
        if is_empty(schema):
            yield f'{name}: its answer is not described'
        elif operation not in asked:
            yield f'{name}: it was not answered with what the document describes'
        else:
            wanted |= document.members(schema, name)
    for member in sorted(wanted - seen - set(without)):
        yield f'{member}: no answer has a value of it'
    for member in sorted(set(without) & seen):
        yield f'{member}: it has a value'


def main():
    document = Document(sys.argv[1])
    with open(sys.argv[2], encoding='utf-8', errors='replace') as lines:
        found = list(check(document, (line.rstrip('\n') for line in lines), sys.argv[3].split(), sys.argv[4:]))
    print('\n'.join(found))
    sys.exit(bool(found))


main()
