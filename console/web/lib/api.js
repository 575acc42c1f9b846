/* api.js: the documents of the server. What a GET brought is kept with its ETag, so that an unchanged one costs 304 and the
 * caller gets the same object again (pages compare by identity). A failure is a Problem, as RFC 9457 has it.
 */
import { learnNow } from './format.js';
import { read, write } from './json.js';

const cache = new Map(); // address -> {etag, doc}
const KEPT = 60;
const PATIENCE_MS = 20000; // the server gives up after five seconds; a network may be slow
const COOKIE_MS = 500; // as long a cookie may be on its way
let csrf = null,
    login = null, // whose token it is
    keeping = null, // what keepSession does now
    inDoubt = false; // it is not known whether the last change was made
let told = { signedIn: () => {}, signedOut: () => {} };

export class Problem extends Error {
    constructor(doc, status) {
        super(doc.detail || doc.title || `the server answered ${status}`);
        Object.assign(this, {
            status,
            title: doc.title || `status ${status}`,
            detail: doc.detail,
            hint: doc.hint,
            field: doc.field,
            code: doc.code,
        });
    }
}

/* {signedIn(session), signedOut()}: the session of this browser is another one, or has ended. */
export function onSession(listeners) {
    told = listeners;
}

export function setSession(session) {
    ({ csrf = null, login = null } = session);
}

/* path segments of names: a queue may be called anything */
export const seg = encodeURIComponent;

/* The same in an address of a page, where a dot would mean a file. */
export const word = (name) => seg(name).replaceAll('.', '%2E');

export function query(params) {
    const q = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
        if (value != null && value !== '') q.set(name, value);
    }
    const text = q.toString();
    return text ? `?${text}` : '';
}

export async function problem(response) {
    let doc = {};
    try {
        doc = await response.json();
    } catch {
        /* not JSON: the status says it */
    }
    return new Problem({ title: response.statusText, ...doc }, response.status);
}

/* What the network gives, its bodies and the scripts of pages too: what does not come, also because the page is left, is a problem that has a title. */
export async function answered(promise) {
    try {
        return await promise;
    } catch (error) {
        if (error.name === 'AbortError' || error.name === 'SyntaxError') throw error;
        throw new Problem(
            {
                title: 'The console does not answer',
                detail: 'No connection to the server of this page.',
                hint: 'Check that "lockstep console run" is running; the page connects again by itself.',
            },
            0,
        );
    }
}

function call(path, { signal, long, ...options }) {
    const late = long ? null : AbortSignal.timeout(PATIENCE_MS);
    return answered(
        fetch(`api/v1/${path}`, {
            credentials: 'same-origin',
            cache: 'no-store',
            signal: signal && late ? AbortSignal.any([signal, late]) : (signal ?? late),
            ...options,
        }),
    );
}

/* exact: names of members that have numbers of users: these come as they were written, see json.js */
export async function get(path, { signal, quiet, renewed, exact } = {}) {
    const known = cache.get(path);
    const asked = performance.now();
    const response = await call(path, { signal, headers: known?.etag ? { 'If-None-Match': known.etag } : {} });
    learnNow(response.headers.get('Date'), performance.now() - asked);
    if (response.status === 304 && known) return known.doc;
    if (!response.ok) {
        const refused = await problem(response);
        if (response.status === 401 && !quiet && !renewed && (await keepSession())) return get(path, { signal, exact, renewed: true });
        throw refused;
    }
    const doc = exact ? read(await answered(response.text()), exact) : await answered(response.json());
    cache.delete(path); // so that it is the newest of the map
    cache.set(path, { etag: response.headers.get('ETag'), doc });
    if (cache.size > KEPT) cache.delete(cache.keys().next().value);
    return doc;
}

/* A document about one thing has it below its name, with what belongs to it at its side: {task: {...}, attempts: [...]}. */
export function whole(doc, name) {
    const { [name]: thing, ...rest } = doc;
    return thing && typeof thing === 'object' ? { ...thing, ...rest } : doc;
}

