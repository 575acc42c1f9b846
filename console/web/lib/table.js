/* table.js: tables with selection and keyset pages, and the filters above them. Filters and pages are in the address.
 *
 * A column   {name, label, cell(row), num, key, maybe}: `key` is the one that names the row (a row header), `maybe` one that is left out
 *            when it says nothing of any row. class `spare`: one that a page of middle width leaves out.
 * Narrow     Below 640 px a row is a card; each cell has its label from data-label.
 * Keyboard   j and k move between the rows' links, x selects, Enter opens (keys.js).
 */
import { h } from './dom.js';
import { go, withQuery } from './router.js';
import { counted, count, NONE, controlTime, instant } from './format.js';
import { empty, problemBox } from './parts.js';

function headRow(columns, select, rows) {
    const all = select && rows.length > 0 && rows.every((row) => select.has(row));
    return h(
        'tr',
        null,
        select &&
            h(
                'th.pick',
                { scope: 'col' },
                h('input', {
                    type: 'checkbox',
                    'aria-label': 'select all rows of this page',
                    checked: all,
                    indeterminate: !all && rows.some((row) => select.has(row)),
                    on: { change: (e) => select.all(rows, e.target.checked) },
                }),
            ),
        columns.map((c) => h('th', { scope: 'col', class: [c.num && 'num', /\bspare\b/.test(c.class) && 'spare'].filter(Boolean).join(' ') || null, title: c.title }, c.label)),
    );
}

/* null: there is nothing to say */
function contentOf(column, row) {
    const content = column.cell ? column.cell(row) : row[column.name];
    return content === false || content === '' ? null : content;
}

function bodyRow(row, { columns, id, select, rowClass }) {
    return h(
        'tr',
        { key: id(row), class: rowClass?.(row), 'aria-selected': select ? String(select.has(row)) : null },
        select &&
            h(
                'td.pick',
                null,
                h('input', {
                    type: 'checkbox',
                    'aria-label': `select ${select.name(row)}`,
                    checked: select.has(row),
                    on: { change: () => select.toggle(row) },
                }),
            ),
        columns.map((c) => {
            const content = contentOf(c, row);
            return h(
                c.key ? 'th' : 'td',
                {
                    scope: c.key ? 'row' : null,
                    class:
                        [c.num && 'num', c.class, (content == null || content === NONE) && 'none']
                            .filter(Boolean)
                            .join(' ') || null,
                    'data-label': c.label,
                },
                content ?? h('span.zero', null, '–'),
            );
        }),
    );
}

/* table({caption, columns, rows, id, select, none}) */
export function table({ columns, ...given }) {
    if (given.rows.length === 0) return empty(given.none ?? 'Nothing here.', given.noneHint);
    const spec = {
        ...given,
        columns: columns.filter((c) => !c.maybe || given.rows.some((row) => contentOf(c, row) != null)),
    };
    return h(
        'div.table-box',
        {
            class: spec.tall ? 'tall' : null,
            key: spec.caption,
            tabindex: '0',
            role: 'region',
            'aria-label': spec.caption,
        },
        h(
            'table',
            null,
            h('caption.unseen', null, spec.caption),
            h('thead', null, headRow(spec.columns, spec.select, spec.rows)),
            h(
                'tbody',
                null,
                spec.rows.map((row) => bodyRow(row, { id: () => null, ...spec })),
            ),
        ),
    );
}

/* Where the page is in its list: by cursor, so only forwards; back is the browser's, or the first page. A list that has no pages of its
 * own (params is null) says how many it shows; `more` is where the rest is. `cursor` is the name of its cursor in the address, where a
 * page has several lists.
 */
export function pager(list, params, { more, cursor = 'after' } = {}) {
    const first = params?.has(cursor);
    if (!list.next && !first)
        return h('p.pager', { key: 'pager' }, list.count != null && h('span', null, `${counted(list)} in all`));
    if (!params)
        return h(
            'p.pager',
            { key: 'pager' },
            h('span', null, `the newest ${count(list.items.length)} of ${counted(list)}`),
            more && h('a', { href: more }, 'all of it'),
        );
    return h(
        'nav.pager',
        { key: 'pager', 'aria-label': `pages of the list ${list.caption ?? ''}`.trim() },
        h('span', null, `${count(list.items.length)} shown of ${counted(list)}`),
        first && h('a', { href: withQuery({ [cursor]: null }) }, '« first page'),
        list.next && h('a', { href: withQuery({ [cursor]: list.next }), rel: 'next' }, 'next page »'),
    );
}

