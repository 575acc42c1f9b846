/* stream.js: server-sent events by fetch, because EventSource cannot send Last-Event-ID when it is made again.
 *
 * States      off, connecting, live, waiting (the console does not answer; it is tried again), refused (it answers that it cannot; its
 *             problem is known, and it is tried again when it says), away (the console answers, its database does not), hidden. Of
 *             waiting, refused and away it is known since when. Held is beside that: the user reads in peace, events are counted.
 * Resume      The id of the last event is sent with each connection, so that nothing is missed in between.
 * Hidden tab  A browser has six connections to a host. A tab that was opened in the background makes no stream, one that is hidden
 *             closes it after 5 s, and a page that is left closes it at once: kept for the way back, it would hold its connection.
 */
import { problem } from './api.js';

const SILENCE_MS = 45000; // three heartbeats
const HIDDEN_MS = 5000;
const WAIT_MS = [500, 1000, 2000, 5000, 10000];

let lastId = null,
    state = 'off',
    held = false,
    heldCount = 0,
    failures = 0;
let heardAt = null, // the last sign of life of the console
    since = null, // milliseconds: from when on it was waiting, refused or away
    refusal = null; // the Problem of state refused
let aborter = null,
    silence = null,
    retry = null,
    hide = null;
let deliver = () => {},
    changed = () => {};

export const streamState = () => ({ state, since, held, waiting: heldCount, problem: state === 'refused' ? refusal : null });

function become(next, from = null) {
    state = next;
    since = from;
    changed();
}

/* What is held is counted, and read when it may be. */
function tell(kind, data, id) {
    if (!held) return deliver(kind, data, id);
    heldCount++;
    changed();
}

/* What is not known any more is read again. */
const again = () => tell('reconnected', {}, null);

const NEWS = {
    away: ({ seconds }) => become('away', Date.now() - 1000 * (seconds ?? 0)),
    back: () => (become('live'), again()),
    reset: () => again(),
};

function parse(block) {
    const event = { event: 'message', data: '' };
    for (const line of block.split('\n')) {
        const at = line.indexOf(':');
        if (at <= 0) continue;
        const name = line.slice(0, at),
            value = line.slice(at + 1).replace(/^ /, '');
        if (name === 'data') event.data += (event.data ? '\n' : '') + value;
        else event[name] = value;
    }
    return event;
}

function take(block) {
    const event = parse(block);
    if (event.id) lastId = event.id;
    if (!event.data) return;
    let data;
    try {
        data = JSON.parse(event.data);
    } catch {
        return;
    }
    if (NEWS[event.event]) NEWS[event.event](data);
    else tell(event.event, data, event.id);
}

function watchSilence() {
    heardAt = Date.now();
    clearTimeout(silence);
    silence = setTimeout(() => aborter?.abort(), SILENCE_MS);
}

async function read(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        watchSilence();
        text = (text + value).replace(/\r\n?/g, '\n');
        const blocks = text.split('\n\n');
        text = blocks.pop();
        blocks.forEach(take);
    }
}

/* One at a time: what is left of the one before ends. */
async function connect() {
    clearTimeout(retry);
    aborter?.abort();
    const mine = (aborter = new AbortController()),
        silent = setTimeout(() => mine.abort(), SILENCE_MS);
    let unknown = false, // the visitor is
        said = null, // a Problem
        patience = 0;
    if (failures === 0) become('connecting');
    try {
        const response = await fetch('api/v1/stream', {
            credentials: 'same-origin',
            cache: 'no-store',
            signal: mine.signal,
            headers: { Accept: 'text/event-stream', ...(lastId ? { 'Last-Event-ID': lastId } : {}) },
        });
        unknown = response.status === 401;
        if (unknown) deliver('signed out', {}, null); // who hears it stops the stream, if it is so
        if (!response.ok) {
            patience = 1000 * (Number(response.headers.get('Retry-After')) || 0);
            said = await problem(response);
            throw said;
        }
        clearTimeout(silent);
        const missed = failures > 0;
        failures = 0;
        watchSilence();
        become('live');
        if (missed) again();
        await read(response);
    } catch {
        /* below: another try */
    }
    clearTimeout(silence);
    clearTimeout(silent);
    if (mine !== aborter) return;
    const wait = WAIT_MS[Math.min(failures++, WAIT_MS.length - 1)] * (0.8 + 0.4 * Math.random());
    refusal = said;
    if (unknown) become('connecting');
    else if (said?.detail) become('refused', state === 'refused' ? since : Date.now()); // without it a proxy has answered
    else become('waiting', state === 'waiting' ? since : (heardAt ?? Date.now()));
    retry = setTimeout(connect, Math.max(patience, wait));
}

export function start(onEvent, onChange) {
    deliver = onEvent;
    changed = onChange;
    if (aborter) return;
    if (document.hidden) state = 'hidden';
    else connect();
}

export function stop() {
    const old = aborter;
    aborter = heardAt = null; // of what is not listened to it is not known since when it is away
    clearTimeout(retry);
    clearTimeout(silence);
    old?.abort();
    become('off');
}

export function hold(on) {
    held = on;
    if (!on && heldCount) {
        heldCount = 0;
        again();
    }
    changed();
}

function pause() {
    if (aborter) (stop(), (state = 'hidden'));
}

function unpause() {
    if (document.hidden || state !== 'hidden') return; // pageshow comes at the first load, too
    failures = 1; // the page reads again what it shows
    become('connecting'); // both events come on the way back to a page
    connect();
}

document.addEventListener('visibilitychange', () => {
    clearTimeout(hide);
    if (document.hidden) hide = setTimeout(pause, HIDDEN_MS);
    else unpause();
});
addEventListener('pagehide', pause);
addEventListener('pageshow', unpause);
