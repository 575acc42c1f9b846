#!/usr/bin/env python3
"""console_roles.py URL NAMES WHO...: asks each method of each path that openapi.json names, as each of WHO, and says what was answered against the table below.

NAMES: JSON, what stands for the names in paths. WHO: JSON, {"who", "level": none|ping|monitor|operator, "publishes", "headers"}; the names of an operator's changes are made up, so that
nothing is changed. A line for each answer that is not as wanted; at the end how many were asked."""
import json
import sys
import urllib.error
import urllib.request

# Beside the group of the console: what the statement asks of the login itself.
PRODUCER = {'POST /queues/{queue}/runs', 'POST /rejected/{rejected}/redrive', 'POST /rejected/redrive', 'POST /replay', 'POST /replays/{replay}/abandon'}
# Who reads needs lockstep_monitor, who changes lockstep_operator, but for these: not taken from the document, so that a wrong line of the table of routes is seen.
FOR_EVERYONE = {'POST /session', 'GET /openapi.json', 'GET /clusters'}
FOR_REPORTERS = {'POST /ping/{job}'}
FOR_MONITORS = {'DELETE /session', 'POST /queues/{queue}/runs', 'POST /jobs/{job}/test', 'POST /schedules/explain'}
SAYS = ['For everyone.', 'For tokens of role ping, and callers of lockstep.ping.', 'For lockstep_monitor.', 'For lockstep_operator.']
LEVELS = ('none', 'ping', 'monitor', 'operator')
MADE_UP = {'queue': 'none', 'run': '00000000-0000-4000-8000-000000000000', 'task': '999999999', 'job': 'none', 'schedule': 'none', 'alert': '999999999', 'rejected': '999999999',
           'replay': '999999', 'executor': '00000000-0000-4000-8000-000000000000', 'token': 'none', 'pid': '1'}


def value(schema):
    if 'anyOf' in schema:
        return value(schema['anyOf'][0])
    if 'enum' in schema:
        return schema['enum'][0]
    kind = schema['type']
    if kind == 'object':
        return {name: value(schema['properties'][name]) for name in needed(schema)}
    if kind == 'array':
        return [value(schema['items'])] * schema.get('minItems', 0)
    if kind == 'string':
        return {'uuid': MADE_UP['run'], 'date-time': '2026-11-23T08:00:00Z'}.get(schema.get('format'), 'none')
    return {'integer': schema.get('minimum', 1), 'boolean': False}[kind]


def needed(schema):
    return schema.get('required', []) + [one['required'][0] for one in schema.get('oneOf', [])[:1]]


def ask(method, path, body, headers):
    data = None if method == 'GET' else json.dumps(body).encode()
    request = urllib.request.Request(url + 'api/v1' + path, data, {'Content-Type': 'application/json', **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer: # of the stream: its head
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def wanted(operation, level, method, who):
    """The statuses that are right."""
    have = LEVELS.index(who['level'])
    if level == 0:
        return {200} if method == 'GET' else {400, 401, 429}
    if have == 0:
        return {401}
    if have < level:
        return {403}
    if method != 'GET' and 'X-CSRF-Token' in who['headers'] and not who['headers']['X-CSRF-Token']:
        return {403}
    if operation in FOR_REPORTERS and who['level'] == 'monitor' and not who['publishes']:
        return {403}
    if operation in PRODUCER and not who['publishes']:
        return {403, 404} # of what there is not it is not said who may
    return {200} if method == 'GET' else {200, 400, 404, 409, 503}


url, names, people = sys.argv[1], json.loads(sys.argv[2]), [json.loads(who) for who in sys.argv[3:]]
with urllib.request.urlopen(url + 'api/v1/openapi.json', timeout=30) as answer:
    paths = json.load(answer)['paths']
count = 0
for who in people:
    for path, methods in paths.items():
        for method, operation in methods.items():
            method, is_operator = method.upper(), who['level'] == 'operator'
            name = f'{method} {path}'
            level = 0 if name in FOR_EVERYONE else 1 if name in FOR_REPORTERS else 2 if method == 'GET' or name in FOR_MONITORS else 3
            count += 1
            if operation['description'] != SAYS[level]:
                print(f'{method} {path} says {operation["description"]}')
            if method == 'DELETE' and path == '/session' and who['level'] != 'none':
                continue # it would sign out
            stands = MADE_UP if method != 'GET' and is_operator else names
            filled = path
            for word, text in stands.items():
                filled = filled.replace('{' + word + '}', text)
            content = operation.get('requestBody', {}).get('content', {}).get('application/json')
            body = value(content['schema']) if content else {}
            if path == '/queues/{queue}/runs':
                body['tasks'] = [{'order': 1, 'sql': 'SELECT 1'}]
            if path == '/rejected/redrive':
                body['messages'] = [{'rejected_id': int(MADE_UP['rejected'])}]
            if path == '/session':
                body = {}
            given = [p for p in operation.get('parameters', []) if p['in'] == 'query' and p['required']]
            filled += '?' * bool(given) + '&'.join(f'{p["name"]}={value(p["schema"])}' for p in given)
            status = ask(method, filled, body, who['headers'])
            right = wanted(name, level, method, who)
            if status not in right:
                print(f'{who["who"]}: {method} {filled}: {status}, not {" or ".join(map(str, sorted(right)))}')
print(f'{count // len(people)} methods of paths')
