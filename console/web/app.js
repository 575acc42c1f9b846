/* app.js: the frame around the pages: who is signed in, which page the address means, when it is loaded again.
 *
 * A visit     One stay on one path. Its state lives as long as it; a change of the query alone keeps it.
 * Loading     One load at a time and a visit; an event that comes meanwhile causes one more, at most one a second.
 * Failure     A load that fails leaves what was shown, with the problem above it; what the database was too busy for is asked again soon.
 */
import { morph, h, visible } from './lib/dom.js';
import * as api from './lib/api.js';
import * as router from './lib/router.js';
import * as stream from './lib/stream.js';
import * as keys from './lib/keys.js';
import { apply, onPref, pref, setPref } from './lib/prefs.js';
import { startClock, toggleTimes, toggleZone } from './lib/format.js';
import { problemBox } from './lib/parts.js';
import { frame, help } from './lib/frame.js';
import { signIn } from './lib/signin.js';
import { closeDialog, dialogOpen, dropDialog, show } from './lib/dialog.js';
import { PAGES } from './pages/index.js';

const EVERY_MS = 1000; // between two loads because of events
const root = document.getElementById('app');
let started = false,
    session = null,
    ended = null, // the session that has ended without a sign-out
    clusters = [],
    visit = null,
    reloadTimer = null,
    pollTimer = null;

function find(path) {
    for (const entry of PAGES) {
        const params = router.match(entry.path, path);
        if (params) return { entry, params };
    }
    return null;
}

const unknown = {
    title: () => 'No such page',
    load: async () => ({}),
    view: () => [
        h('h1', { tabindex: '-1' }, 'No such page'),
        h('p', null, 'There is no page at this address. The menu lists all pages.'),
    ],
};
const UNKNOWN = { load: async () => unknown };

function context(params, query) {
    const aborter = new AbortController();
    const ctx = { params, query, state: {}, aborter, session };
    ctx.get = (path, options) => api.get(path, { ...options, signal: ctx.aborter.signal });
    ctx.optional = (path) => api.optional(path, { signal: ctx.aborter.signal });
    ctx.redraw = () => {
        if (visit?.ctx === ctx) draw();
    };
    ctx.reload = () => load();
    return ctx;
}

async function arrive(moved) {
    const { path, params: query } = router.here();
    closeDialog();
    if (!session) return drawSignIn();
    const found = find(path);
    if (visit && visit.path === path && visit.page) {
        visit.ctx.aborter.abort();
        visit.ctx.aborter = new AbortController();
        visit.ctx.query = query;
        draw();
        return load(true);
    }
    visit?.ctx.aborter.abort();
    visit = {
        path,
        entry: found?.entry ?? UNKNOWN,
        ctx: context(found?.params ?? {}, query),
        data: null,
        problem: null,
        page: null, // until its script has come
        moved,
    };
    draw();
    return load(true);
}

async function load(fresh) {
    const mine = visit;
    if (!mine) return;
    if (mine.loading && !fresh) {
        mine.again = true;
        return;
    }
    const turn = (mine.turn = (mine.turn ?? 0) + 1);
    mine.loading = true;
    mine.loadedAt = performance.now();
    try {
        mine.page ??= await api.answered(mine.entry.load());
        const data = await mine.page.load(mine.ctx);
        if (turn === mine.turn) Object.assign(mine, { data, problem: null });
    } catch (error) {
        if (error.name !== 'AbortError' && turn === mine.turn) {
            if (!error.title) console.error(error);
            mine.problem = error;
        }
    }
    if (visit !== mine || turn !== mine.turn) return;
    mine.loading = false;
    draw();
    poll();
    if (mine.again) ((mine.again = false), soon());
}

function soon() {
    if (reloadTimer || !visit) return;
    const wait = Math.max(50, EVERY_MS - (performance.now() - (visit.loadedAt ?? 0)));
    reloadTimer = setTimeout(() => {
        reloadTimer = null;
        load();
    }, wait);
}

function poll() {
    clearTimeout(pollTimer);
    const busy = !visit.page || [503, 504].includes(visit.problem?.status); // the database was too busy for what was asked
    const every = busy ? 3 : (visit.page.every ?? 30); // lag and heartbeats have no events
    pollTimer = setTimeout(
        () => (document.hidden || stream.streamState().held ? poll() : load()),
        every * 1000,
    );
}

/* Without an answer nothing is changed: what is asked next finds out. Also without a session: another tab may have signed in. */
function askSession() {
    api.keepSession().catch(() => {});
}

