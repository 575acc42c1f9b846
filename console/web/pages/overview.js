/* overview.js: every queue at a glance, what is wrong, and what fires next. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink, jobLink, countLink, empty } from '../lib/parts.js';
import { badge, icon } from '../lib/badge.js';
import { table } from '../lib/table.js';
import { spark } from '../lib/chart.js';
import { count, duration, lag, when, setServerNow, noun, plural, prose, NONE } from '../lib/format.js';
import { seg, query, word } from '../lib/api.js';
import { stateOf, stops, troubleList, troublesOf } from '../lib/trouble.js';

const tasksOf = (q, status) =>
    q.open_run
        ? `runs/${seg(q.open_run)}${query({ status })}`
        : `runs${query({ queue: q.queue, status: status === 'Failed' ? 'Failed' : 'Running' })}`;

const COLUMNS = [
    { label: 'queue', key: true, cell: (q) => queueLink(q.queue) },
    { label: 'state', cell: (q) => badge(stateOf(q), q.reason) },
    {
        label: 'open run',
        cell: (q) => (q.open_run ? runLink(q.open_run, q.open_run_name) : h('span.zero', null, 'none')),
    },
    { label: 'phase', num: true, cell: (q) => q.open_order ?? NONE },
    {
        label: 'waiting',
        num: true,
        cell: (q) => [countLink(q.pending, tasksOf(q, 'Pending')), q.counted_all === false && '+'],
    },
    { label: 'running', num: true, cell: (q) => countLink(q.processing, tasksOf(q, 'Processing')) },
    { label: 'to retry', num: true, cell: (q) => countLink(q.error, tasksOf(q, 'Error')) },
    { label: 'failed', num: true, cell: (q) => countLink(q.failed, tasksOf(q, 'Failed'), 'count-bad') },
    {
        label: 'readers',
        num: true,
        title: 'in use of the target',
        cell: (q) =>
            h(
                'a',
                { href: `queues/${word(q.queue)}` },
                `${count(q.in_use ?? 0)} of ${count(q.target ?? q.max_readers)}`,
            ),
    },
    {
        label: 'lag',
        num: true,
        title: 'messages on the topic that are not claimed',
        cell: lag,
    },
    { label: 'oldest waits', num: true, cell: (q) => duration(q.oldest_waiting_s) },
    { label: 'tasks a minute', cell: (q) => spark(q.throughput, { label: 'tasks a minute' }) },
    {
        label: 'barrier',
        title: 'the longest time of each minute from the last end of a phase to the first start of the next',
        cell: (q) => spark(q.barrier_ms, { label: 'barrier', unit: (ms) => duration(ms / 1000), second: true }),
    },
];

/* What is shown of a list that is longer. */
const some = (shown, all, which) => (shown.length < all ? `${count(shown.length)} of ${count(all)}, ${which}` : null);

/* A number, its word, and where the rest of it is. */
const tile = (n, word, href, { bad, title } = {}) =>
    h(
        'a.tile',
        { key: href, href, title, class: n > 0 && bad ? 'bad' : n > 0 ? null : 'none' },
        h('b', null, n > 0 && bad && icon('warn'), count(n)),
        h('span', null, word),
    );

function tiles(data) {
    const sum = (name) => data.queues.reduce((n, q) => n + (q[name] ?? 0), 0);
    const running = sum('processing'),
        executors = data.executors ?? 0;
    return h(
        'div.tiles',
        { key: 'tiles' },
        tile(data.queues_all, noun(data.queues_all, 'queue'), 'queues'),
        tile(data.open_runs, noun(data.open_runs, 'open run'), 'runs?status=Running,Paused'),
        tile(running, `${noun(running, 'task')} running`, 'runs?status=Running'),
        tile(sum('pending'), `${noun(sum('pending'), 'task')} waiting`, 'runs?status=Running,Published'),
        tile(sum('failed'), `${noun(sum('failed'), 'task')} failed`, 'runs?status=Failed,Running,Paused', { bad: true, title: 'failed tasks of open runs' }),
        tile(executors, noun(executors, 'executor'), 'executors'),
        tile(data.alerts_all, noun(data.alerts_all, 'open alert'), 'missed?alerts=open', { bad: true }),
    );
}

/* What is stopped comes first, then what has work; among equals by name. */
const rank = (q) => (q.status === 'halted' ? 0 : stops(q) ? 1 : q.open_run ? 2 : 3);
const sorted = (queues) => queues.toSorted((a, b) => rank(a) - rank(b));

function attention(data) {
    const troubles = troublesOf(sorted(data.queues));
    if (troubles.length === 0)
        return h('p.all-well', { key: 'attention', role: 'status' }, badge('ok'), ' No queue is stopped.');
    const stopped = new Set(troubles.map((t) => t.queue)).size;
    return h(
        'section.panel.attention',
        { key: 'attention', role: 'alert' },
        h('div.panel-head', null, h('h2', null, icon('warn'), ` ${plural(stopped, 'queue needs', 'queues need')} you`)),
        troubleList(troubles),
    );
}

const ALERTS = [
    { label: 'alert', key: true, cell: (a) => h('a', { href: `missed?alert=${a.alert_id}` }, badge(a.kind)) },
    { label: 'job', cell: (a) => (a.job ? jobLink(a.job) : 'the monitor') },
    { label: 'since', cell: (a) => when(a.since) },
    { label: 'what', class: 'text', cell: (a) => prose(a.text) },
];

const NEXT = [
    { label: 'job', key: true, cell: (n) => jobLink(n.job) },
    { label: 'fires', num: true, cell: (n) => when(n.at) },
];

export const page = {
    title: () => 'Overview',
    watches: ['run', 'phase', 'task', 'queue', 'executor', 'alert'],
    every: 10,
    load: async (ctx) => {
        const data = await ctx.get('overview');
        setServerNow(data.now);
        return data;
    },
    view: (data) => [
        pageHead('Overview'),
        tiles(data),
        attention(data),
        h(
            'div.side',
            { key: 'side' },
            panel(
                'Queues',
                { key: 'queues', note: some(data.queues, data.queues_all, 'by name; the figures above are of these'), tools: h('a', { href: 'queues' }, 'all queues') },
                data.queues.length
                    ? table({ caption: 'Queues', columns: COLUMNS, rows: sorted(data.queues), id: (q) => q.queue })
                    : empty('There is no queue yet.', 'lockstep queue create NAME --create-topic'),
            ),
            h(
                'div',
                { key: 'right' },
                panel(
                    'Open alerts',
                    { key: 'alerts', note: some(data.alerts, data.alerts_all, 'the newest'), tools: h('a', { href: 'missed' }, 'all alerts') },
                    table({
                        tall: true,
                        caption: 'Open alerts',
                        columns: ALERTS,
                        rows: data.alerts,
                        id: (a) => a.alert_id,
                        none: 'No open alert.',
                    }),
                ),
                panel(
                    'Next firings',
                    { key: 'next', tools: h('a', { href: 'jobs' }, 'all jobs') },
                    table({
                        tall: true,
                        caption: 'Next firings',
                        columns: NEXT,
                        rows: data.next,
                        id: (n, i) => `${n.job} ${n.at}`,
                        none: 'No job fires at a time.',
                    }),
                ),
            ),
        ),
    ],
};
