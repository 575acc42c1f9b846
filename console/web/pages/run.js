/* run.js: one run: its Gantt, its phases in words and numbers, its tasks, why it is as it is, what happened. */
import { h, s } from '../lib/dom.js';
import {
    pageHead,
    panel,
    facts,
    progress,
    queueLink,
    taskLink,
    problemBox,
    copyable,
    allFields,
    countLink,
    TASK_STATES,
    jobLink,
} from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { listTable, filters } from '../lib/table.js';
import { count, duration, percent, plural, serverNow, setServerNow, tookSeconds, when, counted } from '../lib/format.js';
import { query, seg, whole } from '../lib/api.js';
import { runButtons, runAction, runState, RUN_ACTIONS } from '../lib/actions.js';
import { pref, setPref } from '../lib/prefs.js';
import { go, here, numberOf } from '../lib/router.js';
import { model, idle, isWhole, partOf, withBars } from '../gantt/model.js';
import { ganttWidget } from '../gantt/view.js';
import { exports } from '../gantt/export.js';
import { explainClosed, explainPanel } from '../lib/explain.js';
import { eventColumns } from '../lib/events.js';

const KEYS = [
    ['done', 'completed'],
    ['running', 'running, open end'],
    ['failed', 'failed, cross'],
    ['again', 'failed, tried again'],
    ['cancelled', 'cancelled, hollow'],
    ['waiting', 'waiting for a reader'],
    ['retry', 'waiting for a retry'],
    ['barrier', 'barrier'],
];

/* Of a run whose rows are gone: what it counts is kept. */
const SWEPT = 'Its tasks and phases were deleted by retention.';

function keyShape(kind) {
    if (kind === 'waiting') return s('rect', { class: 'g-waiting', x: 0, y: 5, width: 22, height: 2 });
    if (kind === 'retry') return s('path', { class: 'g-retry', d: 'M0 6H22' });
    if (kind === 'barrier')
        return [s('rect', { class: 'g-barrier', x: 1, y: 0, width: 14, height: 11 }), s('path', { class: 'g-bar-end', d: 'M15 0v11' })];
    if (kind === 'running') return s('path', { class: 'g-running', d: 'M22 1h-21v9h21' });
    return [
        s('rect', { class: `g-${kind}`, x: 1, y: 1, width: 20, height: 9 }),
        kind === 'failed' && s('path', { class: 'g-cross', d: 'M8 2.5l6 6m0 -6l-6 6' }),
    ];
}

const legend = () =>
    h(
        'div.legend',
        null,
        KEYS.map(([kind, word]) =>
            h(
                'span',
                null,
                s('svg', { class: 'g-key', viewBox: '0 0 22 11', 'aria-hidden': 'true' }, keyShape(kind)),
                word,
            ),
        ),
    );

/* A moment after the zoom, in a run of which the chart has densities alone: the bars of the part that is zoomed into; when all of it is shown, none. */
function learnBars(data, ctx, view, end) {
    const { state } = ctx;
    clearTimeout(state.learning);
    if (state.detail && isWhole(view, end)) state.detail = null; // drawn with the redraw behind the zoom
    if (!data.gantt.sampled) return;
    const part = partOf(view, end, state.detail?.gantt === data.gantt ? state.detail : null);
    if (!part) return;
    state.learning = setTimeout(async () => {
        const ms = (t) => Math.round(t * 1000);
        const doc = await ctx
            .optional(`runs/${seg(data.run.run_id)}/bars${query({ from_ms: ms(part.from), to_ms: ms(part.to) })}`)
            .catch(() => ({ problem: true })); // the page was left
        if (doc.problem) return;
        state.detail = { ...part, gantt: data.gantt, phases: doc.phases };
        ctx.redraw();
    }, 250);
}

function chart(data, ctx) {
    if (data.gantt.problem) return panel('Course', {}, problemBox(data.gantt.problem));
    const squeeze = pref('squeeze') === 'on',
        key = [data.gantt, data.phases, squeeze, ctx.state.detail];
    if (!ctx.state.key || key.some((v, i) => v !== ctx.state.key[i])) {
        ctx.state.model = model(withBars(data.gantt, ctx.state.detail), data.phases.items, squeeze);
        ctx.state.key = key;
    }
    const drawn = ctx.state.model,
        view = () => ctx.state.view ?? { from: 0, to: drawn.end };
    const files = exports(drawn, view(), `run-${data.run.run_id}`);
    const tools = [
        h(
            'label.check',
            { key: 'squeeze' },
            h('input', {
                type: 'checkbox',
                checked: squeeze,
                on: { change: (e) => setPref('squeeze', e.target.checked ? 'on' : 'off') },
            }),
            'squeeze idle times',
        ),
        ['SVG', 'JSON', 'CSV'].map((name) =>
            h(
                'button',
                {
                    key: name,
                    type: 'button',
                    'aria-label': `download as ${name}`,
                    on: { click: () => exports(drawn, view(), `run-${data.run.run_id}`)[name]() },
                },
                `↓ ${name}`,
            ),
        ),
    ];
    if (!drawn.phases.length) return panel('Course', {}, h('p.empty', null, data.run.swept ? SWEPT : 'No phase of it has begun.'));
    const number = (name) => numberOf(here().params, name); // the zoom is noted there alone
    return panel(
        'Course',
        { key: 'gantt', tools: files && tools, note: note(data.gantt) },
        legend(),
        h('div.gantt', {
            key: 'chart',
            widget: ganttWidget,
            data: {
                model: drawn,
                from: number('from'),
                to: number('to'),
                noted: ctx.redraw,
                seen: (v) => {
                    ctx.state.view = v;
                    learnBars(data, ctx, v, drawn.end);
                },
            },
        }),
    );
}

