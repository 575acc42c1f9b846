/* job.js: one job: when it fires next, how it did, what a trial would do, and its definition. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, queueLink, runLink, problemBox, allFields, empty } from '../lib/parts.js';
import { badge, icon, tone } from '../lib/badge.js';
import { table, listTable } from '../lib/table.js';
import { when, duration, count, absolute, instant, plural, prose, serverNow } from '../lib/format.js';
import { query, seg, send, whole } from '../lib/api.js';
import { parse, write } from '../lib/json.js';
import { actionButton } from '../lib/actions.js';
import { show } from '../lib/dialog.js';
import { words } from './jobs.js';

const OUTCOMES = [
    { label: 'for', key: true, cell: (o) => when(o.scheduled_for) },
    { label: 'outcome', cell: (o) => badge(o.outcome, o.reason) },
    { label: 'run', cell: (o) => (o.run_id ? runLink(o.run_id) : null) },
    { label: 'status', cell: (o) => badge(o.status) },
    { label: 'late by', num: true, cell: (o) => duration(o.lateness) },
    { label: 'took', num: true, cell: (o) => duration(o.duration) },
    { label: 'source', class: 'text', cell: (o) => o.source },
    { label: 'why not', maybe: true, class: 'text', cell: (o) => o.reason },
];
const DAYS = [
    { label: 'day (UTC)', key: true, cell: (d) => d.day },
    { label: 'fired', num: true, cell: (d) => count(d.fired) },
    { label: 'completed', num: true, cell: (d) => count(d.completed) },
    { label: 'failed', num: true, cell: (d) => count(d.failed) },
    { label: 'skipped', num: true, cell: (d) => count(d.skipped) },
    { label: 'missed', num: true, cell: (d) => count(d.missed) },
    { label: 'errors', num: true, cell: (d) => count(d.errors) },
    { label: 'longest', num: true, cell: (d) => duration(d.longest) },
];
const ICONS = { good: 'check', bad: 'cross', warn: 'warn', quiet: 'dash', run: 'play' };

/* The last outcomes as a strip, the newest at the right; each is a link to its run. */
function strip(list) {
    const items = [...list].slice(0, 40).reverse();
    const marks = h(
        'span.marks',
        { role: 'list', 'aria-label': 'outcomes, the oldest first' },
        items.map((o) => {
            const word = o.outcome === 'fired' ? (o.status ?? 'fired') : o.outcome,
                text = `${word}, ${absolute(o.scheduled_for)}`;
            const mark = h(
                `span.badge.${tone(word)}`,
                { title: text },
                icon(ICONS[tone(word)] ?? 'ring'),
                h('span.unseen', null, text),
            );
            return h(
                'span',
                { role: 'listitem', key: o.occurrence_id },
                o.run_id ? h('a', { href: `runs/${seg(o.run_id)}` }, mark) : mark,
            );
        }),
    );
    return h('div.outcomes', null, h('span.note', null, 'older'), marks, h('span.note', null, 'newer'));
}

const parametersOf = (text) => (text.trim() === '' ? {} : parse(text));

function parametersField(job) {
    const defaults = job.definition?.defaults ?? job.spec?.defaults ?? job.defaults;
    return {
        name: 'parameters',
        label: 'parameters, JSON',
        rows: 3,
        help: defaults ? `defaults: ${write(defaults)}` : 'empty: none',
    };
}

const TEST = [
    { label: 'schedule', key: true, cell: (x) => x.schedule ?? 'by hand' },
    { label: 'fires now', cell: (x) => (x.would_fire ? 'yes' : 'no') },
    { label: 'why', class: 'text', cell: (x) => [x.verdict, x.reason, x.advice].filter(Boolean).join('; ') },
    { label: 'for', cell: (x) => when(x.scheduled_for) },
    { label: 'next', cell: (x) => when(x.next_scheduled_run) },
    { label: 'rows that wait', num: true, cell: (x) => x.pending_rows },
];

const tested = (doc) => {
    const tasks = doc.items.find((x) => x.tasks)?.tasks;
    return [
        h('p', null, 'What the next cycle of the dispatcher does with it. Nothing was changed.'),
        table({
            caption: 'Test',
            columns: TEST,
            rows: doc.items,
            id: (x) => x.schedule ?? '',
        }),
        tasks && [h('h3', null, 'Its tasks'), h('pre', { tabindex: '0' }, write(tasks, 1))],
    ];
};

