/* rejected.js: messages that could not become tasks, with the reason. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, filters, listTable, queueFilter } from '../lib/table.js';
import { count, counted, when } from '../lib/format.js';
import { query, seg } from '../lib/api.js';

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
            { key: 'list', note: counted(list) },
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
