#!/usr/bin/env python3
"""panels.py PROMETHEUS DASHBOARD RULES SECONDS: every panel's query of the dashboard returns numbers, and every metric that the alert rules name is there.

What has no numbers yet is asked for again, until SECONDS are over: rates need scrapes. One line for each query that never had any; 1 if there is one.
"""
import json
import math
import re
import sys
import time
import urllib.parse
import urllib.request


def values(prometheus, query):
    url = f'{prometheus}/api/v1/query?' + urllib.parse.urlencode({'query': query})
    with urllib.request.urlopen(url, timeout=20) as answer:
        found = json.load(answer)['data']['result']
    return [float(one['value'][1]) for one in found]


def main():
    prometheus, dashboard, rules, seconds = sys.argv[1:]
    with open(dashboard, encoding='utf-8') as file:
        panels = json.load(file)['panels']
    queries = {target['expr'].replace('$queue', '.*').replace('$__rate_interval', '1m'): panel['title'] for panel in panels for target in panel['targets']}
    with open(rules, encoding='utf-8') as file:
        queries.update({name: 'an alert rule' for name in re.findall(r'\blockstep_\w+', file.read())})
    until = time.monotonic() + int(seconds)
    while queries:
        for query in list(queries):
            if any(math.isfinite(value) for value in values(prometheus, query)):
                del queries[query]
        if time.monotonic() > until:
            break
        time.sleep(0.5)
    for query, title in queries.items():
        print(f'{title}: no numbers: {query}')
    return 1 if queries else 0


sys.exit(main())