/* What the dispatcher would do with it now. It changes nothing, so it asks nothing. */
async function test(name) {
    const title = `Test of ${name}`,
        still = show(title, h('p.loading', { role: 'status' }, 'Loading …'));
    const found = await send('POST', `jobs/${seg(name)}/test`, {}, { exact: ['tasks'] }).then(tested, problemBox);
    if (still()) show(title, found);
}

/* What an edited definition would be another of, member by member. */
function edits(before, text) {
    let after;
    try {
        after = parse(text);
    } catch (error) {
        return [`It cannot be saved: ${error.message}`];
    }
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    const say = (value) => (value === undefined ? 'its default' : write(value));
    return changed.length
        ? changed.map((name) => `${name}: ${say(before[name])} becomes ${say(after[name])}.`)
        : ['Nothing is changed yet.'];
}

const WOULD = {
    change: (d) => `It can be saved, as version ${d.version}. Nothing was changed.`,
    unchanged: () => 'The job is so already.',
};

function edit(job, after) {
    const path = `jobs/${seg(job.job)}`;
    const body = (v) => ({ definition: parse(v.definition), version: job.version });
    return actionButton('Edit', {
        title: `Edit ${job.job}`,
        confirm: 'Save',
        values: { definition: write(job.definition, 1) },
        fields: [{ name: 'definition', label: 'definition, JSON', rows: 14, required: true }],
        effect: (v) => edits(job.definition, v.definition),
        preview: async (v) => {
            const doc = await send('PUT', path, { ...body(v), dry_run: true });
            return h('p', null, WOULD[doc.action](doc));
        },
        act: (v, change) => change('PUT', path, { ...body(v), reason: v.reason }),
        done: (d) => `${d.job} is of version ${d.version}.`,
        after,
    });
}

const FIRES = [
    { label: 'for', key: true, cell: (t) => absolute(t.scheduled_for) },
    { label: 'schedule', cell: (t) => t.schedule },
    { label: 'what happens', cell: (t) => badge(t.action) },
    { label: 'why', maybe: true, class: 'text', cell: (t) => t.detail },
];

const counted = (doc, action) => doc.items.filter((t) => t.action === action).length;
const fired = (doc) => counted(doc, 'fire');
const requested = (doc) => counted(doc, 'request');

function backfill(job, schedules, after) {
    const path = `jobs/${seg(job.job)}/backfill`;
    const body = (v) => ({
        from: instant(v.from),
        to: instant(v.to),
        overlap: v.overlap,
        ...(v.schedule ? { schedule: v.schedule } : {}),
    });
    return actionButton('Backfill', {
        title: `Backfill ${job.job}`,
        confirm: 'Fire these times',
        danger: true,
        after,
        values: { overlap: 'queue_one', schedule: '' },
        fields: [
            { name: 'from', label: 'from', type: 'datetime-local', required: true, help: 'in the zone that the page shows' },
            { name: 'to', label: 'to, not part of it', type: 'datetime-local', required: true },
            { name: 'schedule', label: 'schedule', options: ['', ...schedules.map((s) => s.schedule ?? s.name)], any: 'all that are enabled' },
            {
                name: 'overlap',
                label: 'while a run of it is open',
                options: ['queue_one', 'allow', 'skip'],
                help: `queue_one: ${job.definition?.query ? 'one after the other' : 'the rest waits for the next backfill'}; allow: fire all the same; skip: leave it out`,
            },
        ],
        effect: [
            `The times of ${job.job} in the range that have not fired are fired, the oldest first, at most 1,000.`,
            'A time that has fired is not fired again.',
        ],
        preview: async (v) => {
            const doc = await send('POST', path, { ...body(v), reason: v.reason || 'preview', dry_run: true });
            return [
                h('p', null, `${plural(fired(doc), 'time')} of ${doc.items.length} would fire. Nothing was changed.`),
                table({ caption: 'Times', columns: FIRES, rows: doc.items, none: 'No time of the range is left to fire.' }),
            ];
        },
        act: (v, change) => change('POST', path, { ...body(v), reason: v.reason }),
        done: (doc) =>
            requested(doc) > 0
                ? `${plural(requested(doc), 'time waits', 'times wait')} for a dispatcher, which runs the query of the job.`
                : `${plural(fired(doc), 'time has', 'times have')} fired.`,
    });
}

