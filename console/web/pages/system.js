/* system.js: the checks, the configuration with its origin, sessions, tokens, versions. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, empty, hiddenNote } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { listTable, table } from '../lib/table.js';
import { size, when, plural } from '../lib/format.js';

const WORST = ['FAIL', 'fail', 'warn'];
const CHECKS = [
    { label: 'check', key: true, cell: (c) => c.check ?? c.name ?? c.what },
    { label: 'result', cell: (c) => badge(c.status ?? c.result ?? c.level) },
    { label: 'found', class: 'text', cell: (c) => c.text ?? c.detail ?? c.message },
    { label: 'what to do', class: 'text', cell: (c) => c.hint && h('code', null, c.hint) },
];
const SETTINGS = [
    { label: 'setting', key: true, cell: (s) => h('code', null, `[${s.section}] ${s.key}`) },
    { label: 'value', class: 'text', cell: (s) => s.value && h('code', null, s.value) },
    { label: 'origin', cell: (s) => s.origin },
    { label: 'where', maybe: true, class: 'text', cell: (s) => s.where && h('code', null, s.where) },
];
const SESSIONS = [
    { label: 'session', key: true, num: true, cell: (s) => s.pid },
    { label: 'login', cell: (s) => s.login },
    { label: 'for', cell: (s) => s.application_name },
    { label: 'since', cell: (s) => when(s.since) },
    { label: 'state', cell: (s) => s.state },
    { label: 'address', cell: (s) => s.address },
];
const TOKENS = [
    { label: 'token', key: true, cell: (t) => t.name },
    { label: 'role', cell: (t) => t.role },
    { label: 'made', cell: (t) => when(t.created_at) },
    { label: 'last used', cell: (t) => when(t.last_used_at) },
    { label: 'state', cell: (t) => badge(t.state ?? (t.revoked_at ? 'revoked' : 'valid')) },
];

export const page = {
    title: () => 'System',
    every: 60,
    load: async (ctx) => {
        const [system, settings] = await Promise.all([ctx.get('system'), ctx.optional('settings')]);
        return { ...system, settings };
    },
    view: (data) => {
        const checks = data.checks ?? [],
            bad = checks.filter((c) => WORST.includes(c.status ?? c.result ?? c.level));
        const versions = Object.entries(data.versions ?? {}).map(([name, value]) => [
            name.replaceAll('_', ' '),
            String(value),
        ]);
        return [
            pageHead('System', {
                sub: bad.length ? `${plural(bad.length, 'check')} to look at` : 'every check is good',
            }),
            h(
                'div.columns',
                { key: 'grid' },
                panel(
                    'Checks',
                    { key: 'checks', wide: true },
                    table({
                        caption: 'Checks',
                        columns: CHECKS,
                        rows: checks,
                        id: (c, i) => `${c.check ?? c.name} ${c.text ?? c.detail}`,
                        none: 'No check has run.',
                        noneHint: 'lockstep check',
                    }),
                ),
                panel(
                    'Versions and size',
                    { key: 'versions' },
                    versions.length || data.database
                        ? facts([...versions, ['database', data.database && size(data.database.size_bytes)]])
                        : empty('Nothing is known.'),
                ),
                panel(
                    'Sessions of Lockstep',
                    { key: 'sessions' },
                    hiddenNote(data.hidden),
                    table({
                        tall: true,
                        caption: 'Sessions',
                        columns: SESSIONS,
                        rows: data.sessions ?? [],
                        id: (s, i) => s.pid,
                        none: 'None.',
                    }),
                ),
                panel(
                    'Tokens',
                    { key: 'tokens' },
                    table({
                        caption: 'Tokens',
                        columns: TOKENS,
                        rows: data.tokens ?? [],
                        id: (t) => t.name,
                        none: 'There is no token.',
                        noneHint: 'lockstep console token create NAME --role monitor',
                    }),
                ),
                panel(
                    'Configuration',
                    { key: 'settings', wide: true, note: 'of this console; secrets are masked' },
                    listTable(data.settings, {
                        tall: true,
                        caption: 'Configuration',
                        columns: SETTINGS,
                        id: (s) => `${s.section}.${s.key}`,
                        none: 'Nothing is configured.',
                    }),
                ),
            ),
        ];
    },
};
