/* jobs.js: the jobs with their schedules in words, their health, and the calendar of the coming week. */
import { h } from '../lib/dom.js';
import { pageHead, panel, jobLink, problemBox, queueLink, runLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, filters, listTable, queueFilter, table } from '../lib/table.js';
import { when, serverNow, dayText, clockText, plural, zoneName } from '../lib/format.js';
import { query } from '../lib/api.js';

const DAYS = 8, // seven times 24 hours begin and end within a day
    HOURS = 24,
    HOUR_MS = 3600000,
    QUARTER_MS = 900000,
    KEPT_MS = 300000,
    AT_ONCE = 10; // jobs a request: their times are reckoned, which takes a while

export const words = (s) => s.words ?? s.text ?? [s.kind, s.expr ?? s.rule, s.zone].filter(Boolean).join(' ');

/* The time of a trigger alone is that of the next look at its table: whether it fires then depends on the rows. */
export const nextOf = (j) =>
    j.mode === 'triggered' && j.schedules < 2 && j.next_at ? ['next look ', when(j.next_at)] : when(j.next_at);

function columns(week) {
    const said = new Map(week.map((one) => [one.job, one.words]));
    return [
        { label: 'job', key: true, cell: (j) => h('span', { title: j.description }, jobLink(j.job)) },
        {
            label: 'health',
            cell: (j) => badge(j.state ?? (j.enabled ? 'ok' : 'disabled'), j.detail),
        },
        { label: 'mode', cell: (j) => j.mode },
        { label: 'queue', cell: (j) => queueLink(j.queue) },
        {
            label: 'schedules',
            class: 'text',
            cell: (j) =>
                j.words || (said.get(j.job) ?? []).join('; ') ||
                (j.schedules ? plural(j.schedules, 'schedule') : 'by hand'),
        },
        { label: 'next', cell: nextOf },
        { label: 'last time', cell: (j) => when(j.last_scheduled) },
        { label: 'outcome', cell: (j) => badge(j.last_outcome) },
        { label: 'last run', cell: (j) => badge(j.last_status) },
        { label: 'open run', maybe: true, cell: (j) => (j.open_run ? runLink(j.open_run) : null) },
        { label: 'changed', maybe: true, cell: (j) => j.drifted && badge('changed', 'it differs from what its file declared') },
    ];
}

/* What fires in each hour of the zone that is chosen: 'day hour' -> [[job, times], ...]; without those that fire too often to be known. */
export function byHour(week) {
    const cells = new Map();
    for (const { job, often, quarters } of week) {
        for (const [quarter, times] of often ? [] : quarters) {
            const ms = quarter * QUARTER_MS,
                key = `${dayText(ms)} ${clockText(ms).slice(0, 2)}`,
                cell = cells.get(key) ?? new Map();
            cells.set(key, cell.set(job, (cell.get(job) ?? 0) + times));
        }
    }
    return cells;
}

const cellWords = (cell) => [...cell].map(([job, times]) => (times > 1 ? `${job} ${times} times` : job)).join(', ');
const cellSum = (cell) => [...cell.values()].reduce((sum, n) => sum + n, 0);

/* The days of the week that begins now: one of them may have 23 hours, or 25. */
export function daysFrom(now) {
    const days = [];
    for (let ms = now; days.length < DAYS; ms += HOUR_MS) if (dayText(ms) !== days.at(-1)) days.push(dayText(ms));
    return days;
}

function calendar(week) {
    const cells = byHour(week),
        days = daysFrom(serverNow());
    const hours = Array.from({ length: HOURS }, (_, i) => String(i).padStart(2, '0'));
    return h(
        'div.table-box',
        { tabindex: '0', role: 'region', 'aria-label': 'firings of the coming week by day and hour' },
        h(
            'table.calendar',
            null,
            h('caption.unseen', null, 'Firings of the coming week, by day and hour'),
            h(
                'thead',
                null,
                h(
                    'tr',
                    null,
                    h('th', { scope: 'col' }, 'day'),
                    hours.map((hour) => h('th', { scope: 'col' }, hour)),
                ),
            ),
            h(
                'tbody',
                null,
                days.map((day) =>
                    h(
                        'tr',
                        { key: day },
                        h('th', { scope: 'row', class: 'nowrap' }, day.slice(5)),
                        hours.map((hour) => {
                            const cell = cells.get(`${day} ${hour}`);
                            return h(
                                'td',
                                { class: cell ? 'some' : null, title: cell ? cellWords(cell) : null },
                                cell ? String(cellSum(cell)) : '',
                            );
                        }),
                    ),
                ),
            ),
        ),
    );
}

