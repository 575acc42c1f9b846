/* system.js: the checks, the configuration with its origin, sessions, tokens, versions. */
import { h } from '../lib/dom.js';
import { pageHead, panel, facts, empty, hiddenNote, copyable } from '../lib/parts.js';
import { badge } from '../lib/badge.js';
import { listTable, table } from '../lib/table.js';
import { size, when, plural } from '../lib/format.js';
import { seg } from '../lib/api.js';
import { actionButton } from '../lib/actions.js';

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
    { label: 'since', maybe: true, cell: (s) => when(s.since, null) },
    { label: 'state', maybe: true, cell: (s) => s.state },
    { label: 'address', maybe: true, cell: (s) => s.address },
];
const tokenColumns = (operator, after) =>
    [
        { label: 'token', key: true, cell: (t) => t.name },
        { label: 'role', cell: (t) => t.role },
        { label: 'publishes', maybe: true, cell: (t) => t.publishes && 'yes' },
        { label: 'made', cell: (t) => when(t.created_at) },
        { label: 'by', cell: (t) => t.created_by },
        { label: 'expires', maybe: true, cell: (t) => when(t.expires_at, null) },
        { label: 'last used', cell: (t) => when(t.last_used_at) },
        { label: 'state', cell: (t) => badge(t.state ?? (t.revoked_at ? 'revoked' : 'valid')) },
        operator && { label: 'do', cell: (t) => t.state === 'valid' && revoke(t, after) },
    ].filter(Boolean);

function revoke(t, after) {
    return actionButton('Revoke', {
        title: `Revoke token ${t.name}`,
        confirm: 'Revoke the token',
        danger: true,
        method: 'DELETE',
        path: `tokens/${seg(t.name)}`,
        after,
        effect: [
            `Programs that send token ${t.name} are refused within five seconds.`,
            t.last_used_at ? ['It was last used ', when(t.last_used_at), '.'] : 'It was never used.',
            'It cannot be made valid again, and its name stays taken.',
        ],
    });
}

const MAY = {
    monitor: 'may look at all and change nothing',
    operator: 'may do what an operator may',
    ping: 'may report to watches, and sees nothing',
};

function create(after) {
    return actionButton('New token', {
        title: 'New token for a program',
        confirm: 'Create the token',
        path: 'tokens',
        after,
        values: { role: 'monitor', publish: 'no', days: '90' },
        fields: [
            { name: 'name', label: 'name', required: true, help: 'letters, digits, and . _ -; the event log names it' },
            { name: 'role', label: 'role', options: Object.keys(MAY) },
            { name: 'publish', label: 'may publish', options: ['no', 'yes'], help: 'yes: only if this login may' },
            { name: 'days', label: 'expires after days', type: 'number', min: 1, max: 3650, help: 'empty: never' },
        ],
        effect: (v) => [
            `A program that sends it ${MAY[v.role]}${v.publish === 'yes' ? ', and publish' : ''}.`,
            v.days ? `It expires after ${plural(Number(v.days), 'day')}.` : 'It does not expire.',
            'It is shown once, and kept only as a hash.',
        ],
        body: (v) => ({ reason: v.reason, name: v.name, role: v.role, publish: v.publish === 'yes', ...(v.days ? { days: Number(v.days) } : {}) }),
        shown: (d) => [
            `Token ${d.name}`,
            h('p', null, 'Copy it now: it is not shown again.'),
            h('p.secret', null, copyable(d.token)),
            h('p.hint', null, h('code', null, 'Authorization: Bearer TOKEN')),
        ],
    });
}

export const page = {
    title: () => 'System',
    every: 60,
    load: async (ctx) => {
        const [system, settings] = await Promise.all([ctx.get('system'), ctx.optional('settings')]);
        return { ...system, settings };
    },
    view: (data, ctx) => {
        const checks = data.checks ?? [],
            bad = checks.filter((c) => WORST.includes(c.status ?? c.result ?? c.level));
        const versions = Object.entries(data.versions ?? {}).map(([name, value]) => [
            name.replaceAll('_', ' '),
            String(value),
        ]);
        return [
            pageHead('System', {
                sub: bad.length ? `${plural(bad.length, 'check is', 'checks are')} not good` : 'every check that PostgreSQL can answer is good; lockstep check asks Kafka, rights and the schema, too',
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
                    { key: 'versions', wide: true },
                    versions.length || data.database
                        ? facts([['console', ctx.session.version], ...versions, ['database', data.database && size(data.database.size_bytes)]])
                        : empty('Nothing is known.'),
                ),
                panel(
                    'Sessions of Lockstep',
                    { key: 'sessions', wide: true },
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
                    { key: 'tokens', wide: true, tools: ctx.session.operator && create(ctx.reload) },
                    table({
                        caption: 'Tokens',
                        columns: tokenColumns(ctx.session.operator, ctx.reload),
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
