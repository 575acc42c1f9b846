/* clusters.js: all databases of this console at a glance. Of one where the visitor is not signed in it only says whether it answers. */
import { h } from '../lib/dom.js';
import { pageHead, panel } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { table } from '../lib/table.js';
import { capped, count, NONE } from '../lib/format.js';

const figure = (name) => (c) => (c.figures ? count(c.figures[name]) : NONE);

const openRuns = ({ figures }) => (figures ? capped(figures.open_runs) : NONE);

/* In its own page: it has a sign-in and a stream of its own. */
const name = (c) => h('a', { href: c.path }, c.name);
const place = (c) => [c.here && 'here', c.default && 'default'].filter(Boolean).join(', ') || NONE;

function state(c) {
    const word = badge(c.reachable ? 'reachable' : 'does not answer');
    return c.signed_in || !c.reachable ? word : h('span', null, word, ' ', h('a', { href: c.path }, 'sign in'));
}

const columns = [
    { label: 'name', key: true, cell: name },
    { label: 'place', cell: place },
    { label: 'state', class: 'text', cell: state },
    { label: 'database', cell: (c) => c.figures?.database ?? NONE },
    { label: 'queues', num: true, cell: figure('queues') },
    { label: 'halted', num: true, cell: figure('halted') },
    { label: 'open runs', num: true, cell: openRuns },
    { label: 'alerts', num: true, cell: figure('alerts') },
    { label: 'executors', num: true, cell: figure('executors') },
];

export const page = {
    title: () => 'Databases',
    watches: [],
    every: 5,
    load: (ctx) => ctx.get('clusters'),
    view: ({ items }) => [
        pageHead('Databases'),
        panel(
            'Databases',
            { key: 'list' },
            table({ caption: 'Databases', rows: items, columns, id: (c) => c.name, none: 'There is none.' }),
        ),
    ],
};