/* A document that the page can do without: its problem is shown in its place. */
export async function optional(path, options) {
    try {
        return await get(path, options);
    } catch (error) {
        if (error.name === 'AbortError' || error.status === 401) throw error;
        return { problem: error, items: [] };
    }
}

function randomKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
}

/* Another tab may have signed in: its session is that of this one, too, and the one before has ended. What was asked with the cookie of
 * that one is answered with 401, also while the new cookie is on its way. So the session has ended only if it is asked for twice in vain.
 * The answer: whether this browser has a session of the same login. A failure to ask is thrown.
 */
async function renew() {
    const before = csrf; // who signs in meanwhile is not signed out by it
    for (let tries = 0; ; tries++) {
        const session = await get('session', { quiet: true }).catch((error) => {
            if (error.status !== 401) throw error;
        });
        if (session && (session.login ?? null) === login) return (setSession(session), true);
        if (session) return (told.signedIn(session), false);
        if (tries === 1) return (csrf === before && told.signedOut(), false);
        await new Promise((wake) => setTimeout(wake, COOKIE_MS));
    }
}

export function keepSession() {
    keeping ??= renew().finally(() => {
        keeping = null;
    });
    return keeping;
}

/* key: the change is made once, however often it is sent with it; long: it takes as long as it takes, and has no key */
export async function send(method, path, body = {}, { long, key, renewed, exact = [] } = {}) {
    const headers = { 'Content-Type': 'application/json' };
    if (key) headers['Idempotency-Key'] = key;
    if (csrf) headers['X-CSRF-Token'] = csrf;
    const response = await call(path, { method, headers, long, body: write(body) });
    if (!response.ok) {
        const refused = await problem(response);
        if (refused.code === 'csrf' && !renewed) {
            const kept = await keepSession().catch(() => null); // without an answer it is refused as it was
            if (kept) return send(method, path, body, { long, key, exact, renewed: true });
            if (kept === null || !login) throw refused;
            const detail = `this browser is signed in as ${login} now; this click did nothing`;
            throw new Problem({ title: 'Another login', detail, code: 'csrf' }, response.status);
        }
        if (response.status === 401 && path !== 'session') await keepSession().catch(() => {}); // not sent again: it may have been made
        throw refused;
    }
    const text = await answered(response.text());
    return text ? read(text, exact) : {};
}

/* A refusal is definite, and so is a time-out of PostgreSQL's, which was rolled back. Of what was lost on its way, or at its commit, no one
 * here knows whether it was made.
 */
const undecided = ({ status, code }) => !(status >= 400 && status < 500) && !(status === 504 && code);

export const doubted = () => inDoubt;

const UNKNOWN = {
    once: 'It is not known whether it was done. The same click does it once, also if it was.',
    long: 'It is not known whether it was done. Look at the page behind this dialog first.',
};

/* Sends the changes of one intention, each of which is made once: when it is not known whether it was made, the same one has the same key. */
export function changes() {
    let open = null; // the change without a definite answer
    return async (method, path, body, { long } = {}) => {
        const text = JSON.stringify([method, path, body]);
        if (open?.text !== text) open = { text, key: long ? null : randomKey() };
        try {
            const doc = await send(method, path, body, { long, key: open.key });
            inDoubt = false;
            open = null;
            return doc;
        } catch (error) {
            // with 401, or without its token, nothing was sent on; what was in doubt before is so still
            const asBefore = error.status === 401 || error.code === 'csrf';
            if (!asBefore) inDoubt = undecided(error);
            open.doubt = asBefore ? open.doubt : inDoubt;
            if (open.doubt) error.unknown = UNKNOWN[long ? 'long' : 'once'];
            else open = null;
            throw error;
        }
    };
}

/* The databases that this console serves, whoever is signed in; where it cannot be asked there is nothing to choose. */
export async function clusters() {
    const { items } = await get('clusters', { quiet: true }).catch(() => ({ items: [] }));
    return items;
}

export function forget() {
    cache.clear();
    setSession({});
    inDoubt = false;
}
