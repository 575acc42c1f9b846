/* missed.js: what should have run and did not, what runs too long, since when and why; and the alerts about it. */
import { h } from '../lib/dom.js';
import { pageHead, panel, jobLink, queueLink, runLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { filters, listTable } from '../lib/table.js';
import { counted, when, noun, duration, prose } from '../lib/format.js';
import { query, seg } from '../lib/api.js';
import { actionButton, runAction, RUN_ACTIONS } from '../lib/actions.js';
import { silence } from './job.js';

/* The tasks that failed run again in the run itself; `Run now` makes another run. The run is named, because the reason
   that the line shows may be that of a later time, which made no run. */
function retryRun(x, reload) {
    const run = { run_id: x.last_run, status: x.last_status, queue: x.queue };
    return (
        x.state === 'failed' &&
        x.last_run &&
        RUN_ACTIONS.retry.legal(run) &&
        h('button', { type: 'button', key: 'retry', on: { click: () => runAction('retry', run, reload) } }, `Retry run ${x.last_run.slice(0, 8)} …`)
    );
}

function healthColumns(operator, reload) {
    return [
        { label: 'job', key: true, cell: (x) => jobLink(x.job) },
        { label: 'state', cell: (x) => badge(x.state) },
        { label: 'since', cell: (x) => when(x.since) },
        { label: 'why', class: 'text', cell: (x) => prose(x.detail) },
        { label: 'queue', cell: (x) => queueLink(x.queue) },
        { label: 'open run', maybe: true, cell: (x) => x.open_run && runLink(x.open_run) },
        { label: 'last run', cell: (x) => x.last_run && [runLink(x.last_run), ' ', badge(x.last_status)] },
        { label: 'next', cell: (x) => when(x.next_at) },
        operator && {
            label: 'do',
            cell: (x) =>
                h(
                    'span.tools',
                    null,
                    x.queue &&
                        actionButton('Run now', {
                            title: `Run ${x.job} now`,
                            confirm: 'Run now',
                            path: `jobs/${seg(x.job)}/run`,
                            after: reload,
                            effect: [`One run of ${x.job} is enqueued on ${x.queue}.`, x.detail ?? ''].filter(Boolean),
                            body: (v) => ({ reason: v.reason, parameters: {} }),
                        }),
                    retryRun(x, reload),
                    silence(`jobs/${seg(x.job)}`, x.job, reload),
                ),
        },
    ].filter(Boolean);
}

function alertColumns(operator, reload) {
    return [
        {
            label: 'alert',
            key: true,
            num: true,
            cell: (a) => h('a', { href: `missed?alert=${a.alert_id}` }, `#${a.alert_id}`),
        },
        { label: 'kind', cell: (a) => badge(a.kind) },
        { label: 'job', cell: (a) => (a.job ? jobLink(a.job) : 'the monitor itself') },
        { label: 'since', cell: (a) => when(a.since) },
        { label: 'what', class: 'text', cell: (a) => prose(a.text) },
        {
            label: 'acknowledged',
            maybe: true,
            class: 'text',
            cell: (a) =>
                a.acknowledged_at
                    ? [
                          badge('acknowledged'),
                          ` by ${a.acknowledged_by}, `,
                          when(a.acknowledged_at),
                          a.note ? `: ${a.note}` : '',
                      ]
                    : null,
        },
        { label: 'closed', maybe: true, cell: (a) => (a.closed_at ? [when(a.closed_at), ` ${a.ended ?? ''}`] : null) },
        operator && {
            label: 'do',
            cell: (a) =>
                !a.closed_at &&
                h(
                    'span.tools',
                    null,
                    !a.acknowledged_at &&
                        actionButton('Acknowledge', {
                            title: `Acknowledge alert #${a.alert_id}`,
                            confirm: 'Acknowledge',
                            path: `alerts/${seg(a.alert_id)}/ack`,
                            after: reload,
                            effect: [a.text, 'No further reminder is sent; it closes when the problem is over.'],
                        }),
                    a.job && silence(`jobs/${seg(a.job)}`, a.job, reload),
                ),
        },
    ].filter(Boolean);
}

const LATE = [
    { label: 'job', key: true, cell: (o) => jobLink(o.job) },
    { label: 'for', cell: (o) => when(o.scheduled_for) },
    { label: 'outcome', cell: (o) => badge(o.outcome) },
    { label: 'why', class: 'text', cell: (o) => o.reason },
    { label: 'passed before', num: true, cell: (o) => o.missed_count || null },
    { label: 'late by', num: true, cell: (o) => duration(o.lateness) },
];

/* The alerts of the filter; before them the one that the address names, which may be an old one. */
async function alertList(ctx) {
    const state = ctx.query.get('alerts'),
        wanted = ctx.query.get('alert');
    const [list, one] = await Promise.all([
        ctx.optional(`alerts${query({ status: state?.includes(',') ? null : state, after: ctx.query.get('after') })}`),
        wanted && ctx.optional(`alerts/${seg(wanted)}`),
    ]);
    if (!one?.alert || list.problem || list.items.some((a) => String(a.alert_id) === wanted)) return list;
    return { ...list, items: [one.alert, ...list.items] };
}

export const page = {
    title: () => 'Missed and stuck',
    watches: ['alert', 'event', 'run'],
    every: 15,
    load: async (ctx) => {
        const outcome = ctx.query.get('outcome') || 'missed,error';
        const [health, jobs, alerts, missed] = await Promise.all([
            ctx.get(`health${query({ kind: 'problem', after: ctx.query.get('problems'), limit: 200 })}`),
            ctx.optional('jobs?limit=1'),
            alertList(ctx),
            ctx.optional(`occurrences${query({ status: outcome })}`),
        ]);
        return { health, jobs, alerts, missed };
    },
    view: ({ health, jobs, alerts, missed }, ctx) => {
        const op = ctx.session.operator;
        const wanted = ctx.query.get('alert');
        return [
            pageHead('Missed and stuck', {
                sub: `${counted(health)} ${noun(health.count, 'job has', 'jobs have')} a problem, of ${jobs.problem ? 'all' : counted(jobs)}`,
            }),
            panel(
                'Problems',
                { key: 'health' },
                listTable(
                    health,
                    {
                        caption: 'Problems',
                        cursor: 'problems',
                        columns: healthColumns(op, ctx.reload),
                        id: (x) => x.job,
                        none: 'Every job does what it should.',
                    },
                    ctx.query,
                ),
            ),
            panel(
                'Alerts',
                { key: 'alerts' },
                filters([{ name: 'alerts', label: 'alerts', chips: ['open', 'closed'] }], ctx.query, 'alerts'),
                listTable(
                    alerts,
                    {
                        caption: 'Alerts',
                        columns: alertColumns(op, ctx.reload),
                        id: (a) => a.alert_id,
                        none: 'No alert.',
                        rowClass: (a) => (String(a.alert_id) === wanted ? 'found' : null),
                    },
                    ctx.query,
                ),
            ),
            panel(
                'Times that did not fire',
                { key: 'missed', note: ctx.query.get('outcome') ? null : 'missed and error; not those that were skipped' },
                filters([{ name: 'outcome', label: 'outcome', chips: ['missed', 'error', 'skipped'] }], ctx.query, 'times that did not fire'),
                listTable(
                    missed,
                    { caption: 'Times that did not fire', columns: LATE, id: (o) => o.occurrence_id, none: 'None.' },
                    null,
                ),
            ),
        ];
    },
};
