/* task.js: one task: what it does, each attempt with its error in full, why it is as it is. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, queueLink, runLink, problemBox, allFields, empty } from '../lib/parts.js';
import { badge, tone } from '../lib/badge.js';
import { duration, when, stamp, tookSeconds } from '../lib/format.js';
import { seg, whole } from '../lib/api.js';
import { taskButtons } from '../lib/actions.js';
import { explainPanel } from '../lib/explain.js';

/* The attempt that runs, or that ended the task, is the task itself. */
function withLast(task) {
    const attempts = task.attempts ?? [],
        last = number(task);
    if (!task.started_at || last == null || attempts.some((a) => a.attempt === last)) return { ...task, attempts };
    const { status, started_at, ended_at, seconds, error, executor_id, host, worker, backend_pid, rows, notices } =
        task;
    return {
        ...task,
        attempts: [
            ...attempts,
            {
                attempt: last,
                status,
                started_at,
                ended_at,
                seconds,
                error,
                executor_id,
                host,
                worker,
                backend_pid,
                rows,
                notices,
            },
        ],
    };
}

const number = (t) => t.attempt ?? t.attempt_num;
const SHOWN = ['payload', 'params', 'args', 'input', 'body', 'attempts', 'hidden', 'headers'];

/* Only what runs has lasted until now; an end that is not known is not made up. */
const lasted = (a) => (a.ended_at || a.status === 'Processing' ? tookSeconds(a) : 0);

/* Attempts on one line of time: where each began and how long it took; the table below says it in numbers. */
function timeline(attempts) {
    const dated = attempts.filter((a) => a.started_at);
    if (dated.length === 0) return null;
    const end = (a) => Date.parse(a.started_at) + 1000 * lasted(a);
    const from = Math.min(...dated.map((a) => Date.parse(a.started_at))),
        to = Math.max(...dated.map(end), from + 1);
    return h(
        'div.timeline',
        { 'aria-hidden': 'true', title: 'attempts; between them it waited for its retry' },
        dated.map((a) =>
            h(`i.${tone(a.status)}`, {
                title: `attempt ${a.attempt}: ${a.status}, ${duration(lasted(a))}`,
                style: {
                    left: `${(100 * (Date.parse(a.started_at) - from)) / (to - from)}%`,
                    width: `${Math.max(0.5, (100 * (end(a) - Date.parse(a.started_at))) / (to - from))}%`,
                },
            }),
        ),
    );
}

const long = (label, text, of = '') =>
    text != null &&
    text !== '' &&
    h(
        'div.long',
        { key: label },
        h('h3', null, label),
        h('pre', { tabindex: '0', role: 'region', 'aria-label': `${label}${of}` }, text),
    );

function attempt(a) {
    return h(
        'article.attempt',
        { key: a.attempt },
        h(
            'header',
            null,
            h('strong', null, `Attempt ${a.attempt}`),
            badge(a.status),
            a.started_at && h('span', null, stamp(a.started_at)),
            h('span.num', null, duration(tookSeconds(a))),
        ),
        facts([
            ['SQLSTATE', a.sqlstate && h('code', null, a.sqlstate)],
            ['rows', a.rows],
            ['executor', a.executor_id && h('a', { href: 'executors' }, a.host ?? String(a.executor_id).slice(0, 8))],
            ['worker', a.worker],
            ['backend', a.pid ?? a.backend_pid],
        ]),
        ['error', 'detail', 'hint', 'context', 'notices'].map((name) =>
            long(name[0].toUpperCase() + name.slice(1), a[name], ` of attempt ${a.attempt}`),
        ),
    );
}

function work(t) {
    if (t.hidden)
        return panel(
            'What it does',
            { key: 'work' },
            empty('The payload is hidden.', 'Set [console] show_payloads = on, or sign in as an operator.'),
        );
    const text = (v) => (v == null ? null : typeof v === 'string' ? v : JSON.stringify(v, null, 1));
    return panel(
        'What it does',
        { key: 'work' },
        long('Payload', text(t.payload ?? t.sql)),
        long('Parameters', text(t.params ?? t.args)),
        long('Input', text(t.input)),
        long('Body', text(t.body)),
    );
}

export const page = {
    title: (params, data) => `Task ${data?.task.name ?? `#${params.id}`}`,
    watches: ['task', 'run'],
    concerns: (event, ctx) => (event.task == null ? true : String(event.task) === ctx.params.id),
    load: async (ctx) => {
        const at = `tasks/${seg(ctx.params.id)}`;
        const [task, explain] = await Promise.all([
            ctx.get(at, { exact: ['order'] }).then((doc) => withLast(whole(doc, 'task'))),
            ctx.optional(`${at}/explain`),
        ]);
        return { task, explain };
    },
    view: ({ task: t, explain }, ctx) => {
        const attempts = [...(t.attempts ?? [])].reverse();
        return [
            pageHead(t.name ?? `Task #${t.task_id}`, {
                badge: badge(t.status, t.skipped),
                sub: ['order ', String(t.order), ' of run ', runLink(t.run_id, t.run_name), ' in ', queueLink(t.queue)],
                tools: ctx.session.operator && taskButtons(t, ctx.reload),
            }),
            h(
                'div.side',
                { key: 'side' },
                h(
                    'div',
                    { key: 'left' },
                    panel(
                        'Attempts',
                        {
                            key: 'attempts',
                            note: t.max_attempts
                                ? `${number(t) ?? attempts.length} of at most ${t.max_attempts}`
                                : null,
                        },
                        t.attempts?.problem
                            ? problemBox(t.attempts.problem)
                            : [
                                  timeline(t.attempts ?? []),
                                  attempts.length ? attempts.map(attempt) : empty('No attempt has begun.'),
                              ],
                    ),
                    work(t),
                ),
                h(
                    'div',
                    { key: 'right' },
                    explainPanel(explain),
                    panel(
                        'Summary',
                        { key: 'summary' },
                        facts([
                            ['task', `#${t.task_id}`],
                            ['position in the run', t.seq],
                            ['type', t.type],
                            ['step', t.step],
                            ['due', when(t.not_before ?? t.scheduled_for, null)],
                            ['key', t.key && h('code', null, t.key)],
                            ['condition', t.condition],
                            ['skipped because of', t.skipped],
                            ['worker', t.worker],
                            ['lease until', when(t.lease_until, null)],
                        ]),
                        allFields(Object.fromEntries(Object.entries(t).filter(([k]) => !SHOWN.includes(k)))),
                    ),
                ),
            ),
        ];
    },
};
