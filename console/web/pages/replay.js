/* replay.js: messages of a range are run again: the range, what the preview counts, and what was replayed before. */
import { h } from '../lib/dom.js';
import { pageHead, panel, queueLink, runLink, empty, facts } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { allQueues, listTable, table } from '../lib/table.js';
import { absolute, count, duration, plural, when, instant } from '../lib/format.js';
import { query, seg, send } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';

const MODES = ['failed', 'missing', 'all'];
const MEANING = {
    failed: 'Tasks that failed or were cancelled run again; completed ones do not.',
    missing: 'Only messages that the database does not know become tasks.',
    all: 'Every task of the range runs again, also completed ones.',
};

const BUSY = 'Until it has ended, other pages of this sign-in get no answer; a page with a sign-in of its own does.';

const HISTORY = (operator, after) => [
    { label: 'replay', key: true, num: true, cell: (r) => `#${r.replay_id}` },
    { label: 'queue', cell: (r) => queueLink(r.queue) },
    { label: 'status', cell: (r) => badge(r.interrupted ? 'interrupted' : r.status) },
    { label: 'mode', cell: (r) => r.mode },
    { label: 'from', num: true, cell: (r) => r.from_offset ?? r.from },
    { label: 'to', num: true, cell: (r) => r.to_offset ?? r.to },
    { label: 'began', cell: (r) => when(r.started_at ?? r.created_at) },
    { label: 'made', num: true, title: 'tasks made of messages that had none', cell: (r) => count(r.made) },
    { label: 'reopened', num: true, title: 'finished tasks that run again', cell: (r) => count(r.reopened) },
    {
        label: 'took',
        num: true,
        cell: (r) =>
            r.ended_at && r.started_at ? duration((Date.parse(r.ended_at) - Date.parse(r.started_at)) / 1000) : null,
    },
    { label: 'who', cell: (r) => r.actor ?? r.login ?? r.created_by },
    { label: 'reason', class: 'text', cell: (r) => r.reason },
    { label: 'do', maybe: true, cell: (r) => operator && r.interrupted && [proceed(r, after), ' ', abandon(r, after)] },
];

const LINES = [
    { label: 'run', key: true, cell: (l) => runLink(l.run_id) },
    { label: 'order', num: true, cell: (l) => l.order },
    { label: 'messages', num: true, cell: (l) => count(l.messages) },
    { label: 'what happens', class: 'text', cell: (l) => l.meaning },
];

const OUTCOMES = [
    { label: 'outcome', key: true, cell: (o) => o.action },
    { label: 'messages', num: true, cell: (o) => count(o.messages) },
    { label: 'what happens', class: 'text', cell: (o) => o.meaning },
];

/* The lines are by run and phase; the same outcome of all of them is one. */
export function byOutcome(lines) {
    const sums = new Map();
    for (const { action, meaning, messages } of lines) {
        const id = `${action}: ${meaning}`;
        sums.set(id, { id, action, meaning, messages: (sums.get(id)?.messages ?? 0) + messages });
    }
    return [...sums.values()].sort((a, b) => b.messages - a.messages);
}

function preview(doc) {
    return [
        facts([
            ['offsets', `${count(doc.from)} to ${count(doc.to)}`],
            doc.readable < doc.to && ['can be read up to offset', count(doc.readable)],
            ['run again', count(doc.counts.run_again)],
            ['skipped', count(doc.counts.skipped)],
            ['open runs', doc.open_runs],
        ]),
        doc.lines.length > 0 && table({ caption: 'By outcome', columns: OUTCOMES, rows: byOutcome(doc.lines), id: (o) => o.id }),
        table({ caption: 'By run and phase', columns: LINES, rows: doc.lines, none: 'Nothing of it would run again.' }),
    ];
}

/* What a browser takes for a date is more than what a person means by one: of "-5" it makes a day. "": it is a bound. */
export function boundProblem(text) {
    if (/^\d+$/.test(text)) return Number(text) <= Number.MAX_SAFE_INTEGER ? '' : 'There is no such offset.';
    return text === '' || instant(text) !== null || ['earliest', 'latest'].includes(text) ? '' : 'Give an offset, a time as 2026-11-23T08:00, earliest or latest.';
}

/* Numbers stay offsets, words stay words, everything else is a time. */
function bound(text) {
    if (/^\d+$/.test(text)) return Number(text);
    return ['earliest', 'latest'].includes(text) ? text : (instant(text) ?? text);
}

/* The instant that is sent, in the zone of the page: the zone of a time that was typed is seen before it counts. */
export function boundText(text) {
    const sent = bound(text);
    return sent === text || typeof sent === 'number' ? text : absolute(sent);
}

function request(v) {
    return {
        reason: v.reason || 'preview',
        queue: v.queue,
        mode: v.mode,
        ...(v.run ? { run: v.run } : { from: bound(v.from || 'earliest'), to: bound(v.to || 'latest') }),
        ...(v.order ? { order: Number(v.order) } : {}),
    };
}

