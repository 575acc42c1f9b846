/* queue.js: one queue: readers over time, what more of them would bring, policy, position on the topic, and its runs. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, problemBox, allFields, taskLink, empty, countLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { table, listTable } from '../lib/table.js';
import { series } from '../lib/chart.js';
import { capped, count, duration, lag, noun, orUnknown, percent, when, size, plural } from '../lib/format.js';
import { query, seg, whole } from '../lib/api.js';
import { parse } from '../lib/json.js';
import { actionButton } from '../lib/actions.js';
import { explainPanel } from '../lib/explain.js';
import { nameOf } from './queues.js';
import { stateOf } from '../lib/trouble.js';
import { RUN_COLUMNS } from './runs.js';
import { go, withQuery } from '../lib/router.js';

const POLICY = [
    { name: 'on_failure', label: 'on failure', options: ['stop', 'continue', 'pause'] },
    { name: 'runs', label: 'runs', options: ['serial', 'concurrent'] },
    { name: 'max_attempts', label: 'attempts', type: 'number', min: 1, max: 1000 },
    {
        name: 'lookahead',
        label: 'lookahead',
        type: 'number',
        min: 1,
        max: 1000,
        help: 'phases claimed beyond the open one',
    },
];

/* Only what was changed is sent. */
function changed(values, q) {
    const pairs = POLICY.map((f) => [f.name, f.type === 'number' ? Number(values[f.name]) : values[f.name]]);
    return Object.fromEntries(pairs.filter(([k, v]) => v && String(v) !== String(q[k] ?? '')));
}

/* One JSON object a line, as `lockstep publish` takes them. */
const tasksOf = (text) =>
    text
        .split('\n')
        .filter((line) => line.trim())
        .map(parse);

/* A number, or a word. */
const placeOf = (text) => (/^\d+$/.test(text.trim()) ? Number(text.trim()) : text.trim());

function publishAction(q, after) {
    return actionButton('Publish', {
        title: `Publish a run on ${nameOf(q)}`,
        confirm: 'Publish',
        path: `queues/${seg(nameOf(q))}/runs`,
        after,
        noReason: true,
        fields: [
            { name: 'name', label: 'name of the run' },
            { name: 'on_failure', label: 'when a task fails', options: ['', 'stop', 'continue', 'pause'], any: 'as the queue says' },
            {
                name: 'tasks',
                label: 'tasks, one JSON object a line',
                rows: 8,
                required: true,
                help: '{"order": 100, "sql": "CALL load()"}',
            },
        ],
        effect: [
            `The tasks become one run on ${nameOf(q)}, with their orders as its phases.`,
            'It needs a login of lockstep_producer.',
        ],
        body: (v) => ({ tasks: tasksOf(v.tasks), ...(v.name ? { name: v.name } : {}), ...(v.on_failure ? { on_failure: v.on_failure } : {}) }),
        done: (doc) => `Published as run ${doc.run_id}.`,
    });
}

function readersAction(q, after) {
    const at = `queues/${seg(nameOf(q))}`;
    return actionButton('Readers', {
        title: `Readers of ${nameOf(q)}`,
        confirm: 'Set readers',
        method: 'PUT',
        path: `${at}/readers`,
        values: { max_readers: String(q.max_readers) },
        after,
        fields: [
            { name: 'max_readers', label: 'readers (0 to 1000)', type: 'number', min: 0, max: 1000, required: true },
        ],
        effect: (v) => [
            `At most ${plural(Number(v.max_readers), 'task')} of the queue at once, over all executors; now ${q.max_readers}.`,
            Number(v.max_readers) < q.max_readers
                ? 'Tasks that run now end as they would; fewer start after them.'
                : 'More tasks start at once where executors have free readers.',
        ],
        body: (v) => ({ reason: v.reason, max_readers: Number(v.max_readers) }),
    });
}

