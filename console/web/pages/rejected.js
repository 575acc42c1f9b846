/* rejected.js: messages that could not become tasks, with the reason. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, filters, listTable, queueFilter } from '../lib/table.js';
import { count, counted, plural, when } from '../lib/format.js';
import { query, seg, send } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';

const COLUMNS = [
    {
        label: 'message',
        key: true,
        num: true,
        cell: (r) => h('a', { href: `rejected/${seg(r.rejected_id)}` }, `#${r.rejected_id}`),
    },
    { label: 'queue', cell: (r) => queueLink(r.queue) },
    { label: 'offset', num: true, cell: (r) => count(r.offset) },
    { label: 'reason', cell: (r) => h('code', null, r.reason) },
    { label: 'detail', class: 'text', cell: (r) => r.detail },
    { label: 'run', maybe: true, cell: (r) => (r.run_id ? runLink(r.run_id) : null) },
    { label: 'rejected', cell: (r) => when(r.rejected_at) },
    {
        label: 'redriven',
        maybe: true,
        cell: (r) => (r.redriven_at ? [badge('completed'), ' ', r.redrive_run && runLink(r.redrive_run)] : null),
    },
];

/* Those of a queue, as they are. One that needs a correction has a page of its own. */
function redrive(queue, run, after) {
    const filter = { queue, ...(run ? { run } : {}) };
    return actionButton('Redrive', {
        title: `Redrive messages of ${queue}`,
        confirm: 'Redrive',
        after,
        effect: [
            `Messages of ${run ? `run ${run}` : queue} that were not redriven are published again as they are, as one run.`,
            'If one of them would be rejected again, none is published. Ends of runs are left out.',
        ],
        preview: async (v) => {
            const doc = await send('POST', 'rejected/redrive', { filter, reason: v.reason || 'preview', preview: true });
            return h('p', null, `${plural(doc.messages, 'message')} would be published. Nothing was changed.`);
        },
        act: (v, change) => change('POST', 'rejected/redrive', { filter, reason: v.reason }),
        done: (d) => `${plural(d.messages, 'message')} redriven as run ${d.run_id}.`,
    });
}

export const page = {
    title: () => 'Rejected',
    watches: ['event', 'queue', 'run'],
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name);
        const [list, queues] = await Promise.all([
            ctx.get(`rejected${query({ queue: q('queue'), run: q('run'), text: q('text'), after: q('after') })}`),
            allQueues(ctx),
        ]);
        return { list, queues };
    },
    view: ({ list, queues }, ctx) => [
        pageHead('Rejected'),
        filters(
            [
                { name: 'text', label: 'text contains', search: true, placeholder: 'search ( / )' },
                queueFilter(queues),
                ctx.query.get('run') && { name: 'run', label: 'of run' },
            ].filter(Boolean),
            ctx.query,
        ),
        panel(
            'Rejected messages',
            {
                key: 'list',
                note: counted(list),
                tools: ctx.session.operator && ctx.query.get('queue') && redrive(ctx.query.get('queue'), ctx.query.get('run'), ctx.reload),
            },
            listTable(
                list,
                {
                    caption: 'Rejected messages',
                    columns: COLUMNS,
                    id: (r) => r.rejected_id,
                    none: 'No message was rejected.',
                },
                ctx.query,
            ),
        ),
    ],
};