function remove(job) {
    return actionButton('Delete', {
        title: `Delete ${job.job}`,
        confirm: 'Delete the job',
        danger: true,
        method: 'DELETE',
        path: `jobs/${seg(job.job)}`,
        body: (v) => ({ reason: v.reason, version: job.version }),
        effect: [
            `${job.job} is deleted with its schedules and triggers: it fires no more.`,
            job.open_run ? 'Its open run continues.' : 'No run of it is open.',
            'Its runs, outcomes and log stay. It can be applied again from a file.',
        ],
        done: (doc) => `${doc.job} is deleted.`,
        leave: 'jobs',
    });
}

function report(job, after) {
    return actionButton('Report', {
        title: `Report for ${job.job}`,
        confirm: 'Report',
        path: `ping/${seg(job.job)}`,
        after,
        noReason: true,
        values: { status: 'ok' },
        fields: [
            { name: 'status', label: 'how it has ended', options: ['ok', 'fail'] },
            { name: 'detail', label: 'detail', help: 'empty: nothing is said of it' },
        ],
        effect: (v) => [
            `${job.job} has ${v.status === 'ok' ? 'ended well' : 'failed'}, as if it had reported so itself.`,
            'The report answers the latest time that has passed. One that comes before its time is kept and answers none.',
        ],
        body: (v) => ({ status: v.status, ...(v.detail ? { detail: v.detail } : {}) }),
    });
}

function buttons(job, schedules, after) {
    const at = `jobs/${seg(job.job)}`,
        fields = [parametersField(job)];
    const body = (v) => ({ reason: v.reason, parameters: parametersOf(v.parameters ?? '') });
    return [
        actionButton('Run now', {
            title: `Run ${job.job} now`,
            confirm: 'Run now',
            path: `${at}/run`,
            fields,
            body,
            after,
            done: (d) =>
                d.requested
                    ? `A dispatcher runs the SQL of the job and fires it as run ${d.run_id}.`
                    : `It has fired: run ${d.run_id}.`,
            effect: [
                `One run of ${job.job} is enqueued on ${job.queue}.`,
                job.open_run ? `A run of it is open; its policy is ${job.overlap}.` : 'No run of it is open.',
                'Its schedules stay as they are.',
            ],
        }),
        h('button', { type: 'button', key: 'test', on: { click: () => test(job.job) } }, 'Test'),
        job.enabled
            ? actionButton('Disable', {
                  title: `Disable ${job.job}`,
                  confirm: 'Disable',
                  danger: true,
                  path: `${at}/disable`,
                  after,
                  effect: ['It fires at none of its times until it is enabled.', 'An open run continues.'],
              })
            : actionButton('Enable', {
                  title: `Enable ${job.job}`,
                  confirm: 'Enable',
                  path: `${at}/enable`,
                  after,
                  effect: ['It fires again, beginning with its next time. Times that have passed do not fire.'],
              }),
        silence(at, job.job, after),
        schedules.length > 0 && backfill(job, schedules, after),
        edit(job, after),
        remove(job),
    ];
}

export function silence(at, name, after) {
    return actionButton('Silence', {
        title: `Silence ${name}`,
        confirm: 'Silence',
        path: `${at}/silence`,
        after,
        values: { hours: '1' },
        fields: [
            {
                name: 'hours',
                label: 'for hours',
                type: 'number',
                min: 0,
                required: true,
                help: '0: it is no longer silenced',
            },
        ],
        effect: (v) => [
            Number(v.hours) > 0 ? `No alert of it is raised for ${v.hours} h.` : 'Its alerts are raised again.',
            'It fires as before.',
        ],
        body: (v) => {
            if (!(serverNow() - v.from < 60000)) v.from = serverNow(); // the same for the clicks of a minute, so that they are one change
            return { reason: v.reason, until: Number(v.hours) > 0 ? new Date(v.from + v.hours * 3600000).toISOString() : null };
        },
    });
}

