/* log.js: the event log and the log of the jobs, filtered and paged; it follows while it is at its newest page. */
import { h } from '../lib/dom.js';
import { pageHead, panel, runLink } from '../lib/parts.js';
import { filters, listTable } from '../lib/table.js';
import { query } from '../lib/api.js';
import { go, withQuery } from '../lib/router.js';
import { eventColumns } from '../lib/events.js';
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
                on: { click: () => go(withQuery({ of: name === 'events' ? null : name, kind: null, after: null })) },
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

export const page = {
    title: () => 'Log',
    watches: ['event', 'run', 'phase', 'task', 'queue', 'alert'],
    concerns: (event, ctx) => !ctx.query.has('after'),
    load: async (ctx) => {
        const q = (name) => ctx.query.get(name),
            of = q('of') === 'jobs' ? 'job-log' : 'events';
        return {
            of,
            list: await ctx.get(
                `${of}${query({ kind: q('kind'), queue: q('queue'), run: q('run'), name: q('name'), text: q('text'), event: q('event'), after: q('after'), ...zoned(ctx.query) })}`,
            ),
        };
    },
    view: ({ of, list }, ctx) => {
        const jobs = of === 'job-log',
            run = ctx.query.get('run');
        const fields = [
            { name: 'text', label: 'text contains', search: true, placeholder: 'search ( / )' },
            jobs ? { name: 'name', label: 'job' } : { name: 'queue', label: 'queue' },
            { name: 'since', label: 'since', type: 'datetime-local' },
            { name: 'until', label: 'until', type: 'datetime-local' },
            { name: 'kind', label: 'kind', chips: jobs ? JOB_KINDS : KINDS },
        ];
        return [
            pageHead('Log', { tools: tabs(jobs ? 'jobs' : 'events'), sub: run ? ['of run ', runLink(run)] : null }),
            filters(fields, ctx.query),
            panel(
                jobs ? 'What happened to jobs' : 'What happened',
                {
                    key: 'list',
                    note: ctx.query.has('after') ? 'an older page; it does not follow' : 'the newest first; it follows',
                },
                listTable(
                    list,
                    {
                        caption: 'Log',
                        columns: eventColumns({ exact: true }),
                        id: (e) => e.event_id ?? e.job_event_id,
                        none: 'Nothing of this happened.',
                        rowClass: (e) => (String(e.event_id) === ctx.query.get('event') ? 'found' : null),
                    },
                    ctx.query,
                ),
            ),
        ];
    },
};