function happened(kind, data) {
    if (kind === 'signed out') return askSession();
    if (!visit) return;
    const event = { kind, ...data };
    if (kind !== 'reconnected') {
        if (!visit.page?.watches?.includes(kind)) return;
        if (visit.page.concerns && !visit.page.concerns(event, visit.ctx)) return;
    }
    soon();
}

function content() {
    const { page, data, problem, ctx } = visit;
    const loading = h('p.loading', { key: 'loading', role: 'status' }, 'Loading …');
    const heading = () => h('h1', { tabindex: '-1', key: 'title' }, page ? page.title(ctx.params) : 'Lockstep');
    return [
        !data && heading(),
        problem && h('div', { key: 'problem' }, problemBox(problem)),
        data ? page.view(data, ctx) : !problem && loading,
    ];
}

function draw() {
    if (!session) return drawSignIn();
    const title = visit.page ? visit.page.title(visit.ctx.params, visit.data) : 'Lockstep';
    document.title = visible(`${title} · Lockstep`);
    morph(root, frame({ session, clusters, visit, content: content(), stream: stream.streamState(), actions }));
    if (visit.moved && visit.data) {
        visit.moved = false;
        window.scrollTo(0, 0);
        root.querySelector('h1')?.focus({ preventScroll: true });
        root.querySelector('.menu [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    }
}

function drawSignIn() {
    document.title = 'Sign in · Lockstep';
    morph(root, signIn(signedIn, clusters, ended));
}

function drawFailure(error) {
    const again = h('button', { type: 'button', on: { click: () => location.reload() } }, 'Try again');
    morph(root, h('main.alone', null, h('h1', null, 'Lockstep'), problemBox(error), again));
}

/* What belongs to the session that was. */
function leave() {
    session = null;
    visit?.ctx.aborter.abort();
    visit = null;
    clearTimeout(pollTimer);
    stream.stop();
    api.forget();
    dropDialog();
}

function signedIn(doc) {
    if (session) leave(); // another tab has signed in as somebody else
    session = doc;
    ended = null;
    api.setSession(doc);
    stream.start(happened, () => {
        if (visit) draw();
    });
    if (started) arrive(true);
}

/* The address stays: who signs in again is where they were. */
function signedOut({ wanted = false } = {}) {
    if (!session) return;
    ended = wanted ? null : { ...session, undecided: api.doubted() };
    leave();
    drawSignIn();
}

async function signOut() {
    try {
        await api.send('DELETE', 'session');
    } catch (error) {
        if (error.status !== 401) return show('You are still signed in', problemBox(error));
    }
    signedOut({ wanted: true });
}

/* Not waited for: one that is down takes a second to be known so. */
async function learnClusters() {
    clusters = await api.clusters();
    if (clusters.length > 1) bindPages(true);
    if (visit) draw();
    else if (root.querySelector('.sign-in')) drawSignIn();
}

const THEMES = ['auto', 'light', 'dark'];
const actions = {
    theme: () => setPref('theme', THEMES[(THEMES.indexOf(pref('theme')) + 1) % 3]),
    zone: toggleZone,
    times: toggleTimes,
    signOut,
    help: () => help(visit?.page),
    hold: () => stream.hold(!stream.streamState().held),
};

function pageKeys() {
    document.addEventListener('keydown', (event) => {
        const own = visit?.page?.keys?.[event.key];
        if (!own || event.defaultPrevented || dialogOpen() || pref('keys') === 'off' || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.target.closest?.('input:not([type=checkbox]), textarea, select') || !visit.data) return;
        event.preventDefault();
        own[1](visit.ctx, visit.data);
    });
}

function bindPages(many) {
    PAGES.filter((p) => p.key && !!p.many === many).forEach((p) =>
        keys.bind(`g ${p.key}`, `go to ${p.menu}`, () => router.go(p.path || '.')),
    );
}

async function begin() {
    apply();
    startClock();
    keys.start();
    pageKeys();
    bindPages(false);
    keys.bind('?', 'this help', actions.help);
    keys.bind('h', 'hold the page as it is, or let it live', actions.hold);
    keys.bind('t', 'times relative or absolute', actions.times);
    keys.bind('z', 'zone: local or UTC', actions.zone);
    onPref(() => {
        if (visit) draw();
    });
    api.onSession({ signedIn, signedOut });
    document.addEventListener('visibilitychange', () => document.hidden || !started || askSession());
    learnClusters();
    try {
        signedIn(await api.get('session', { quiet: true }));
    } catch (error) {
        if (error.status !== 401) return drawFailure(error);
    }
    started = true;
    router.start(arrive);
}

begin();
