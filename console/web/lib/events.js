/* events.js: the columns of the event log, which several pages show. */
import { h } from './dom.js';
import { eventBadge } from './badge.js';
import { when, stamp } from './format.js';
import { query } from './api.js';
import { queueLink, runLink, taskLink, jobLink } from './parts.js';

export const kindOf = (e) => e.kind ?? e.event;
export const idOf = (e) => e.event_id ?? e.job_event_id;
export const said = (e) => e.detail ?? e.message ?? e.text;

/* The address of one event; the log of jobs is found by time. */
export const eventAddress = (e) =>
    `log${query(e.job_event_id == null ? { event: e.event_id } : { of: 'jobs', event: e.job_event_id, at: e.at })}`;

export function eventColumns({ run = true, exact = false } = {}) {
    return [
        {
            label: 'when',
            key: true,
            class: 'nowrap',
            cell: (e) => h('a.plain', { href: eventAddress(e) }, exact ? stamp(e.at) : when(e.at)),
        },
        { label: 'event', cell: (e) => eventBadge(kindOf(e), said(e)) },
        run && { label: 'queue', cell: (e) => queueLink(e.queue) },
        run && {
            label: 'run',
            cell: (e) => (e.run_id ? runLink(e.run_id, e.run_name) : e.job ? jobLink(e.job) : null),
        },
        { label: 'task', maybe: true, cell: (e) => (e.task_id ? taskLink(e.task_id) : null) },
        { label: 'what', class: 'text', cell: said },
        { label: 'who', maybe: true, cell: (e) => e.actor ?? e.source },
    ].filter(Boolean);
}
