/* tasks.js: the tasks of all runs, or of a queue's: what failed, runs, or waits, wherever it is. */
import { pageHead, panel, queueLink, runLink, taskLink, TASK_STATES } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, filters, listTable, queueFilter } from '../lib/table.js';
import { counted, duration, when } from '../lib/format.js';
import { query } from '../lib/api.js';

const COLUMNS = [
    { label: 'task', key: true, cell: (t) => taskLink(t.task_id, t.name) },
    { label: 'status', cell: (t) => badge(t.status, t.error) },
    { label: 'queue', cell: (t) => queueLink(t.queue) },
    { label: 'run', cell: (t) => runLink(t.run_id, t.run_name) },
    { label: 'order', num: true, cell: (t) => String(t.order) },
    { label: 'attempt', num: true, class: 'spare', cell: (t) => `${t.attempt} of ${t.max_attempts}` },
    { label: 'began', cell: (t) => when(t.started_at, null) },
    { label: 'took', num: true, cell: (t) => duration(t.seconds) },
    { label: 'error', maybe: true, class: 'text', cell: (t) => t.error },
];

export const page = {
    title: () => 'Tasks',
    watches: ['run', 'event'],
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name);
        const [list, queues] = await Promise.all([
            ctx.get(`tasks${query({ queue: q('queue'), status: q('status'), name: q('name'), after: q('after') })}`),
            allQueues(ctx),
        ]);
        return { list, queues };
    },
    view: ({ list, queues }, ctx) => [
        pageHead('Tasks'),
        filters(
            [
                { name: 'name', label: 'name contains', search: true, placeholder: 'search ( / )' },
                queueFilter(queues),
                { name: 'status', label: 'status', chips: TASK_STATES },
            ],
            ctx.query,
        ),
        panel(
            'Tasks of the newest runs first',
            { key: 'list', note: counted(list) },
            listTable(list, { caption: 'Tasks', columns: COLUMNS, id: (t) => t.task_id, none: 'No task matches.' }, ctx.query),
        ),
    ],
};
