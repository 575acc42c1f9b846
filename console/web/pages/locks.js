/* locks.js: which session holds or waits for which phase, as a tree of who blocks whom, and as a table. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink, problemBox, empty, hiddenNote } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { table } from '../lib/table.js';
import { duration, plural } from '../lib/format.js';
import { query, seg } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';

const list = (v) =>
    (Array.isArray(v) ? v : v == null || v === '' ? [] : String(v).replace(/[{}]/g, '').split(',').filter(Boolean)).map(
        Number,
    );
const waits = (l) => l.granted === false || l.waiting === true || list(l.blocked_by).length > 0;
const nameOf = (l) => l.login ?? l.usename ?? l.user ?? '';

const what = (l) => [
    l.lock ?? l.kind ?? 'lock',
    ' ',
    l.mode ?? '',
    l.order != null ? ` of phase ${l.order}` : '',
    l.slot_no != null ? ` ${l.slot_no}` : '',
];

/* Whether two locks are on the same thing, so that one may wait for the other. */
const same = (a, b) =>
    a.kind === b.kind &&
    a.queue === b.queue &&
    (a.phase_id ?? a.slot_no ?? a.executor_id) === (b.phase_id ?? b.slot_no ?? b.executor_id);

function endButton(l, reload) {
    return actionButton('End', {
        title: `End session ${l.pid}`,
        confirm: 'End the session',
        danger: true,
        path: `locks/${seg(l.pid)}/end`,
        after: reload,
        effect: [
            `Session ${l.pid} of ${nameOf(l)} on ${l.host ?? 'this host'} is ended; it runs: ${(l.query ?? '').slice(0, 120) || 'nothing'}`,
            'Its transaction is rolled back and its locks are released.',
            'An executor connects again; what its readers did is decided as after a lost session.',
        ],
    });
}

function node(l, waiters, seen) {
    const below = seen.has(l.pid) ? [] : (waiters.get(l.pid) ?? []);
    seen.add(l.pid);
    return h(
        'li',
        { key: l.pid },
        badge(waits(l) ? 'waiting' : 'granted'),
        ' ',
        h('strong', null, `session ${l.pid}`),
        ` ${nameOf(l)} ${l.application_name ? `(${l.application_name})` : ''}: `,
        what(l),
        l.age_s == null ? '' : `, ${duration(l.age_s)}`,
        l.query ? [', ', h('code', null, l.query.length > 200 ? `${l.query.slice(0, 200)} …` : l.query)] : '',
        below.length > 0 && [
            h('span.note', null, ` blocks ${plural(below.length, 'session')}`),
            h(
                'ul',
                null,
                below.map((one) => node(one, waiters, seen)),
            ),
        ],
    );
}

/* For each session that blocks others: those that wait for it, each once. */
export function waitersOf(rows) {
    const waiters = new Map();
    for (const row of rows) {
        for (const pid of new Set(list(row.blocked_by))) {
            const known = waiters.get(pid) ?? [];
            if (!known.some((one) => one.pid === row.pid)) waiters.set(pid, [...known, row]);
        }
    }
    return waiters;
}

/* The sessions that wait for nothing and for which others wait, each by the lock for which they wait. */
export function rootsOf(rows, waiters) {
    const waiting = new Set(rows.filter(waits).map((row) => row.pid));
    return [...waiters]
        .filter(([pid]) => !waiting.has(pid))
        .map(([pid, below]) => {
            const own = rows.filter((row) => row.pid === pid);
            return own.find((row) => below.some((one) => same(row, one))) ?? { ...own[0], pid, granted: true, ...OTHER };
        });
}

const OTHER = { lock: 'a lock that is none of Lockstep', kind: null, mode: null, order: null, slot_no: null, age_s: null };

/* Roots are those that wait for nothing; below each those that wait for it. */
function graph(rows) {
    const waiters = waitersOf(rows),
        seen = new Set();
    if (waiters.size === 0) return empty('No session waits for another.');
    return h(
        'ul.tree',
        { 'aria-label': 'who blocks whom' },
        rootsOf(rows, waiters).map((row) => node(row, waiters, seen)),
    );
}

function columns(operator, reload) {
    return [
        { label: 'session', key: true, num: true, cell: (l) => String(l.pid ?? '–') },
        { label: 'state', cell: (l) => badge(waits(l) ? 'waiting' : 'granted') },
        { label: 'lock', cell: what },
        { label: 'queue', cell: (l) => queueLink(l.queue) },
        { label: 'run', cell: (l) => (l.run_id ? runLink(l.run_id) : null) },
        { label: 'for', num: true, cell: (l) => duration(l.age_s ?? l.age) },
        { label: 'login', cell: nameOf },
        { label: 'host', cell: (l) => l.host },
        { label: 'blocked by', cell: (l) => list(l.blocked_by).join(', ') || null },
        { label: 'query', class: 'text', cell: (l) => l.query && h('code', null, l.query) },
        operator && { label: 'do', cell: (l) => l.may_end && endButton(l, reload) },
    ].filter(Boolean);
}

export const page = {
    title: () => 'Locks',
    every: 3,
    watches: ['phase'],
    load: async (ctx) => ({ list: await ctx.get(`locks${query({ queue: ctx.query.get('queue'), limit: 1000 })}`) }),
    view: ({ list: doc }, ctx) => {
        if (doc.problem) return problemBox(doc.problem);
        const sessions = new Set(doc.items.map((l) => l.pid)).size;
        return [
            pageHead('Locks'),
            panel('Who blocks whom', { key: 'graph' }, graph(doc.items)),
            panel(
                'Sessions',
                { key: 'list', note: `${plural(doc.items.length, 'lock')} of ${plural(sessions, 'session')}` },
                hiddenNote(doc.hidden),
                table({
                    caption: 'Locks',
                    columns: columns(ctx.session.operator, ctx.reload),
                    rows: doc.items,
                    id: (l) => [l.pid, l.kind, l.mode, l.queue, l.phase_id, l.slot_no, l.granted].join(),
                    none: 'No session holds or waits for a lock of a phase.',
                }),
            ),
        ];
    },
};
