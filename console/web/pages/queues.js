/* queues.js: the queues with their policy, readers and position on the topic. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, countLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { listTable } from '../lib/table.js';
import { capped, count, lag, orUnknown } from '../lib/format.js';
import { query } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';
import { stateOf, troubleOf } from '../lib/trouble.js';

export const nameOf = (q) => q.queue ?? q.name;

const why = (q) =>
    q.halted_detail ?? q.halted_reason ?? q.paused_reason ??
    (stateOf(q) === 'no executor' ? [troubleOf(q).sentence, ': ', h('code', null, troubleOf(q).helps)] : null);

const COLUMNS = [
    { label: 'queue', key: true, cell: (q) => queueLink(nameOf(q)) },
    { label: 'state', cell: (q) => badge(stateOf(q)) },
    {
        label: 'open runs',
        num: true,
        cell: (q) =>
            countLink(
                q.active_runs ?? 0,
                `runs${query({ queue: nameOf(q), status: 'Running,Paused,Published,Publishing' })}`,
                null,
                capped,
            ),
    },
    { label: 'executors', num: true, cell: (q) => orUnknown(q.executors, (n) => countLink(n, 'executors'), 'a standby does not see them') },
    { label: 'readers', num: true, cell: (q) => `${count(q.in_use ?? 0)} of ${count(q.max_readers)}` },
    { label: 'lag', num: true, title: 'messages on the topic that are not claimed', cell: lag },
    { label: 'topic', cell: (q) => h('code', null, `${q.topic}${q.partition ? `:${q.partition}` : ''}`) },
    { label: 'cursor', num: true, cell: (q) => count(q.cursor ?? q.next_offset) },
    { label: 'on failure', cell: (q) => q.on_failure },
    { label: 'runs', cell: (q) => q.runs },
    { label: 'rejected', num: true, cell: (q) => countLink(q.rejected ?? 0, `rejected${query({ queue: nameOf(q) })}`, null, capped) },
    { label: 'why', maybe: true, class: 'text', cell: why },
];

function create(after) {
    return actionButton('New queue', {
        title: 'New queue',
        confirm: 'Make the queue',
        path: 'queues',
        after,
        values: { create_topic: 'no', max_readers: '5' },
        fields: [
            { name: 'name', label: 'name', required: true },
            { name: 'topic', label: 'topic', help: "empty: the queue's name" },
            { name: 'create_topic', label: 'make the topic if it is not there', options: ['no', 'yes'] },
            { name: 'max_readers', label: 'readers (0 to 1000)', type: 'number', min: 0, max: 1000, required: true },
        ],
        effect: (v) => [
            `A queue reads the one partition of topic ${v.topic || v.name || '…'}, from its beginning.`,
            v.create_topic === 'yes' ? 'The topic is made if it is not there: one partition, kept without limit.' : 'The topic must be there, with one partition.',
            'Messages that are there already are run once an executor works for it: lockstep executor run --queue NAME.',
        ],
        body: (v) => ({
            reason: v.reason,
            name: v.name,
            max_readers: Number(v.max_readers),
            create_topic: v.create_topic === 'yes',
            ...(v.topic ? { topic: v.topic } : {}),
        }),
        done: () => 'The queue is made.',
    });
}

export const page = {
    title: () => 'Queues',
    watches: ['queue', 'run', 'executor'],
    load: async (ctx) => ({ list: await ctx.get(`queues${query({ after: ctx.query.get('after') })}`) }),
    view: ({ list }, ctx) => [
        pageHead('Queues', { tools: ctx.session.operator && create(ctx.reload) }),
        panel(
            'Queues',
            { key: 'list' },
            listTable(
                list,
                {
                    caption: 'Queues',
                    columns: COLUMNS,
                    id: nameOf,
                    none: 'There is no queue yet.',
                    noneHint: 'lockstep queue create NAME --create-topic',
                },
                ctx.query,
            ),
        ),
    ],
};
