/* log.js: the event log and the log of the jobs, filtered and paged; it follows while it is at its newest page. */
import { h } from '../lib/dom.js';
import { pageHead, panel, runLink } from '../lib/parts.js';
import { allQueues, filters, listTable, queueFilter } from '../lib/table.js';
import { query } from '../lib/api.js';
import { go, withQuery } from '../lib/router.js';
import { eventColumns, idOf } from '../lib/events.js';
import { zoned } from './runs.js';

const KINDS = [
    'run_started',
    'run_ended',
    'run_stopped',
    'run_paused',
    'run_resumed',
    'run_cancelled',
    'phase_opened',
    'task_failed',
    'queue_paused',
    'queue_halted',
];
const JOB_KINDS = ['fired', 'skipped', 'missed', 'completed', 'error', 'changed', 'alert', 'recovered'];

function tabs(of) {
    const one = (name, word) =>
        h(
            'button',
            {
                type: 'button',
                key: name,
                'aria-pressed': String(of === name),
                on: { click: () => go(name === 'events' ? 'log' : 'log?of=jobs') },
            },
            word,
        );
    return h(
        'div.chips',
        { role: 'group', 'aria-label': 'which log' },
        one('events', 'runs and queues'),
        one('jobs', 'jobs'),
    );
}

/* The log of the jobs from an event back: up to its time, whose microseconds a Date does not have. */
const upTo = (at) => (at == null ? {} : { until: new Date(Date.parse(at) + 1).toISOString() });

export const page = {
    title: () => 'Log',
    watches: ['event', 'run', 'phase', 'task', 'queue', 'alert'],
    concerns: (event, ctx) => !ctx.query.has('after') && !ctx.query.has('event'),
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name),
            of = q('of') === 'jobs' ? 'job-log' : 'events',
            own = of === 'events' ? { queue: q('queue'), run: q('run'), event: q('event') } : { name: q('name') };
        const [list, queues] = await Promise.all([
            ctx.get(
                `${of}${query({ kind: q('kind'), text: q('text'), after: q('after'), ...zoned(ctx.query), ...upTo(q('at')), ...own })}`,
            ),
            of === 'events' ? allQueues(ctx) : null,
        ]);
        return { of, list, queues };
    },
    view: ({ of, list, queues }, ctx) => {
        const jobs = of === 'job-log',
            run = ctx.query.get('run'),
            wanted = ctx.query.get('event');
        const fields = [
            { name: 'text', label: 'text contains', search: true, placeholder: 'search ( / )' },
            jobs ? { name: 'name', label: 'job name contains' } : queueFilter(queues),
            { name: 'since', label: 'since', type: 'datetime-local' },
            { name: 'until', label: 'until', type: 'datetime-local' },
            { name: 'kind', label: 'kind', chips: jobs ? JOB_KINDS : KINDS },
        ];
        const newest = withQuery({ event: null, at: null, after: null }, ctx.query);
        return [
            pageHead('Log', { tools: tabs(jobs ? 'jobs' : 'events'), sub: run ? ['of run ', runLink(run)] : null }),
            filters(fields, ctx.query),
            panel(
                jobs ? 'What happened to jobs' : 'What happened',
                {
                    key: 'list',
                    note: wanted
                        ? [`from event ${wanted} back; it does not follow. `, h('a', { href: newest }, 'the newest')]
                        : ctx.query.has('after')
                          ? 'an older page; it does not follow'
                          : 'the newest first; it follows',
                },
                listTable(
                    list,
                    {
                        caption: 'Log',
                        columns: eventColumns({ exact: true }),
                        id: idOf,
                        none: 'Nothing of this happened.',
                        rowClass: (e) => (String(idOf(e)) === wanted ? 'found' : null),
                    },
                    ctx.query,
                ),
            ),
        ];
    },
};
