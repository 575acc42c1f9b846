/* executors.js: the executors: where they run, what they have in hand, whether they are alive. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink } from '../lib/parts.js';
import { stateOf as queueState, troubleList, troubleOf } from '../lib/trouble.js';
import { badge } from '../lib/badge.js';
import { allQueues, listTable } from '../lib/table.js';
import { count, orUnknown, size, when, NONE, serverNow } from '../lib/format.js';
import { query, seg } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';

const SILENT_MS = 30000;

function stateOf(e) {
    const word = e.state ?? e.status;
    if (word) return word;
    if (e.heartbeat_at && serverNow() - Date.parse(e.heartbeat_at) > SILENT_MS) return 'silent';
    return e.drained || e.draining ? 'draining' : 'alive';
}

/* How many of its readers it may use. */
const usable = (e) => Math.min(e.readers_limit ?? e.readers, e.readers);

const busy = (e) =>
    `${count(e.busy ?? e.in_use ?? 0)} of ${count(usable(e))}${usable(e) < e.readers ? `, limited from ${count(e.readers)}` : ''}`;

function buttons(e, reload) {
    const at = `executors/${seg(e.executor_id)}`,
        name = `${e.host ?? ''} ${String(e.executor_id).slice(0, 8)}`;
    return h(
        'span.tools',
        null,
        actionButton('Readers', {
            title: `Readers of executor ${name}`,
            confirm: 'Set readers',
            method: 'PUT',
            path: `${at}/readers`,
            after: reload,
            values: { readers: String(e.readers_limit ?? '') },
            fields: [{ name: 'readers', label: 'readers', type: 'number', min: 0, max: 1000, help: 'empty: all that it was started with' }],
            effect: (v) => [
                v.readers === ''
                    ? `The executor uses all ${e.readers} readers that it was started with.`
                    : `The executor uses ${v.readers} of the ${e.readers} readers that it was started with.`,
                `Now it uses ${usable(e)}${e.readers_limit == null ? ', without a limit' : ', because of a limit'}.`,
                'Tasks that run now end as they would.',
            ],
            body: (v) => ({ reason: v.reason, ...(v.readers === '' ? {} : { readers: Number(v.readers) }) }),
        }),
        actionButton('Drain', {
            title: `Drain executor ${name}`,
            confirm: 'Drain',
            danger: true,
            path: `${at}/drain`,
            after: reload,
            effect: [
                'It starts no further task and returns what it has not started.',
                'It ends when its running tasks have ended; other executors take the rest.',
            ],
        }),
    );
}

const queuesOf = (e) =>
    h(
        'span.names',
        null,
        (Array.isArray(e.queues) ? e.queues : [e.queue]).map((q, i) => [i > 0 && ', ', queueLink(q?.queue ?? q)]),
    );

function columns(operator, reload, some) {
    return [
        {
            label: 'executor',
            key: true,
            cell: (e) => h('code', { title: e.executor_id }, String(e.executor_id ?? NONE).slice(0, 8)),
        },
        { label: 'state', cell: (e) => badge(stateOf(e)) },
        { label: 'host', cell: (e) => e.host },
        { label: 'pid', num: true, cell: (e) => e.pid },
        { label: 'queues', cell: queuesOf },
        { label: 'readers busy', num: true, cell: busy },
        some && { label: 'trouble', class: 'text', cell: (e) => e.trouble },
        { label: 'heartbeat', cell: (e) => when(e.heartbeat_at) },
        { label: 'started', cell: (e) => when(e.started_at) },
        { label: 'version', cell: (e) => e.version },
        { label: 'memory', num: true, cell: (e) => orUnknown(e.memory_bytes, size, 'this executor has not reported it') },
        operator && { label: 'do', cell: (e) => e.executor_id && e.drain_at == null && buttons(e, reload) },
    ].filter(Boolean);
}

/* The queues that have work and no executor. */
function unserved(queues) {
    const without = queues.filter((q) => queueState(q) === 'no executor');
    return (
        without.length > 0 &&
        h(
            'section.panel.attention',
            { key: 'unserved', role: 'alert' },
            h('h2.unseen', null, 'Queues without an executor'),
            troubleList(without.map(troubleOf)),
        )
    );
}

export const page = {
    title: () => 'Executors',
    watches: ['executor'],
    every: 5,
    load: async (ctx) => {
        const [list, queues] = await Promise.all([ctx.get(`executors${query({ after: ctx.query.get('after') })}`), allQueues(ctx)]);
        return { list, queues };
    },
    view: ({ list, queues }, ctx) => [
        pageHead('Executors'),
        unserved(queues.items),
        panel(
            'Executors',
            { key: 'list' },
            listTable(
                list,
                {
                    caption: 'Executors',
                    columns: columns(ctx.session.operator, ctx.reload, list.items.some((e) => e.trouble)),
                    id: (e, i) => `${e.executor_id} ${e.queue ?? ''}`,
                    none: 'No executor runs.',
                    noneHint: 'lockstep executor run --queue Q --readers 5',
                },
                ctx.query,
            ),
        ),
    ],
};
