/* rejected_message.js: one rejected message, as text and as bytes; it may be edited and driven through its queue again. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, queueLink, runLink, empty, allFields } from '../lib/parts.js';
import { table } from '../lib/table.js';
import { count, when } from '../lib/format.js';
import { seg, send, whole } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';
import { write } from '../lib/json.js';

/* 16 bytes a line: where, hex, text. */
function dump(hex) {
    const bytes = (hex ?? '').match(/../g) ?? [],
        lines = [];
    for (let i = 0; i < bytes.length; i += 16) {
        const part = bytes.slice(i, i + 16);
        const text = part
            .map((b) => parseInt(b, 16))
            .map((c) => (c >= 32 && c < 127 ? String.fromCharCode(c) : '.'))
            .join('');
        lines.push(`${i.toString(16).padStart(6, '0')}  ${part.join(' ').padEnd(47)}  ${text}`);
    }
    return lines.join('\n');
}

const preview = (doc) => [
    h('p', null, `One task of order ${doc.order ?? 0} would be published on ${doc.queue}:`),
    h('pre', null, write(doc.task, 1)),
];

function redrive(r, after) {
    const path = `rejected/${seg(r.rejected_id)}/redrive`;
    const again = r.redrive_run != null;
    return actionButton('Edit and redrive', {
        title: `Redrive message #${r.rejected_id}`,
        confirm: 'Redrive',
        values: { value: r.raw_text ?? '' },
        fields: [{ name: 'value', label: 'message', rows: 10, required: true }],
        effect: [
            `It was rejected: ${r.detail ?? r.reason}`,
            again && `It was redriven before, as run ${r.redrive_run}, and is published once more.`,
            `The message below is published on ${r.queue} as a run of its own.`,
            'The rejected one stays here, marked as redriven.',
        ].filter(Boolean),
        preview: async (v) => {
            const body = { ...v, again, reason: v.reason || 'preview', preview: true };
            return preview(await send('POST', path, body, { exact: ['order', 'task'] }));
        },
        act: (v, change) => change('POST', path, { ...v, again }),
        done: (d) => `Redriven${d.run_id ? ` as run ${d.run_id}` : ''}.`,
        after,
    });
}

const HEADERS = [
    { label: 'header', key: true, cell: (x) => h('code', null, x.name) },
    { label: 'value', class: 'text', cell: (x) => h('code', null, x.value ?? x.value_hex) },
];
const headers = (r) =>
    Array.isArray(r.headers) ? r.headers : Object.entries(r.headers ?? {}).map(([name, value]) => ({ name, value }));

export const page = {
    title: (params) => `Rejected message #${params.id}`,
    watches: ['event'],
    load: async (ctx) => whole(await ctx.get(`rejected/${seg(ctx.params.id)}`), 'message'),
    view: (r, ctx) => [
        pageHead(`Rejected message #${r.rejected_id}`, {
            sub: r.detail,
            tools: ctx.session.operator && !r.hidden && redrive(r, ctx.reload),
        }),
        h(
            'div.columns',
            { key: 'grid' },
            panel(
                'Message',
                { key: 'text' },
                r.hidden
                    ? empty('The message is hidden.', 'Set [console] show_payloads = on, or sign in as an operator.')
                    : h(
                          'pre',
                          { tabindex: '0', role: 'region', 'aria-label': 'message as text' },
                          r.raw_text ?? 'It is not text.',
                      ),
            ),
            panel(
                'Facts',
                { key: 'facts' },
                facts([
                    ['reason', h('code', null, r.reason)],
                    ['queue', queueLink(r.queue)],
                    ['offset', count(r.offset)],
                    ['run', r.run_id && runLink(r.run_id)],
                    ['position', r.seq],
                    ['rejected', when(r.rejected_at, null)],
                    ['redriven', when(r.redriven_at, null)],
                    ['by', r.redriven_by],
                    ['as run', r.redrive_run && runLink(r.redrive_run)],
                ]),
                allFields(Object.fromEntries(Object.entries(r).filter(([k]) => !/^raw|headers/.test(k)))),
            ),
            !r.hidden &&
                r.raw_hex &&
                panel(
                    'Bytes',
                    { key: 'bytes' },
                    h('pre.dump', { tabindex: '0', role: 'region', 'aria-label': 'message as bytes' }, dump(r.raw_hex)),
                ),
            panel(
                'Headers',
                { key: 'headers' },
                table({
                    caption: 'Headers',
                    columns: HEADERS,
                    rows: headers(r),
                    none: 'It has none.',
                }),
            ),
        ),
    ],
};
