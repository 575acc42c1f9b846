/* events.js: the columns of the event log, which several pages show. */
import { h } from './dom.js';
import { badge } from './badge.js';
import { when, stamp } from './format.js';
import { queueLink, runLink, taskLink, jobLink } from './parts.js';

export const kindOf = (e) => e.kind ?? e.event;

export function eventColumns({ run = true, exact = false } = {}) {
    return [
        {
            label: 'when',
            key: true,
            class: 'nowrap',
            cell: (e) =>
                h('a.plain', { href: `log?event=${e.event_id ?? e.job_event_id}` }, exact ? stamp(e.at) : when(e.at)),
        },
        { label: 'event', cell: (e) => badge(kindOf(e)) },
        run && { label: 'queue', cell: (e) => queueLink(e.queue) },
        run && {
            label: 'run',
            cell: (e) => (e.run_id ? runLink(e.run_id, e.run_name) : e.job ? jobLink(e.job) : null),
        },
        { label: 'task', cell: (e) => (e.task_id ? taskLink(e.task_id) : null) },
        { label: 'what', class: 'text', cell: (e) => e.detail ?? e.message ?? e.text },
        { label: 'who', cell: (e) => e.actor ?? e.source },
    ].filter(Boolean);
}