function note(gantt) {
    if (!gantt.sampled) return 'drag to zoom, double click for all, Ctrl and wheel';
    return `from a sample of its tasks, zoom in for the tasks themselves${gantt.phases_hidden ? `, without ${plural(gantt.phases_hidden, 'phase')}` : ''}`;
}

function phaseState(p) {
    if (!p.done_at) return badge(p.opened_at ? 'Running' : 'Pending');
    return badge(p.failed > 0 ? 'Failed' : p.cancelled > 0 && p.completed === 0 ? 'Cancelled' : 'Completed');
}

function phaseColumns(run, operator) {
    const to = (p, status) => `runs/${seg(run.run_id)}${query({ order: p.order, status })}`;
    return [
        { label: 'order', key: true, class: 'nowrap', cell: (p) => h('a', { href: to(p) }, String(p.order)) },
        { label: 'state', cell: phaseState },
        { label: 'tasks', num: true, cell: (p) => countLink(p.tasks, to(p)) },
        { label: 'done', num: true, cell: (p) => countLink(p.completed, to(p, 'Completed')) },
        { label: 'running', num: true, cell: (p) => countLink(p.processing, to(p, 'Processing')) },
        { label: 'failed', num: true, cell: (p) => countLink(p.failed, to(p, 'Failed'), 'count-bad') },
        { label: 'cancelled', num: true, cell: (p) => countLink(p.cancelled, to(p, 'Cancelled')) },
        { label: 'opened', cell: (p) => when(p.opened_at) },
        {
            label: 'took',
            num: true,
            cell: (p) =>
                p.opened_at
                    ? duration(((p.done_at ? Date.parse(p.done_at) : serverNow()) - Date.parse(p.opened_at)) / 1000)
                    : null,
        },
        {
            label: 'barrier',
            title: 'from the last end of the phases before to its own first start',
            num: true,
            cell: (p) => duration(p.barrier_s ?? (p.barrier_ms == null ? null : p.barrier_ms / 1000)),
        },
        { label: 'idle', num: true, title: 'share of reader time in which nothing ran', cell: (p) => percent(idle(p)) },
        {
            label: 'straggler',
            class: 'text',
            cell: (p) =>
                p.straggler && [taskLink(p.straggler.task_id, p.straggler.name), ` ${duration(p.straggler.seconds)}`],
        },
        operator && {
            label: 'do',
            class: 'nowrap',
            cell: (p) =>
                h('a', { href: `replay${query({ queue: run.queue, run: run.run_id, order: p.order })}`, 'aria-label': `replay order ${p.order}` }, 'replay …'),
        },
    ].filter(Boolean);
}

function phases(data, ctx) {
    if (data.phases.problem) return panel('Phases', {}, problemBox(data.phases.problem));
    const drawn = new Map((data.gantt.phases ?? []).map((p) => [String(p.order), p]));
    const rows = data.phases.items.map((p) => {
        const { barrier_s = p.barrier_s, busy_share, straggler } = drawn.get(String(p.order)) ?? {};
        return { ...p, barrier_s, busy_share, straggler };
    });
    const reckoned = rows.some((p) => p.counted_all === false) ? ', the tasks of large ones are reckoned' : '';
    return panel(
        'Phases',
        { key: 'phases', note: `${counted(data.phases)}${reckoned}` },
        listTable(
            { ...data.phases, items: rows },
            {
                tall: true,
                caption: 'Phases',
                cursor: 'phases',
                columns: phaseColumns(data.run, ctx.session.operator),
                id: (p) => p.order,
                none: data.run.swept ? SWEPT : 'No phase has been claimed.',
            },
            ctx.query,
        ),
    );
}

const TASK_COLUMNS = [
    { label: 'task', key: true, cell: (t) => taskLink(t.task_id, t.name ?? null) },
    { label: 'status', cell: (t) => badge(t.status, t.skipped) },
    { label: 'order', num: true, cell: (t) => t.order },
    { label: 'type', cell: (t) => t.type },
    { label: 'attempt', num: true, cell: (t) => t.attempt ?? t.attempt_num },
    { label: 'began', cell: (t) => when(t.started_at) },
    {
        label: 'took',
        num: true,
        cell: (t) => duration(tookSeconds(t)),
    },
    { label: 'error', class: 'text', cell: (t) => t.error ?? t.error_text },
];

