/* router.js: the address is the state. Paths are relative to <base>; the query holds filters, pages and zooms.
 */
const base = new URL(document.baseURI).pathname;
let arrived = () => {};

export function here() {
    const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : '';
    return { path: path.replace(/\/+$/, ''), params: new URLSearchParams(location.search) };
}

function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return null; // a % that begins no character
    }
}

/* 'runs/:id' against 'runs/4f..': {id}, or null */
export function match(pattern, path) {
    const want = pattern.split('/'),
        have = path.split('/');
    if (want.length !== have.length) return null;
    const found = {};
    for (let i = 0; i < want.length; i++) {
        if (want[i].startsWith(':')) found[want[i].slice(1)] = decoded(have[i]);
        else if (want[i] !== have[i]) return null;
    }
    return Object.values(found).includes(null) ? null : found;
}

export function go(address, { replace = false } = {}) {
    history[replace ? 'replaceState' : 'pushState'](null, '', new URL(address, document.baseURI));
    arrived(!replace);
}

/* A number of the query; null: it has none of that name, or no number. */
export function numberOf(params, name) {
    const value = params.get(name);
    return value !== null && value !== '' && Number.isFinite(Number(value)) ? Number(value) : null;
}

/* The present address with some of its query changed; null takes one out. */
export function withQuery(changes, params = here().params) {
    const next = new URLSearchParams(params);
    for (const [name, value] of Object.entries(changes)) {
        if (value == null || value === '') next.delete(name);
        else next.set(name, value);
    }
    const text = next.toString();
    return (here().path || '.') + (text ? `?${text}` : '');
}

/* Without a new page: what a widget keeps in the address, its zoom for instance. */
export function note(changes) {
    history.replaceState(null, '', new URL(withQuery(changes), document.baseURI));
}

function follow(event) {
    if (
        event.defaultPrevented ||
        event.button !== 0 ||
        event.metaKey ||
        event.ctrlKey ||
        event.shiftKey ||
        event.altKey
    )
        return;
    const link = event.target.closest?.('a[href]');
    if (!link || link.target || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (
        url.origin !== location.origin ||
        !url.pathname.startsWith(base) ||
        /^(api|assets|metrics)\b|^clusters\/./.test(url.pathname.slice(base.length))
    )
        return;
    event.preventDefault();
    go(url);
}

export function start(onArrive) {
    arrived = onArrive;
    document.addEventListener('click', follow);
    window.addEventListener('popstate', () => arrived(true));
    arrived(true);
}
