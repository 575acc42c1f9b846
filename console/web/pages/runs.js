/* runs.js: the runs, filtered; a selection or all that match may be paused, resumed, retried, cancelled. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink, progress, countLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, filters, listTable, queueFilter, selection } from '../lib/table.js';
import { counted, duration, serverNow, when, instant } from '../lib/format.js';
import { query, seg } from '../lib/api.js';
import { MANY, runsAction, runState } from '../lib/actions.js';

const STATUSES = [
    'Running',
    'Paused',
    'Failed',
    'PartiallyCompleted',
    'Published',
    'Publishing',
    'Completed',
    'Cancelled',
];
const FILTERS = ['queue', 'status', 'name', 'since', 'until'];

function took(run) {
    if (!run.started_at) return duration(null);
    return duration(((run.ended_at ? Date.parse(run.ended_at) : serverNow()) - Date.parse(run.started_at)) / 1000);
}

export const RUN_COLUMNS = [
    { label: 'run', key: true, cell: (r) => runLink(r.run_id, r.name) },
    { label: 'status', cell: (r) => badge(runState(r), r.reason) },
    { label: 'queue', cell: (r) => queueLink(r.queue) },
    { label: 'tasks', cell: progress },
    {
        label: 'failed',
        num: true,
        cell: (r) => countLink(r.failed, `runs/${seg(r.run_id)}?status=Failed`, 'count-bad'),
    },
    { label: 'phase', num: true, class: 'spare', cell: (r) => r.order },
    { label: 'phases', num: true, class: 'spare', cell: (r) => r.end_phases ?? r.phases },
    { label: 'began', cell: (r) => when(r.started_at ?? r.published_at) },
    { label: 'took', num: true, class: 'extra', cell: took },
    { label: 'started by', maybe: true, class: 'text spare', cell: (r) => r.started_by },
    { label: 'reason', maybe: true, class: 'text', cell: (r) => r.reason && h('span.clip', { title: r.reason }, r.reason) },
];

function filterFields(data) {
    return [
        { name: 'name', label: 'name contains', search: true, placeholder: 'search ( / )' },
        queueFilter(data.queues),
        { name: 'since', label: 'since', type: 'datetime-local' },
        { name: 'until', label: 'until', type: 'datetime-local' },
        { name: 'status', label: 'status', chips: STATUSES },
    ];
}

/* The server wants ISO 8601 with a zone. */
export const zoned = (params) => Object.fromEntries(['since', 'until'].map((name) => [name, instant(params.get(name) ?? '')]));

/* What the filters of the page describe, for an action on all that match. */
export function matching(params) {
    const given = { ...Object.fromEntries(['queue', 'status', 'name'].map((n) => [n, params.get(n)])), ...zoned(params) };
    return Object.fromEntries(Object.entries(given).filter(([, v]) => v));
}

function bulk(list, ctx, chosen, filter) {
    const picked = list.items?.filter(chosen.has) ?? [];
    const after = () => {
        chosen.clear();
        ctx.reload();
    };
    const all = chosen.matching && counted(list);
    return h(
        'div.bulk',
        { key: 'bulk', role: 'group', 'aria-label': 'actions on the selection' },
        h('strong', null, all ? `all ${all} that match` : `${chosen.size} selected`),
        MANY.map(([name, action]) =>
            h(
                'button',
                {
                    type: 'button',
                    key: name,
                    disabled: !all && !picked.some(action.legal) && picked.length === chosen.size,
                    on: { click: () => runsAction(name, all ? { filter, total: all } : { runs: chosen.ids() }, after) },
                },
                `${action.word} …`,
            ),
        ),
        !all &&
            list.next &&
            h(
                'button.link',
                { type: 'button', key: 'all', on: { click: chosen.match } },
                `take all ${counted(list)} that match the filters`,
            ),
        h('button.link', { type: 'button', key: 'none', on: { click: chosen.clear } }, 'clear'),
    );
}

export const page = {
    title: () => 'Runs',
    watches: ['run', 'phase'],
    concerns: (event, ctx) => !ctx.query.get('queue') || !event.queue || event.queue === ctx.query.get('queue'),
    load: async (ctx) => {
        const q = Object.fromEntries([...FILTERS, 'after', 'limit'].map((n) => [n, ctx.query.get(n)])),
            filter = matching(ctx.query);
        const [list, queues] = await Promise.all([
            ctx.get(`runs${query({ ...q, ...zoned(ctx.query) })}`),
            allQueues(ctx),
        ]);
        return { list, queues, filter };
    },
    view: (data, ctx) => {
        const filter = matching(ctx.query),
            stale = JSON.stringify(filter) !== JSON.stringify(data.filter), // until its list has come: the rows are of another one
            list = stale ? { ...data.list, next: null, count: null } : data.list,
            chosen = selection(ctx.state, { id: (r) => r.run_id, name: (r) => r.name ?? r.run_id, filter }, ctx.redraw);
        const select = ctx.session.operator ? chosen : null;
        return [
            pageHead('Runs'),
            filters(filterFields(data), ctx.query),
            panel(
                'Runs',
                { key: 'list', note: stale ? null : `${counted(list)} match` },
                select && chosen.size > 0 && bulk(list, ctx, chosen, filter),
                listTable(
                    list,
                    {
                        caption: 'Runs',
                        columns: RUN_COLUMNS,
                        id: (r) => r.run_id,
                        select,
                        none: 'No run matches.',
                        noneHint: 'lockstep publish --queue Q FILE makes one.',
                    },
                    ctx.query,
                ),
            ),
        ];
    },
};
