/* replay.js: messages of a range are run again: the range, what the preview counts, and what was replayed before. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, empty, facts, copyable } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, listTable } from '../lib/table.js';
import { count, duration, plural, when } from '../lib/format.js';
import { offers, query, send } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';
import { said } from './rejected_message.js';

const MODES = ['failed', 'missing', 'all'];
const MEANING = {
    failed: 'Tasks that failed or were cancelled run again; completed ones do not.',
    missing: 'Only messages that the database does not know become tasks.',
    all: 'Every task of the range runs again, also completed ones.',
};

const HISTORY = [
    { label: 'replay', key: true, num: true, cell: (r) => `#${r.replay_id}` },
    { label: 'queue', cell: (r) => queueLink(r.queue) },
    { label: 'status', cell: (r) => badge(r.status) },
    { label: 'mode', cell: (r) => r.mode },
    { label: 'from', num: true, cell: (r) => r.from_offset ?? r.from },
    { label: 'to', num: true, cell: (r) => r.to_offset ?? r.to },
    { label: 'began', cell: (r) => when(r.started_at ?? r.created_at) },
    {
        label: 'took',
        num: true,
        cell: (r) =>
            r.ended_at && r.started_at ? duration((Date.parse(r.ended_at) - Date.parse(r.started_at)) / 1000) : null,
    },
    { label: 'who', cell: (r) => r.actor ?? r.login ?? r.created_by },
    { label: 'reason', class: 'text', cell: (r) => r.reason },
];

function preview(doc) {
    if (doc.counts && typeof doc.counts === 'object')
        return [
            h(
                'p',
                null,
                `${doc.runs != null ? `${plural(doc.runs, 'run')}. ` : ''}By what the database knows of each message:`,
            ),
            facts(Object.entries(doc.counts).map(([k, v]) => [k.replaceAll('_', ' '), count(v)])),
        ];
    return said(doc);
}

/* Numbers stay offsets, words stay words, everything else is a time. */
function bound(text) {
    if (/^\d+$/.test(text)) return Number(text);
    const ms = Date.parse(text);
    return ['earliest', 'latest', ''].includes(text) || Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

function request(v) {
    return {
        reason: v.reason || 'preview',
        queue: v.queue,
        mode: v.mode,
        ...(v.run ? { run: v.run } : { from: bound(v.from ?? ''), to: bound(v.to ?? '') }),
        ...(v.order ? { order: Number(v.order) } : {}),
    };
}

/* The same by the command line, for servers that do not replay over HTTP: without --execute it counts and changes nothing. */
function command(queues, ctx) {
    const run = ctx.query.get('run'),
        queue = ctx.query.get('queue') ?? queues[0];
    return `lockstep replay --queue ${queue} ${run ? `--run ${run}` : '--from-offset earliest --to-offset latest'} --mode failed`;
}

function start(queues, ctx) {
    const values = {
        queue: ctx.query.get('queue') ?? queues[0],
        mode: 'failed',
        run: ctx.query.get('run') ?? '',
        from: 'earliest',
        to: 'latest',
        order: '',
    };
    return actionButton('Replay', {
        title: 'Replay',
        confirm: 'Execute',
        danger: true,
        values,
        after: ctx.reload,
        fields: [
            { name: 'queue', label: 'queue', options: queues },
            { name: 'mode', label: 'mode', options: MODES },
            { name: 'run', label: 'run', help: 'one run; empty: the range below' },
            { name: 'order', label: 'from the phase of order', type: 'number', help: 'of one run; empty: all phases' },
            { name: 'from', label: 'from', help: 'an offset, a time, or earliest' },
            { name: 'to', label: 'to', help: 'an offset, a time, or latest' },
        ],
        effect: (v) => [
            MEANING[v.mode],
            v.run
                ? `Of run ${v.run}${v.order ? `, from order ${v.order} on` : ''}.`
                : `Of ${v.queue}, from ${v.from} to ${v.to}.`,
            'Phases keep their order. The preview counts first; it changes nothing.',
        ],
        preview: async (v) => preview(await send('POST', 'replay', { ...request(v), preview: true })),
        act: (v) => send('POST', 'replay', request(v)),
        done: () => 'The replay has begun.',
    });
}

export const page = {
    title: () => 'Replay',
    watches: ['event', 'run'],
    load: async (ctx) => {
        const [list, queues, may] = await Promise.all([
            ctx.get(`replays${query({ queue: ctx.query.get('queue'), after: ctx.query.get('after') })}`),
            allQueues(ctx),
            offers('/replay'),
        ]);
        return { list, may, queues: queues.items.map((q) => q.queue ?? q.name) };
    },
    view: ({ list, queues, may }, ctx) => [
        pageHead('Replay', {
            sub: ctx.query.get('run')
                ? `of run ${ctx.query.get('run')}`
                : 'Messages of a range of offsets or of time, or of one run, are run again.',
            tools:
                ctx.session.operator &&
                queues.length > 0 &&
                (may ? start(queues, ctx) : copyable(command(queues, ctx))),
        }),
        !ctx.session.operator && empty('Replays are started by members of lockstep_operator.'),
        panel(
            'Replays',
            { key: 'list' },
            listTable(
                list,
                { caption: 'Replays', columns: HISTORY, id: (r) => r.replay_id, none: 'Nothing was replayed.' },
                ctx.query,
            ),
        ),
    ],
};