const REQUESTS = [
    { label: 'for', key: true, cell: (r) => absolute(r.scheduled_for) },
    { label: 'schedule', cell: (r) => r.schedule },
    { label: 'source', class: 'text', cell: (r) => r.source },
    { label: 'next try', cell: (r) => when(r.next_try) },
    { label: 'fails since', maybe: true, cell: (r) => when(r.failing_since) },
];

function withdraw(job, after) {
    return actionButton('Withdraw', {
        title: `Withdraw the firings of ${job.job} that wait`,
        confirm: 'Withdraw',
        danger: true,
        method: 'DELETE',
        path: `jobs/${seg(job.job)}/requests`,
        after,
        effect: ['The firings that wait for a dispatcher do not fire. One whose SQL runs is undone.', 'Runs that have begun continue.'],
        done: (doc) => `${plural(doc.withdrawn, 'firing is', 'firings are')} withdrawn.`,
    });
}

const NEXT = [
    { label: 'fires', key: true, cell: (n) => when(n.at ?? n.scheduled_for) },
    { label: 'schedule', cell: (n) => n.schedule },
    { label: 'exactly', cell: (n) => absolute(n.at ?? n.scheduled_for) },
];
function switchSchedule(job, s, after) {
    const name = s.schedule ?? s.name,
        on = s.enabled === false;
    const spec = {
        title: `${on ? 'Enable' : 'Disable'} schedule ${name}`,
        confirm: on ? 'Enable' : 'Disable',
        method: 'PUT',
        path: `jobs/${seg(job.job)}/schedules/${seg(name)}`,
        body: (v) => ({ reason: v.reason, version: job.version, change: { enabled: on } }),
        after,
    };
    return on
        ? actionButton('Enable schedule', { ...spec, effect: ['It fires again, beginning with its next time. Times that have passed do not fire.'] })
        : actionButton('Disable schedule', { ...spec, danger: true, effect: ['It fires at none of its times until it is enabled.', 'Other schedules of the job, and its open run, continue.'] });
}

const SCHEDULES = (operator, job, after) => [
    { label: 'schedule', key: true, cell: (s) => s.schedule ?? s.name },
    { label: 'when', class: 'text', cell: words },
    { label: 'enabled', cell: (s) => badge(s.enabled === false ? 'disabled' : 'enabled') },
    { label: 'misfire', cell: (s) => s.misfire },
    { label: 'next', cell: (s) => when(s.next_at) },
    { label: 'do', maybe: true, cell: (s) => operator && switchSchedule(job, s, after) },
];

const TRIGGERS = [
    { label: 'trigger', key: true, cell: (t) => t.trigger },
    { label: 'table', cell: (t) => t.relation },
    { label: 'fires', class: 'text', cell: condition },
    { label: 'last look', cell: (t) => when(t.looked_at) },
    { label: 'rows', num: true, cell: (t) => count(t.rows) },
    { label: 'trouble', class: 'text', cell: (t) => t.error ?? (t.failures > 0 ? plural(t.failures, 'failure') : null) },
];

/** When a trigger fires, in words. */
function condition(t) {
    const parts = [
        t.threshold != null && `at ${plural(t.threshold, 'row')}`,
        t.idle_s != null && `when no row came for ${duration(t.idle_s)}`,
        t.debounce_s != null && `${duration(t.debounce_s)} after a new row`,
    ].filter(Boolean);
    return `${parts.join(', or ') || 'when rows wait'}; looks every ${duration(t.check_every_s)}`;
}

/** The triggers of one job: the list's filter takes any part of a name. */
async function triggersOf(ctx, name) {
    for (let after = null; ; ) {
        const list = await ctx.optional(`triggers${query({ name, limit: 1000, after })}`),
            items = list.items.filter((t) => t.job === name);
        if (items.length || !list.next) return { ...list, items };
        after = list.next;
    }
}