export function listTable(list, spec, params) {
    if (list.problem) return problemBox(list.problem);
    const none = params?.has(spec.cursor ?? 'after') ? { none: 'The list has ended.', noneHint: null } : {};
    return [table({ ...spec, ...none, rows: list.items }), pager({ caption: spec.caption, ...list }, params, spec)];
}

/* A selection that a page keeps in its state: rows by id, or all that match the filter, until a row is ticked or the filter is another. */
export function selection(state, { id, name, filter }, redraw) {
    const chosen = (state.chosen ??= new Set()),
        filtered = JSON.stringify(filter);
    if (state.matching !== filtered) state.matching = null;
    const pick = (rows, on) => {
        state.matching = null;
        rows.map(id).forEach((one) => (on ? chosen.add(one) : chosen.delete(one)));
        redraw();
    };
    return {
        ids: () => [...chosen],
        name,
        size: chosen.size,
        matching: state.matching !== null,
        has: (row) => chosen.has(id(row)),
        toggle: (row) => pick([row], !chosen.has(id(row))),
        all: pick,
        match: () => {
            state.matching = filtered;
            redraw();
        },
        clear: () => {
            state.matching = null;
            chosen.clear();
            redraw();
        },
    };
}

/* The filter by queue is a list of the queues on each page; it keeps a name that the address has. */
export const allQueues = (ctx) => ctx.optional('queues?limit=1000');
export const queueFilter = (queues) => ({
    name: 'queue',
    label: 'queue',
    any: 'all queues',
    options: queues.items.map((q) => q.queue ?? q.name),
});

let typing = null;
function later(changes) {
    clearTimeout(typing);
    typing = setTimeout(() => go(withQuery({ ...changes, after: null }), { replace: true }), 300);
}

const now = (changes) => go(withQuery({ ...changes, after: null }));

function control(field, params) {
    const id = `filter-${field.name}`,
        value = params.get(field.name) ?? '';
    if (field.options) {
        return h(
            'select',
            { id, value, on: { change: (e) => now({ [field.name]: e.target.value }) } },
            h('option', { value: '' }, field.any ?? 'any'),
            [...new Set([...field.options, value])]
                .filter(Boolean)
                .map((o) => h('option', { value: o, selected: o === value }, o)),
        );
    }
    const timed = field.type === 'datetime-local', // the address has the instant, the control the clock of the zone that is shown
        typed = (e) => (timed ? (instant(e.target.value) ?? '') : e.target.value);
    return h('input', {
        id,
        value: timed ? controlTime(instant(value)) : value,
        type: field.type ?? 'search',
        'data-search': field.search,
        placeholder: field.placeholder,
        spellcheck: 'false',
        on: {
            input: (e) => later({ [field.name]: typed(e) }),
            change: (e) => {
                clearTimeout(typing);
                if (typed(e) !== (params.get(field.name) ?? '')) now({ [field.name]: typed(e) });
            },
        },
    });
}

/* fields: {name, label, options | type, search} ; chips: statuses that are on or off, several at once. label: of what, on a page that has several. */
export function filters(fields, params, label = null) {
    const any = fields.some((f) => params.get(f.name));
    return h(
        'form.filters',
        { key: 'filters', role: 'search', 'aria-label': label, on: { submit: (e) => e.preventDefault() } },
        fields.map((f) =>
            f.chips
                ? chips(f, params)
                : h(
                      'div.filter',
                      { key: f.name },
                      h('label', { for: `filter-${f.name}` }, f.label),
                      control(f, params),
                  ),
        ),
        any &&
            h(
                'button.link',
                {
                    key: 'clear',
                    type: 'button',
                    on: { click: () => now(Object.fromEntries(fields.map((f) => [f.name, null]))) },
                },
                'clear filters',
            ),
    );
}

function chips(field, params) {
    const on = new Set((params.get(field.name) ?? '').split(',').filter(Boolean));
    const flip = (word) => {
        if (!on.delete(word)) on.add(word);
        now({ [field.name]: [...on].join(',') });
    };
    return h(
        'fieldset.chips',
        { key: field.name },
        h('legend', null, field.label),
        field.chips.map((word) =>
            h(
                'button',
                { key: word, type: 'button', 'aria-pressed': String(on.has(word)), on: { click: () => flip(word) } },
                word,
            ),
        ),
    );
}
