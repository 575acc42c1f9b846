/* overview.js: every queue at a glance, what is wrong, and what fires next. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink, jobLink, countLink, empty } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { table } from '../lib/table.js';
import { spark } from '../lib/chart.js';
import { count, duration, lag, when, setServerNow, noun, NONE } from '../lib/format.js';
import { seg, query, word } from '../lib/api.js';

const tasksOf = (q, status) =>
    q.open_run
        ? `runs/${seg(q.open_run)}${query({ status })}`
        : `runs${query({ queue: q.queue, status: status === 'Failed' ? 'Failed' : 'Running' })}`;

const COLUMNS = [
    { label: 'queue', key: true, cell: (q) => queueLink(q.queue) },
    { label: 'state', cell: (q) => badge(q.status ?? 'open', q.reason) },
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
        title: 'reader time lost at the ends of phases',
        cell: (q) => spark(q.barrier_ms, { label: 'barrier', unit: (ms) => duration(ms / 1000), second: true }),
    },
];

function strip(data) {
    const sum = (name) => data.queues.reduce((n, q) => n + (q[name] ?? 0), 0);
    const open = data.queues.filter((q) => q.open_run).length;
    const halted = data.queues.filter((q) => q.status === 'halted').length;
    return h(
        'div.strip',
        { key: 'strip' },
        h('span', null, h('b', null, countLink(data.queues.length, 'queues')), noun(data.queues.length, 'queue')),
        halted > 0 && h('span', null, badge('halted'), ` ${halted}`),
        h('span', null, h('b', null, countLink(open, 'runs?status=Running')), noun(open, 'open run')),
        h('span', null, h('b', null, count(sum('processing'))), `${noun(sum('processing'), 'task')} running`),
        h('span', null, h('b', null, count(sum('pending'))), 'waiting'),
        h(
            'span',
            null,
            h('b', null, countLink(sum('failed'), 'runs?status=Failed,Running,Paused', 'count-bad')),
            'failed in open runs',
        ),
        h('span', null, h('b', null, countLink(executorsOf(data), 'executors')), noun(executorsOf(data), 'executor')),
        h('span', null, h('b', null, countLink(data.alerts.length, 'missed', 'count-bad')), noun(data.alerts.length, 'open alert')),
    );
}

const executorsOf = (data) =>
    Array.isArray(data.executors)
        ? data.executors.length
        : typeof data.executors === 'object' && data.executors
          ? (data.executors.alive ?? 0)
          : data.executors;

const ALERTS = [
    { label: 'alert', key: true, cell: (a) => h('a', { href: `missed?alert=${a.alert_id}` }, badge(a.kind)) },
    { label: 'job', cell: (a) => (a.job ? jobLink(a.job) : 'the monitor') },
    { label: 'since', cell: (a) => when(a.since) },
    { label: 'what', class: 'text', cell: (a) => a.text },
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
        strip(data),
        h(
            'div.side',
            { key: 'side' },
            panel(
                'Queues',
                { key: 'queues' },
                data.queues.length
                    ? table({ caption: 'Queues', columns: COLUMNS, rows: data.queues, id: (q) => q.queue })
                    : empty('There is no queue yet.', 'lockstep queue create NAME --create-topic'),
            ),
            h(
                'div',
                { key: 'right' },
                panel(
                    'Open alerts',
                    { key: 'alerts' },
                    table({
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