export const page = {
    title: (params) => `Job ${params.name}`,
    watches: ['run', 'event', 'alert'],
    load: async (ctx) => {
        const at = `jobs/${seg(ctx.params.name)}`;
        const [job, next, occurrences, days] = await Promise.all([
            ctx.get(at, { exact: ['definition'] }).then((doc) => whole(doc, 'job')),
            ctx.optional(`${at}/next?count=5`),
            ctx.optional(`${at}/occurrences${query({ limit: 40, after: ctx.query.get('after') })}`),
            ctx.optional(`${at}/days?limit=14`),
        ]);
        const { health, schedule_list: schedules, requests, ...own } = job;
        const triggers = own.mode === 'triggered' ? await triggersOf(ctx, own.job) : null;
        return { job: own, next, occurrences, days, health, schedules, requests, triggers };
    },
    view: ({ job, next, occurrences, days, health, schedules, requests, triggers }, ctx) => [
        pageHead(job.job, {
            badge: badge(health?.state ?? (job.enabled ? 'enabled' : 'disabled')),
            sub: prose(health?.detail) ?? job.description,
            tools:
                ctx.session.operator && job.mode !== 'watch'
                    ? buttons(job, schedules, ctx.reload)
                    : ctx.session.operator && [
                          report(job, ctx.reload),
                          silence(`jobs/${seg(job.job)}`, job.job, ctx.reload),
                          edit(job, ctx.reload),
                          remove(job),
                      ],
        }),
        h(
            'div.columns',
            { key: 'grid' },
            panel(
                'Next firings',
                { key: 'next' },
                next.problem
                    ? problemBox(next.problem)
                    : table({
                          caption: 'Next firings',
                          columns: NEXT,
                          rows: next.items,
                          id: (n) => `${n.schedule} ${n.at}`,
                          none: triggers ? 'It fires when its trigger says so.' : 'It fires at no time to come.',
                      }),
            ),
            panel(
                'Schedules',
                { key: 'schedules', wide: true },
                table({
                    caption: 'Schedules',
                    columns: SCHEDULES(ctx.session.operator, job, ctx.reload),
                    rows: schedules,
                    id: (s) => s.schedule,
                    none: triggers ? 'It has none: its trigger fires it.' : 'It has none: it runs by hand.',
                }),
            ),
            requests.length > 0 &&
                panel(
                    'Firings that wait for a dispatcher',
                    { key: 'requests', wide: true, tools: ctx.session.operator && withdraw(job, ctx.reload) },
                    table({ caption: 'Firings that wait for a dispatcher', columns: REQUESTS, rows: requests, id: (r) => r.run_id }),
                ),
            triggers &&
                panel(
                    triggers.items.length === 1 ? 'Trigger' : 'Triggers',
                    { key: 'triggers', wide: true },
                    triggers.problem
                        ? problemBox(triggers.problem)
                        : table({ caption: 'Triggers', columns: TRIGGERS, rows: triggers.items, id: (t) => t.trigger }),
                ),
            panel(
                'Outcomes',
                { key: 'outcomes', wide: true, note: ctx.query.has('after') ? 'older ones' : 'the newest first' },
                occurrences.items?.length ? strip(occurrences.items) : null,
                listTable(
                    occurrences,
                    {
                        caption: 'Outcomes',
                        tall: true,
                        columns: OUTCOMES,
                        id: (o) => o.occurrence_id,
                        none: 'No time of it was decided.',
                    },
                    ctx.query,
                ),
            ),
            panel(
                'Days',
                { key: 'days', wide: true },
                listTable(days, { caption: 'Days', columns: DAYS, id: (d) => d.day, none: 'No time of it was decided.' }, null),
            ),
            panel(
                'Job',
                { key: 'facts' },
                facts([
                    ['mode', job.mode],
                    ['queue', queueLink(job.queue)],
                    ['overlap', job.overlap],
                    ['open run', job.open_run && runLink(job.open_run)],
                    ['version', count(job.version)],
                    ['file', job.file],
                    ['changed', when(job.changed_at, null)],
                    ['by', job.changed_by],
                    ['since', when(health?.since, null)],
                ]),
                allFields(Object.fromEntries(Object.entries(job).filter(([k, v]) => typeof v !== 'object'))),
            ),
            panel(
                'Definition',
                { key: 'definition' },
                (job.definition ?? job.spec)
                    ? h(
                          'pre',
                          { tabindex: '0', role: 'region', 'aria-label': 'definition' },
                          write(job.definition ?? job.spec, 1),
                      )
                    : empty('Its definition is not shown here.', `lockstep job export ${job.job}`),
            ),
        ),
    ],
};