export const ran = (d) =>
    `Replay #${d.replay_id}: ${plural(d.counts.run_again, 'message')} run again, ${count(d.counts.skipped)} skipped.${
        d.wanted ? ` It was begun before and ends at offset ${count(d.to)}; offsets ${count(d.to)} to ${count(d.wanted)} are not in it.` : ''
    }`;

/* What is left of it, from its cursor on. */
function proceed(r, after) {
    const rest = { queue: r.queue, mode: r.mode, from: r.cursor, to: r.to_offset };
    const own = r.run_id ? { queue: r.queue, mode: r.mode, run: r.run_id } : rest;
    const order = r.order == null ? {} : { order: Number(r.order) };
    return actionButton('Continue', {
        title: `Continue replay #${r.replay_id}`,
        confirm: 'Continue',
        danger: true,
        after,
        effect: [
            `It was interrupted at offset ${count(r.cursor)} of ${count(r.from_offset)} to ${count(r.to_offset)}; it continues there.`,
            MEANING[r.mode],
            'What it has done already is not done again. It is refused while another session drives it.',
            BUSY,
        ],
        preview: async (v) =>
            preview(await send('POST', 'replay', { ...own, ...order, reason: v.reason || 'preview', preview: true }, { long: true })),
        act: (v, change) => change('POST', 'replay', { queue: r.queue, resume: r.replay_id, reason: v.reason }, { long: true }),
        done: ran,
    });
}

function abandon(r, after) {
    return actionButton('Give up', {
        title: `Give up replay #${r.replay_id}`,
        confirm: 'Give it up',
        danger: true,
        act: (v, change) => change('POST', `replays/${seg(r.replay_id)}/abandon`, v, { long: true }),
        after,
        effect: [
            `It was interrupted at offset ${count(r.cursor)} of ${count(r.from_offset)} to ${count(r.to_offset)}, and does no more.`,
            `What it has done stays: ${plural(r.made, 'task')} made, ${count(r.reopened)} reopened. These run.`,
            `Another replay of ${r.queue} can begin then.`,
        ],
    });
}

function start(queues, ctx) {
    const values = {
        queue: ctx.query.get('queue') ?? queues[0],
        mode: 'failed',
        run: ctx.query.get('run') ?? '',
        from: 'earliest',
        to: 'latest',
        order: ctx.query.get('order') ?? '',
    };
    return actionButton('Replay', {
        title: 'Replay',
        confirm: 'Execute',
        danger: true,
        values,
        after: ctx.reload,
        fields: [
            { name: 'queue', label: 'queue', options: queues },
            { name: 'mode', label: 'mode', options: MODES },
            { name: 'run', label: 'run', help: 'one run; empty: the range below' },
            { name: 'order', label: 'only the phase of order', type: 'number', min: 1, max: Number.MAX_SAFE_INTEGER, help: 'of one run; later phases are not replayed; empty: all phases' },
            { name: 'from', label: 'from', check: boundProblem, help: 'an offset, earliest, or a time; without a zone it is of the zone that the page shows' },
            { name: 'to', label: 'to', check: boundProblem, help: 'an offset, latest, or a time' },
        ],
        effect: (v) => [
            MEANING[v.mode],
            v.run
                ? `Of run ${v.run}${v.order ? `, only the phase of order ${v.order}; later phases are not replayed` : ''}.`
                : `Of ${v.queue}, from ${boundText(v.from || 'earliest')} to ${boundText(v.to || 'latest')}.`,
            'Phases keep their order. The preview counts first; it changes nothing.',
            BUSY,
        ],
        preview: async (v) => preview(await send('POST', 'replay', { ...request(v), preview: true }, { long: true })),
        act: (v, change) => change('POST', 'replay', request(v), { long: true }), // without a client it would be interrupted
        done: ran,
    });
}

export const page = {
    title: () => 'Replay',
    watches: ['event', 'run'],
    load: async (ctx) => {
        const [list, queues] = await Promise.all([
            ctx.get(`replays${query({ queue: ctx.query.get('queue'), after: ctx.query.get('after') })}`),
            allQueues(ctx),
        ]);
        return { list, queues: queues.items.map((q) => q.queue ?? q.name) };
    },
    view: ({ list, queues }, ctx) => [
        pageHead('Replay', {
            sub: ctx.query.get('run')
                ? `of run ${ctx.query.get('run')}${ctx.query.get('order') ? `, phase of order ${ctx.query.get('order')}` : ''}`
                : 'Messages of a range of offsets or of time, or of one run, are run again.',
            tools: ctx.session.operator && queues.length > 0 && start(queues, ctx),
        }),
        !ctx.session.operator && empty('Replays are started by members of lockstep_operator.'),
        panel(
            'Replays',
            { key: 'list' },
            listTable(
                list,
                { caption: 'Replays', columns: HISTORY(ctx.session.operator, ctx.reload), id: (r) => r.replay_id, none: 'Nothing was replayed.' },
                ctx.query,
            ),
        ),
    ],
};