function tasks(data, ctx) {
    return panel(
        'Tasks',
        { key: 'tasks' },
        filters(
            [
                { name: 'name', label: 'name contains', search: true },
                { name: 'order', label: 'order', type: 'search' },
                { name: 'status', label: 'status', chips: TASK_STATES },
            ],
            ctx.query,
        ),
        listTable(
            data.tasks,
            { caption: 'Tasks', columns: TASK_COLUMNS, id: (t) => t.task_id, none: data.run.swept ? SWEPT : 'No task matches.' },
            ctx.query,
        ),
    );
}

function head(data, ctx) {
    const r = data.run,
        reload = ctx.reload;
    const replay = h('a', { href: `replay${query({ queue: r.queue, run: r.run_id })}` }, 'replay …');
    return pageHead(r.name ?? `Run ${r.run_id.slice(0, 8)}`, {
        badge: badge(runState(r)),
        sub: r.reason,
        tools: ctx.session.operator && [runButtons(r, reload), replay],
    });
}

function summary(r, explain) {
    return panel(
        'Summary',
        { key: 'summary' },
        facts([
            ['queue', queueLink(r.queue)],
            ['run', copyable(r.run_id), null, true],
            ['tasks', progress(r)],
            ['open phase', r.order],
            ['phases', r.end_phases ?? r.phases],
            [
                'rejected',
                r.rejected
                    ? h('a', { href: `rejected${query({ run: r.run_id })}` }, count(r.rejected))
                    : null,
            ],
            ['started by', r.job ? jobLink(r.job) : r.started_by],
            ['on failure', r.on_failure],
            ['published', when(r.published_at, null)],
            ['began', when(r.started_at, null)],
            ['ended', when(r.ended_at, null)],
            [
                'took',
                r.started_at &&
                    duration(((r.ended_at ? Date.parse(r.ended_at) : serverNow()) - Date.parse(r.started_at)) / 1000),
            ],
        ]),
        allFields(r),
        explain,
    );
}

/* Nothing has to be done about a run that completed: why it is so has no panel of its own. */
const top = ({ run, explain }) =>
    run.status === 'Completed' ? summary(run, explainClosed(explain)) : h('div.columns.even', { key: 'top' }, explainPanel(explain), summary(run));

export const page = {
    title: (params, data) => (data ? `Run ${data.run.name ?? params.id.slice(0, 8)}` : `Run ${params.id.slice(0, 8)}`),
    watches: ['run', 'phase', 'task'],
    concerns: (event, ctx) => !event.run_id || event.run_id === ctx.params.id,
    load: async (ctx) => {
        const at = `runs/${seg(ctx.params.id)}`,
            q = (name) => ctx.query.get(name);
        const [run, gantt, phaseRows, taskRows, explain, events] = await Promise.all([
            ctx.get(at).then((doc) => whole(doc, 'run')),
            ctx.optional(`${at}/gantt?buckets=400`),
            ctx.optional(`${at}/phases${query({ after: q('phases'), limit: 200 })}`),
            ctx.optional(
                `${at}/tasks${query({ order: q('order'), status: q('status'), name: q('name'), after: q('after') })}`,
            ),
            ctx.optional(`${at}/explain`),
            ctx.optional(`${at}/events?limit=50`),
        ]);
        setServerNow(gantt.now);
        return { run, gantt, phases: phaseRows, tasks: taskRows, explain, events };
    },
    view: (data, ctx) => [
        head(data, ctx),
        top(data),
        chart(data, ctx),
        phases(data, ctx),
        h(
            'div.side',
            { key: 'side' },
            h('div', { key: 'left' }, tasks(data, ctx)),
            h(
                'div',
                { key: 'right' },
                panel(
                    'Events',
                    { key: 'events', tools: h('a', { href: `log${query({ run: data.run.run_id })}` }, 'all of it') },
                    listTable(
                        data.events,
                        {
                            caption: 'Events of the run',
                            columns: eventColumns({ run: false }),
                            id: (e) => e.event_id,
                            none: 'No event.',
                        },
                        null,
                    ),
                ),
            ),
        ),
    ],
    keys: Object.fromEntries(
        [
            ['c', 'cancel'],
            ['p', 'pause'],
            ['r', 'resume'],
            ['e', 'retry'],
        ]
            .map(([key, name]) => [
                key,
                [
                    `${name} the run`,
                    (ctx, data) => {
                        if (ctx.session.operator && RUN_ACTIONS[name].legal(data.run))
                            runAction(name, data.run, ctx.reload);
                    },
                ],
            ])
            .concat([
                [
                    'y',
                    ['replay it', (ctx, data) => go(`replay${query({ queue: data.run.queue, run: data.run.run_id })}`)],
                ],
            ]),
    ),
};