const OFTEN = [
    { label: 'job', key: true, cell: (w) => jobLink(w.job) },
    { label: 'schedules', class: 'text', cell: (w) => w.words.join('; ') },
    { label: 'next', cell: (w) => when(w.next_at) },
];

/* The calendar, and the jobs that fire too often to be in it. */
function weekPanel(week, jobs) {
    const next = new Map(jobs.map((j) => [j.job, j.next_at])),
        often = week.filter((one) => one.often).map((one) => ({ ...one, next_at: next.get(one.job) }));
    return panel(
        'The coming week',
        {
            key: 'week',
            note: week.complete
                ? `how often the ${plural(jobs.length, 'job')} of this page fire, by hour, ${zoneName()}`
                : `reckoned for ${week.length} of ${plural(jobs.length, 'job')} so far`,
        },
        week.problem && problemBox(week.problem),
        calendar(week),
        often.length > 0 && [
            h('h3', null, 'Not in the calendar: they fire more than 170 times in the week'),
            table({ caption: 'Jobs that fire often', columns: OFTEN, rows: often, id: (w) => w.job }),
        ],
    );
}

/* What the jobs of the page fire in the coming week: asked a few at a time, for the table does not wait, and again after five minutes; what
 * was complete stays until then.
 */
async function learnWeek(ctx, list, filter) {
    const state = ctx.state,
        key = JSON.stringify([filter, list.items.map((j) => [j.job, j.version, j.enabled])]);
    if (state.weekKey === key && Date.now() - state.weekAt < KEPT_MS) return;
    Object.assign(state, { weekKey: key, weekAt: Date.now() });
    const week = Object.assign([], { key });
    let after = filter.after?.replace(/^jobs\./, 'calendar.');
    const show = () => {
        if (state.weekKey !== key || (!week.complete && state.week?.complete && state.week.key === key)) return;
        state.week = week;
        ctx.redraw();
    };
    do {
        const doc = await ctx.optional(`calendar${query({ ...filter, after, limit: AT_ONCE })}`);
        week.push(...doc.items);
        week.problem = doc.problem;
        after = doc.next;
        show();
    } while (after && week.length < list.items.length && state.weekKey === key);
    week.complete = !week.problem;
    show();
    if (week.problem && state.weekKey === key) state.weekKey = null; // the next load asks again
}

export const page = {
    title: () => 'Jobs',
    watches: ['event', 'alert', 'run'],
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name);
        const filter = { name: q('name'), queue: q('queue'), after: q('after') };
        const [list, queues] = await Promise.all([
            ctx.get(`jobs${query(filter)}`),
            allQueues(ctx),
        ]);
        learnWeek(ctx, list, filter).catch(() => {
            ctx.state.weekKey = null; // the page was left before all of it was known
        });
        return { list, queues };
    },
    view: ({ list, queues }, ctx) => [
        pageHead('Jobs'),
        filters(
            [
                { name: 'name', label: 'name contains', search: true, placeholder: 'search ( / )' },
                queueFilter(queues),
            ],
            ctx.query,
        ),
        panel(
            'Jobs',
            { key: 'list' },
            listTable(
                list,
                {
                    caption: 'Jobs',
                    columns: columns(ctx.state.week ?? []),
                    id: (j) => j.job,
                    none: 'There is no job.',
                    noneHint: 'lockstep job apply FILE',
                },
                ctx.query,
            ),
        ),
        list.items.length > 0 && weekPanel(ctx.state.week ?? [], list.items),
    ],
};
