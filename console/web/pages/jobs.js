/* jobs.js: the jobs with their schedules in words, their health, and the calendar of the coming week. */
import { h } from '../lib/dom.js';
import { pageHead, panel, jobLink, queueLink, runLink } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { filters, listTable } from '../lib/table.js';
import { when, serverNow, dayText, clockText, plural } from '../lib/format.js';
import { query, seg } from '../lib/api.js';

const DAYS = 7,
    HOURS = 24,
    HOUR_MS = 3600000,
    KEPT_MS = 300000;

export const words = (s) => s.words ?? s.text ?? [s.kind, s.expr ?? s.rule, s.zone].filter(Boolean).join(' ');

function columns() {
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
            cell: (j) => j.words || (j.schedules ? plural(j.schedules, 'schedule') : 'by hand'),
        },
        { label: 'next', cell: (j) => when(j.next_at) },
        { label: 'last time', cell: (j) => when(j.last_scheduled) },
        { label: 'outcome', cell: (j) => badge(j.last_outcome) },
        { label: 'last run', cell: (j) => badge(j.last_status) },
        { label: 'open run', cell: (j) => (j.open_run ? runLink(j.open_run) : null) },
        { label: 'changed', cell: (j) => j.drifted && badge('changed', 'it differs from what its file declared') },
    ];
}

/* Firings by day and hour of the zone that is chosen; each cell says its jobs. */
function calendar(firings) {
    const cells = new Map(),
        now = serverNow();
    for (const f of firings) {
        const ms = Date.parse(f.at),
            key = `${dayText(ms)} ${clockText(ms).slice(0, 2)}`;
        cells.set(key, [...(cells.get(key) ?? []), f.job]);
    }
    const days = Array.from({ length: DAYS }, (_, i) => dayText(now + i * HOURS * HOUR_MS));
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
                            const jobs = cells.get(`${day} ${hour}`);
                            return h(
                                'td',
                                { class: jobs ? 'some' : null, title: jobs ? [...new Set(jobs)].join(', ') : null },
                                jobs ? String(jobs.length) : '',
                            );
                        }),
                    ),
                ),
            ),
        ),
    );
}

/* What fires in the coming week, of the enabled jobs of the page: asked once in five minutes, five jobs at a time. */
async function week(ctx, jobs) {
    const names = jobs.filter((j) => j.next_at && j.enabled !== false).map((j) => j.job),
        key = names.join();
    if (ctx.state.week?.key === key && Date.now() - ctx.state.week.at < KEPT_MS) return;
    const firings = [];
    for (let i = 0; i < names.length; i += 5) {
        const some = names.slice(i, i + 5);
        const lists = await Promise.all(some.map((name) => ctx.optional(`jobs/${seg(name)}/next?count=100`)));
        lists.forEach((list, k) =>
            firings.push(...list.items.map((f) => ({ job: some[k], at: f.at ?? f.scheduled_for }))),
        );
    }
    ctx.state.week = { key, at: Date.now(), firings };
    ctx.redraw();
}

export const page = {
    title: () => 'Jobs',
    watches: ['event', 'alert', 'run'],
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name);
        const list = await ctx.get(`jobs${query({ name: q('name'), queue: q('queue'), after: q('after') })}`);
        week(ctx, list.items).catch(() => {}); // the table does not wait for it
        return { list };
    },
    view: ({ list }, ctx) => [
        pageHead('Jobs'),
        filters(
            [
                { name: 'name', label: 'name contains', search: true, placeholder: 'search ( / )' },
                { name: 'queue', label: 'queue' },
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
                    columns: columns(),
                    id: (j) => j.job,
                    none: 'There is no job.',
                    noneHint: 'lockstep job apply FILE',
                },
                ctx.query,
            ),
        ),
        panel('The coming week', { key: 'week', note: 'firings by hour, at most 100 of a job' }, calendar(ctx.state.week?.firings ?? [])),
    ],
};