function buttons(q, after) {
    const at = `queues/${seg(nameOf(q))}`,
        state = stateOf(q),
        values = Object.fromEntries(POLICY.map((f) => [f.name, q[f.name] == null ? '' : String(q[f.name])]));
    return [
        publishAction(q, after),
        readersAction(q, after),
        actionButton('Policy', {
            title: `Policy of ${nameOf(q)}`,
            confirm: 'Change the policy',
            method: 'PUT',
            path: `${at}/policy`,
            fields: POLICY,
            values,
            after,
            effect: (v) => {
                const c = Object.entries(changed(v, q));
                return c.length
                    ? c.map(([k, x]) => `${k.replaceAll('_', ' ')}: ${q[k] ?? 'default'} becomes ${x || 'default'}.`)
                    : ['Nothing is changed yet.'];
            },
            body: (v) => ({ reason: v.reason, policy: changed(v, q) }),
        }),
        state !== 'halted' &&
            state !== 'paused' &&
            actionButton('Pause', {
                title: `Pause ${nameOf(q)}`,
                confirm: 'Pause the queue',
                path: `${at}/pause`,
                after,
                effect: [
                    'No further task of the queue starts, and nothing is claimed.',
                    'Tasks that run now end as they would.',
                ],
            }),
        state === 'paused' &&
            actionButton('Resume', {
                title: `Resume ${nameOf(q)}`,
                confirm: 'Resume the queue',
                path: `${at}/resume`,
                after,
                effect: ['Its tasks start again where they were.'],
            }),
        q.halted_reason === 'other_server' &&
            actionButton('Accept server', {
                title: `Accept the server of ${nameOf(q)}`,
                confirm: 'Accept and resume',
                danger: true,
                path: `${at}/accept-server`,
                after,
                effect: [
                    `Halted: ${q.halted_detail ?? q.halted_reason}`,
                    'The queue runs on the server and in the database that it is in now.',
                    'Tasks run twice if the queue is worked on at the server where it was before, too.',
                ],
            }),
        state === 'halted' &&
            q.halted_reason !== 'other_server' &&
            actionButton('Accept', {
                title: `Accept the topic of ${nameOf(q)} as it is`,
                confirm: 'Accept and resume',
                danger: true,
                path: `${at}/accept`,
                after,
                fields: [{ name: 'from_offset', label: 'continue at', help: 'an offset, or earliest or latest; empty: at the cursor' }],
                effect: (v) => [
                    `Halted: ${q.halted_detail ?? q.halted_reason}`,
                    `The queue takes the topic as it is now for the right one, and continues at ${v.from_offset ? placeOf(v.from_offset) : 'its cursor'}.`,
                ],
                body: (v) => ({ reason: v.reason, ...(v.from_offset ? { from_offset: placeOf(v.from_offset) } : {}) }),
            }),
        actionButton('Delete', {
            title: `Delete ${nameOf(q)}`,
            confirm: 'Delete the queue',
            danger: true,
            method: 'DELETE',
            path: at,
            effect: [
                `${nameOf(q)} is deleted with all its runs, tasks, records and jobs; ${capped(q.active_runs ?? 0)} ${noun(q.active_runs, 'run')} of it ${q.active_runs === 1 ? 'is' : 'are'} open.`,
                `The topic ${q.topic} stays, and what is on it and not claimed is not run.`,
                'It is refused while tasks of it run.',
            ],
            done: (doc) => `${doc.queue} is deleted, with ${plural(doc.tasks, 'task')}.`,
            leave: 'queues',
        }),
    ];
}

function readersPanel(readers) {
    if (readers.problem) return panel('Readers', { key: 'readers' }, problemBox(readers.problem));
    const points = readers.points ?? readers.items ?? [];
    return panel(
        'Readers',
        { key: 'readers', note: 'target and in use' },
        points.length < 2
            ? empty('Nothing is measured yet.')
            : series({
                  key: 'chart',
                  x: points.map((p) => Date.parse(p.at)),
                  lines: [
                      { label: 'in use', values: points.map((p) => p.in_use), area: true },
                      { label: 'target', values: points.map((p) => p.target) },
                  ],
                  unit: count,
              }),
    );
}

const ADVICE = [
    { label: 'readers', key: true, num: true, cell: (r) => count(r.readers) },
    { label: 'makespan', num: true, cell: (r) => duration(r.makespan_s) },
    { label: 'cost', num: true, title: 'reader-seconds', cell: (r) => `${count(Math.round(r.cost_s))} s` },
    { label: 'idle', num: true, cell: (r) => percent(r.idle) },
    { label: 'which', cell: (r) => r.mark },
];
const STRAGGLERS = [
    { label: 'phase', key: true, num: true, cell: (x) => String(x.order) },
    { label: 'task', cell: (x) => taskLink(x.task_id, x.name) },
    { label: 'takes', num: true, cell: (x) => duration(x.seconds) },
];

const larger = (advise) =>
    `${plural(advise.larger_runs, 'run')} with more than ${count(advise.most_tasks)} tasks ${advise.larger_runs === 1 ? 'is' : 'are'} left out; lockstep queue advise reads larger ones`;

