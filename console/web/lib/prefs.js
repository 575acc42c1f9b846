/* prefs.js: what a user sets for this browser: theme, zone, form of times, single-key shortcuts. Kept in localStorage where it is
 * allowed, otherwise for the life of the page. Whoever shows one subscribes to changes.
 */
const DEFAULTS = { theme: 'auto', zone: 'local', times: 'relative', keys: 'on', squeeze: 'on' };
const listeners = new Set();
const memory = {};

export function pref(name) {
    if (name in memory) return memory[name];
    try {
        return localStorage.getItem(`lockstep.${name}`) ?? DEFAULTS[name];
    } catch {
        return DEFAULTS[name];
    }
}

export function setPref(name, value) {
    memory[name] = value;
    try {
        localStorage.setItem(`lockstep.${name}`, value);
    } catch {
        /* no storage: memory has it */
    }
    apply();
    for (const listener of listeners) listener(name);
}

export function onPref(listener) {
    listeners.add(listener);
}

/* The theme is an attribute of the root element; `auto` leaves it to prefers-color-scheme. */
export function apply() {
    const theme = pref('theme');
    if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme);
}
