/* parts.js: small pieces that several pages are made of: panels, facts, problems, links of runs and tasks, share bars.
 */
import { h } from './dom.js';
import { icon } from './badge.js';
import { count, duration, when, NONE } from './format.js';
import { seg, word } from './api.js';
import { write } from './json.js';

export function problemBox(error) {
    return h(
        'div.problem',
        { role: 'alert' },
        icon('warn'),
        h(
            'div',
            null,
            h(
                'p',
                null,
                h('strong', null, error.title ?? 'Something went wrong'),
                error.detail ? `: ${error.detail}` : !error.title && error.message ? `: ${error.message}` : '',
                error.field ? ` (field ${error.field})` : '',
            ),
            error.hint && h('p.hint', null, error.hint),
        ),
    );
}

/* {reason, hint}: what this login does not see, said once for all of it; null: it sees everything */
export function hiddenNote(hidden) {
    return (
        hidden?.reason &&
        h('div.notice', { key: 'hidden', role: 'note' }, h('p', null, hidden.reason), h('p.hint', null, hidden.hint))
    );
}

export function empty(text, hint) {
    return h('div.empty', null, h('p', null, text), hint && h('p.hint', null, hint));
}

export const TASK_STATES = ['Processing', 'Pending', 'Error', 'Failed', 'Completed', 'Cancelled', 'Paused', 'Terminated', 'PartiallyCompleted'];

/* A section with a heading; what it may do stands at the right of it. */
export function panel(title, { tools, key, wide, note } = {}, ...content) {
    return h(
        'section.panel',
        { key: key ?? title, class: wide ? 'wide' : null },
        h(
            'div.panel-head',
            null,
            h('h2', null, title),
            note && h('span.note', null, note),
            tools && h('div.tools', null, tools),
        ),
        content,
    );
}

export function pageHead(title, { badge, sub, tools } = {}) {
    return h(
        'header.page-head',
        { key: 'head' },
        h('div.page-title', null, h('h1', { tabindex: '-1' }, title), badge),
        sub && h('p.sub', null, sub),
        tools && h('div.tools', null, tools),
    );
}

/* [[label, value, title, long], ...]; what has no value is left out, what is long has the place of two */
export function facts(pairs) {
    return h(
        'dl.facts',
        null,
        pairs
            .filter((p) => p && p[1] != null && p[1] !== '')
            .map(([label, value, title, long]) => h('div', { key: label, class: long ? 'long' : null }, h('dt', null, label), h('dd', { title }, value))),
    );
}

function plain(value) {
    if (value == null) return NONE;
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value === 'object') return h('code', null, write(value));
    return String(value);
}

const words = (name) => name.replaceAll('_', ' ');

/* Whatever else the server knows of a row: its columns by name, closed at first. */
export function allFields(row, title = 'All fields') {
    return h(
        'details.all',
        { key: 'all' },
        h('summary', null, title),
        facts(
            Object.entries(row)
                .filter(([, v]) => v !== null)
                .map(([k, v]) => [words(k), /_at$|^at$|_for$/.test(k) && typeof v === 'string' ? when(v) : plain(v)]),
        ),
    );
}

export const shortId = (id) => String(id).slice(0, 8);

export function runLink(id, name) {
    if (id == null) return NONE;
    return h('a', { href: `runs/${seg(id)}`, title: id, class: name ? 'named' : 'mono' }, name || shortId(id));
}

export const queueLink = (name) => (name == null ? NONE : h('a.named', { href: `queues/${word(name)}` }, name));
export const jobLink = (name) => (name == null ? NONE : h('a.named', { href: `jobs/${word(name)}` }, name));
export const taskLink = (id, text) => (id == null ? NONE : h('a', { href: `tasks/${seg(id)}` }, text || `#${id}`));

/* A number that leads to what it counts; nothing leads to nothing. */
export function countLink(n, href, cls, write = count) {
    return n ? h('a', { href, class: cls }, write(n)) : h('span.zero', null, count(n ?? 0));
}

/* Done, failed, running and waiting of a whole, drawn and as words. */
export function progress(row) {
    const total = row.tasks || 0;
    const done = (row.completed ?? 0) + (row.cancelled ?? 0);
    const share = [
        ['good', row.completed],
        ['bad', row.failed],
        ['quiet', row.cancelled],
        ['warn', row.error],
        ['run', row.processing],
    ];
    const text =
        `${count(done + (row.failed ?? 0))} of ${count(total)} finished` +
        (row.failed ? `, ${count(row.failed)} failed` : '') +
        (row.processing ? `, ${count(row.processing)} running` : '');
    return h(
        'span.progress',
        { title: text },
        h(
            'span.bar',
            { role: 'img', 'aria-label': text },
            total > 0 && share.map(([cls, n]) => n > 0 && h(`i.${cls}`, { style: { width: `${(100 * n) / total}%` } })),
        ),
        h('span.num', null, `${count(done + (row.failed ?? 0))}/${count(total)}`),
    );
}

export const seconds = (n) => h('span.num', null, duration(n));

/* text and a button that copies it */
export function copyable(text) {
    return h(
        'span.copyable',
        null,
        h('code', null, text),
        navigator.clipboard &&
            h(
                'button.link',
                {
                    type: 'button',
                    'aria-label': `copy ${text}`,
                    on: { click: () => navigator.clipboard.writeText(text) },
                },
                'copy',
            ),
    );
}

export function download(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = h('a', { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}