function whatIf(advise, q, ctx) {
    const runs = ctx.query.get('runs') ?? '10';
    const tools = h(
        'label.check',
        null,
        'runs ',
        h(
            'select',
            { value: runs, on: { change: (e) => go(withQuery({ runs: e.target.value }), { replace: true }) } },
            ['1', '5', '10', '50', '100'].map((n) => h('option', { value: n, selected: n === runs }, n)),
        ),
    );
    if (advise.problem) return panel('What more readers bring', { key: 'whatif', tools }, problemBox(advise.problem));
    const rows = (advise.readers ?? []).map((r) => ({
        ...r,
        mark: [r.readers === advise.knee ? 'the knee' : null, r.readers === q.max_readers ? 'set now' : null]
            .filter(Boolean)
            .join(', '),
    }));
    if (rows.length === 0)
        return panel('What more readers bring', { key: 'whatif', tools }, empty(advise.larger_runs ? larger(advise) : 'No ended run has measured tasks.'));
    const kept = rows.filter((r) => r.mark || [1, 2, 4, 8, 16, 24, 32, 48, 64].includes(r.readers));
    return panel(
        'What more readers bring',
        {
            key: 'whatif',
            tools,
            note: `from the measured times of ${plural(advise.tasks, 'task')} in ${plural(advise.runs, 'run')}${advise.larger_runs ? `. ${larger(advise)}` : ''}`,
        },
        advise.knee &&
            h('p', null, `The knee is at ${plural(advise.knee, 'reader')}: beyond it the runs get little shorter.`),
        series({
            key: 'chart',
            x: rows.map((r) => r.readers),
            lines: [{ label: 'makespan', values: rows.map((r) => r.makespan_s), area: true }],
            unit: duration,
            xUnit: (v) => plural(Math.round(v), 'reader'),
            xLabel: 'readers',
            mark: advise.knee,
        }),
        table({ caption: 'Makespan by readers', columns: ADVICE, rows: kept, id: (r) => r.readers }),
        advise.stragglers?.length > 0 && [
            h('h3', null, 'Phases bound by one task: readers do not help'),
            table({
                caption: 'Phases bound by one task',
                columns: STRAGGLERS,
                rows: advise.stragglers,
                id: (x) => `${x.order} ${x.task_id}`,
            }),
        ],
    );
}

const COUNTED = ['active_runs', 'rejected', 'outbox', 'enqueued'];

function summary(q) {
    return panel(
        'Policy and position',
        { key: 'facts' },
        facts([
            ['readers', `${count(q.in_use ?? 0)} in use of ${count(q.max_readers)}`],
            ['executors', orUnknown(q.executors, (n) => countLink(n, 'executors'), 'a standby does not see them')],
            ['lag', lag(q)],
            ['cursor', count(q.cursor ?? q.next_offset)],
            ['topic', h('code', null, `${q.topic}, partition ${q.partition ?? 0}`)],
            ['topic identity', q.birthmark && h('code', null, q.birthmark)],
            ['cluster', q.cluster_id && h('code', null, q.cluster_id)],
            ['on failure', q.on_failure],
            ['runs', q.runs],
            ['attempts', q.max_attempts],
            ['retry intervals', q.retry_intervals && `${q.retry_intervals} s`],
            ['retry on', q.retry_on],
            ['lookahead', q.lookahead],
            ['rejected', countLink(q.rejected ?? 0, `rejected${query({ queue: nameOf(q) })}`, null, capped)],
            ['kept', q.kept],
            ['swept', when(q.swept_at, null)],
            ['outbox', q.outbox ? `${capped(q.outbox)} ${noun(q.outbox, 'record')}` : null],
            ['outbox trouble', q.outbox_trouble],
            ['size', q.size_bytes && size(q.size_bytes)],
            ['halted', q.halted_detail ?? q.halted_reason],
            ['what to do', q.halted_remedy && h('code', null, q.halted_remedy)],
            ['paused', q.paused_reason],
        ]),
        allFields({ ...q, ...Object.fromEntries(COUNTED.filter((name) => q[name] != null).map((name) => [name, capped(q[name])])) }),
    );
}

export const page = {
    title: (params) => `Queue ${params.name}`,
    watches: ['queue', 'run', 'executor'],
    concerns: (event, ctx) => !event.queue || event.queue === ctx.params.name,
    every: 10,
    load: async (ctx) => {
        const at = `queues/${seg(ctx.params.name)}`;
        const [queue, readers, explain, advise, runs] = await Promise.all([
            ctx.get(at).then((doc) => whole(doc, 'queue')),
            ctx.optional(`${at}/readers`),
            ctx.optional(`${at}/explain`),
            ctx.optional(`${at}/advise${query({ runs: ctx.query.get('runs') ?? 10 })}`),
            ctx.optional(`runs${query({ queue: ctx.params.name, limit: 10 })}`),
        ]);
        return { queue, readers, explain, advise, runs };
    },
    view: (data, ctx) => [
        pageHead(nameOf(data.queue), {
            badge: badge(stateOf(data.queue)),
            sub: data.queue.halted_detail ?? data.queue.paused_reason ?? null,
            tools: ctx.session.operator && buttons(data.queue, ctx.reload),
        }),
        h(
            'div.columns',
            { key: 'grid' },
            explainPanel(data.explain),
            summary(data.queue),
            readersPanel(data.readers),
            whatIf(data.advise, data.queue, ctx),
            panel(
                'Newest runs',
                {
                    key: 'runs',
                    wide: true,
                    tools: [
                        h('a', { href: `runs${query({ queue: nameOf(data.queue) })}` }, 'all runs'),
                        h('a', { href: `tasks${query({ queue: nameOf(data.queue) })}` }, 'all tasks'),
                    ],
                },
                listTable(
                    data.runs,
                    {
                        caption: 'Newest runs',
                        columns: RUN_COLUMNS.filter((c) => c.label !== 'queue'),
                        id: (r) => r.run_id,
                        none: 'It has had no run.',
                    },
                    null,
                ),
            ),
        ),
    ],
};
