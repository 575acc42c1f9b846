/* keys.js: single-key shortcuts. They may be switched off in the help (WCAG 2.1.4); inside fields and dialogs they are never taken.
 */
import { pref } from './prefs.js';
import { dialogOpen } from './dialog.js';

const bindings = new Map(); // 'g r' or 'x' -> {what, run}
let prefix = null,
    prefixTimer = null;

export function bind(keys, what, run) {
    bindings.set(keys, { what, run });
}

export const allBindings = () => [...bindings].map(([keys, { what }]) => ({ keys, what }));

function typing(target) {
    return target.closest?.('input:not([type=checkbox]), textarea, select, [contenteditable]');
}

function taken(event) {
    return (
        pref('keys') === 'off' ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented ||
        dialogOpen() ||
        typing(event.target)
    );
}

function pressed(event) {
    if (event.key === 'Escape' && typing(event.target) && !dialogOpen()) event.target.blur();
    if (taken(event)) return;
    const keys = prefix ? `${prefix} ${event.key}` : event.key;
    prefix = null;
    clearTimeout(prefixTimer);
    if (bindings.has(keys)) {
        event.preventDefault();
        bindings.get(keys).run();
    } else if ([...bindings.keys()].some((k) => k.startsWith(`${keys} `))) {
        prefix = keys;
        prefixTimer = setTimeout(() => {
            prefix = null;
        }, 1500);
    }
}

/* The rows of the page: j and k go from link to link, x selects the row. */
function moveRow(step) {
    const links = [...document.querySelectorAll('main tbody tr')]
        .map((row) => row.querySelector('a[href]') ?? row.querySelector('button, input'))
        .filter(Boolean);
    const row = document.activeElement?.closest?.('tr');
    const at = links.findIndex((link) => link.closest('tr') === row);
    links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + step))]?.focus();
}

export function start() {
    document.addEventListener('keydown', pressed);
    bind('/', 'search', () => document.querySelector('main [data-search]')?.focus());
    bind('j', 'next row', () => moveRow(1));
    bind('k', 'previous row', () => moveRow(-1));
    bind('x', 'select the row', () =>
        document.activeElement?.closest?.('tr')?.querySelector('input[type=checkbox]')?.click(),
    );
    bind('n', 'next page', () => document.querySelector('main a[rel=next]')?.click());
}
