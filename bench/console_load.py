"""What a console is measured with, for bench/console.bash.

pages URL ROUNDS RUNS JOBS FILE PID asks for every line of FILE ("page path"; {run}, {task}, {job}, {queue}: another one each time) once a round; a round takes more than two seconds, so that
                                   no answer is one that was kept. Prints "page path p50 p99 most bytes cpu cpu99" in ms; cpu: processor time of the children of PID, the database server,
                                   in the median and at p99: it does not depend on who else is on the machine.
clients URL COUNT SECONDS FILE     COUNT clients that do what a page does: each reads the event stream, and asks for the lines of FILE when something has happened, once a second at
                                   most. Prints "loads requests p50 p99 wrong events".
scrape URL PATH TIMES PID          asks for one path again and again, 1.1 s apart, so that no answer is one that was kept. Prints "p50 p99 most first cpu cpu99" in ms; first: the one that
                                   opened the session.
"""
import asyncio
import collections
import http.client
import random
import sys
import time
import urllib.parse


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def summary(values):
    return f'{percentile(values, 0.5) * 1000:.2f} {percentile(values, 0.99) * 1000:.2f} {max(values) * 1000:.2f}'


def ask(connection, path):
    began = time.monotonic()
    connection.request('GET', path)
    answer = connection.getresponse()
    body = answer.read()
    took = time.monotonic() - began
    if answer.status not in (200, 504):  # 504: it took longer than the server allows, and counts as that long
        sys.exit(f'{path}: {answer.status} {body[:500]!r}')
    return took, len(body)


def spent(pid):
    """Seconds of processor time of the children of a process, which are the sessions of a server."""
    nanoseconds = 0
    for child in open(f'/proc/{pid}/task/{pid}/children').read().split():
        try:
            nanoseconds += int(open(f'/proc/{child}/schedstat').read().split()[0])
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            pass
    return nanoseconds / 1e9


def connect(url):
    parts = urllib.parse.urlsplit(url)
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)


def another(path, runs, jobs):
    run = random.randint(1, runs)
    return path.format(run=f'00000000-0000-4000-8000-{run:012d}', task=run * 90 + random.randint(0, 89), job=f'job%20{random.randint(1, jobs):05d}', queue=f'queue_{random.randint(1, 20):02d}')


def pages(url, rounds, runs, jobs, file, pid):
    random.seed(1)
    lines = [line.split() for line in open(file) if line.strip()]
    took, cost, size, connection = collections.defaultdict(list), collections.defaultdict(list), {}, connect(url)
    for path in {path for _, path in lines}:  # what is read for the first time is not what is measured
        ask(connection, '/api/v1/' + another(path, runs, jobs))
    for _ in range(rounds):
        began = time.monotonic()
        seen = set()
        for page, path in lines:
            asked = another(path, runs, jobs)
            if asked in seen:  # another page has had it in this round
                continue
            seen.add(asked)
            before = spent(pid)
            seconds, size[page, path] = ask(connection, '/api/v1/' + asked)
            took[page, path].append(seconds)
            cost[page, path].append(max(0, spent(pid) - before))
        time.sleep(max(0, began + 2.1 - time.monotonic()))
    for page, path in lines:
        if took[page, path]:
            print(page, path, summary(took[page, path]), size[page, path], *summary(cost[page, path]).split()[:2])


def scrape(url, path, times, pid):
    connection, took, cost = connect(url), [], []
    for _ in range(times):
        before = spent(pid)
        took.append(ask(connection, path)[0])
        cost.append(max(0, spent(pid) - before))
        time.sleep(1.1)
    print(summary(took), f'{took[0] * 1000:.2f}', *summary(cost).split()[:2])


class Client:
    """A page that is open: one connection has the stream, another one asks."""

    def __init__(self, url, paths, totals):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.paths, self.totals = parts.hostname, parts.port, paths, totals
        self.due, self.tags = asyncio.Event(), {}

    async def listen(self):
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 24)
        writer.write(f'GET /api/v1/stream HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n'.encode())
        while line := await reader.readline():
            if line.startswith(b'event: '):
                self.totals['events'] += 1
                self.due.set()

    async def answer(self, reader):
        head = (await reader.readuntil(b'\r\n\r\n')).decode()
        status, headers = int(head.split()[1]), dict(line.lower().split(': ', 1) for line in head.split('\r\n')[1:] if ': ' in line)
        await reader.readexactly(int(headers.get('content-length', '0')) if status != 304 else 0)
        return status, headers

    async def load(self):
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 24)
        while True:
            for path in self.paths:
                began = time.monotonic()
                tag = f'If-None-Match: {self.tags[path]}\r\n' if path in self.tags else ''
                writer.write(f'GET /api/v1/{path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{tag}\r\n'.encode())
                status, headers = await self.answer(reader)
                self.tags[path] = headers.get('etag', '')
                self.totals['wrong'] += status not in (200, 304)
                self.totals['requests'] += 1
                self.totals['took'].append(time.monotonic() - began)
            self.totals['loads'] += 1
            self.due.clear()
            await asyncio.sleep(1)
            await self.due.wait()


async def clients(url, count, seconds, file):
    totals = {'loads': 0, 'requests': 0, 'wrong': 0, 'events': 0, 'took': []}
    paths = [line.split()[1] for line in open(file) if line.strip()]
    tasks = []
    for _ in range(count):
        client = Client(url, paths, totals)
        tasks += [asyncio.create_task(client.listen()), asyncio.create_task(client.load())]
        await asyncio.sleep(1 / count)  # people do not come in the same moment
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        sys.exit(f'a client ended: {task.exception()!r}')
    print(totals['loads'], totals['requests'], *summary(totals['took']).split()[:2], totals['wrong'], totals['events'])


command, *words = sys.argv[1:]
if command == 'pages':
    pages(words[0], int(words[1]), int(words[2]), int(words[3]), words[4], words[5])
elif command == 'scrape':
    scrape(words[0], words[1], int(words[2]), words[3])
else:
    asyncio.run(clients(words[0], int(words[1]), float(words[2]), words[3]))
