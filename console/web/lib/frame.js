/* frame.js: what is around each page: menu, switches, state of the stream; and the help.
 */
import { h } from './dom.js';
import { icon } from './badge.js';
import { pref, setPref } from './prefs.js';
import { clockText, plural, zoneName } from './format.js';
import { show } from './dialog.js';
import { allBindings } from './keys.js';
import { PAGES } from '../pages/index.js';

const LIVE = {
    live: ['play', 'run', 'live', 'Changes are shown as they happen. Hold the page as it is (h)'],
    held: ['pause', 'held', 'held', 'The page is held as it is. Let it live again (h)'],
    connecting: ['dots', 'wait', 'connecting', 'The event stream is being connected'],
    waiting: ['warn', 'bad', 'console away', 'The console does not answer; it is tried again. What is shown may be old'],
    refused: ['warn', 'bad', 'not live', ''],
    away: ['warn', 'bad', 'database away', 'The database does not answer the console. What is shown may be old'],
    off: ['dash', 'quiet', 'off', 'There is no event stream'],
    hidden: ['dash', 'quiet', 'off', ''],
};

function skip(event) {
    event.preventDefault();
    document.querySelector('main h1')?.focus();
}

function menu(visit, many) {
    const present = visit.entry?.under ?? visit.entry?.path;
    const pages = PAGES.filter((p) => p.group && (many || !p.many));
    const groups = [...new Set(pages.map((p) => p.group))];
    return h(
        'nav.menu',
        { 'aria-label': 'Pages', key: 'menu' },
        groups.map((group) =>
            h(
                'div.group',
                { key: group },
                h('span.group-name', { 'aria-hidden': 'true' }, group),
                pages.filter((p) => p.group === group).map((p) =>
                    h(
                        'a',
                        {
                            key: p.path,
                            href: p.path || '.',
                            title: `g ${p.key}`,
                            'aria-current': p.path === present ? 'page' : null,
                        },
                        p.menu,
                    ),
                ),
            ),
        ),
    );
}

export function live({ state, since, held, waiting, problem }, actions) {
    const [name, tone, word, words] = LIVE[held && since == null ? 'held' : state],
        title = problem ? [problem.detail, problem.hint].filter(Boolean).join('. ') : words;
    const text = since == null ? word : `${word} since ${clockText(since)}`;
    return h(
        'button.live',
        { type: 'button', key: 'live', title, 'aria-pressed': String(held), on: { click: actions.hold } },
        h(
            `span.badge.${tone}`,
            null,
            icon(name),
            h('span', { role: 'status' }, held && waiting ? `${text}, ${plural(waiting, 'change')}` : text),
        ),
    );
}

/* Another database is another page: it has a sign-in and a stream of its own. */
export function clusterSwitch(clusters) {
    if (clusters.length < 2) return null;
    return h(
        'select.cluster',
        {
            key: 'cluster',
            'aria-label': 'database',
            value: clusters.find((c) => c.here)?.path,
            on: { change: (e) => location.assign(e.target.value) },
        },
        clusters.map((c) => h('option', { value: c.path }, c.name)),
    );
}

function switches({ session, clusters, stream, actions }) {
    const role = session.operator ? 'operator' : 'monitor: may look, not act';
    return h(
        'div.switches',
        { key: 'switches' },
        clusterSwitch(clusters),
        live(stream, actions),
        h(
            'button',
            { type: 'button', key: 'times', title: 'times relative or absolute (t)', on: { click: actions.times } },
            pref('times'),
        ),
        h(
            'button',
            { type: 'button', key: 'zone', title: 'zone of absolute times (z)', on: { click: actions.zone } },
            zoneName(),
        ),
        h(
            'button',
            { type: 'button', key: 'theme', title: 'light, dark, or as the system says', on: { click: actions.theme } },
            `theme ${pref('theme')}`,
        ),
        h(
            'button',
            {
                type: 'button',
                key: 'help',
                title: 'shortcuts and words (?)',
                'aria-label': 'help',
                on: { click: actions.help },
            },
            '?',
        ),
        h(
            'span.who',
            { key: 'who', title: role },
            session.login ?? 'anonymous',
            !session.operator && h('span.note', null, ' (monitor)'),
        ),
        session.csrf &&
            session.login &&
            session.idle_seconds !== null &&
            h('button', { type: 'button', key: 'out', on: { click: actions.signOut } }, 'sign out'),
    );
}

export function frame(state) {
    return [
        h(
            'header.top',
            { key: 'top' },
            h('a.skip', { key: 'skip', href: '.', on: { click: skip } }, 'To the content'),
            h('a.brand', { href: '.', key: 'brand' }, 'Lockstep'),
            switches(state),
        ),
        h(
            'div.body',
            { key: 'body' },
            menu(state.visit, state.clusters.length > 1),
            h('main', { key: `main ${state.visit.path}` }, state.content),
        ),
        h('footer.foot', { key: 'foot' }, `Lockstep ${state.session.version ?? ''}`),
    ];
}

function keysTable(rows) {
    return h(
        'table.keys',
        null,
        h('caption.unseen', null, 'Shortcuts'),
        h(
            'tbody',
            null,
            rows.map(({ keys, what }) =>
                h(
                    'tr',
                    null,
                    h(
                        'th',
                        { scope: 'row' },
                        keys.split(' ').map((k) => h('kbd', null, k)),
                    ),
                    h('td', null, what),
                ),
            ),
        ),
    );
}

const WORDS = [
    ['phase', 'tasks of one order; the next phase opens when this one is done'],
    ['barrier', 'the moment between two phases: the last task of one ends, the first of the next starts'],
    [
        'idle',
        'the share of reader time in a phase in which readers were idle, mostly because the slowest task still ran',
    ],
    ['straggler', 'the task of a phase that ended last'],
    ['lag', 'messages on the topic that no executor has claimed'],
    ['reader', 'a place in which one task runs'],
];

export function help(page) {
    const own = Object.entries(page?.keys ?? {}).map(([keys, [what]]) => ({ keys, what }));
    show(
        'Shortcuts and words',
        h(
            'label.check',
            null,
            h('input', {
                type: 'checkbox',
                checked: pref('keys') === 'on',
                on: { change: (e) => setPref('keys', e.target.checked ? 'on' : 'off') },
            }),
            ' single-key shortcuts',
        ),
        own.length > 0 && [h('h3', null, 'On this page'), keysTable(own)],
        h('h3', null, 'Everywhere'),
        keysTable(allBindings()),
        h('h3', null, 'Words'),
        h(
            'dl.facts',
            null,
            WORDS.map(([word, meaning]) => h('div', null, h('dt', null, word), h('dd', null, meaning))),
        ),
    );
}
