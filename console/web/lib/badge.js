/* badge.js: states as icon, word and colour, so that no one of them is needed to read it. One table for every kind of thing.
 */
import { h, s } from './dom.js';

const ICONS = {
    // on a grid of 16
    check: 'M3 8.5l3.5 3.5L13 4.5',
    cross: 'M4 4l8 8M12 4l-8 8',
    play: 'M5 3.5v9l7.5-4.5z',
    pause: 'M5.5 3.5v9M10.5 3.5v9',
    clock: 'M8 2a6 6 0 1 0 .01 0M8 4.5V8l2.5 2',
    dash: 'M3.5 8h9',
    stop: 'M4 4h8v8H4z',
    half: 'M8 2a6 6 0 1 0 .01 0M8 2v12',
    warn: 'M8 2.5L14.5 13.5H1.5zM8 6.5v3.5M8 11.8v.4',
    again: 'M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3',
    dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
    lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
    mute: 'M2.5 6v4h2.5L8.5 13V3L5 6zM11 6l3 4M14 6l-3 4',
    ring: 'M8 3a5 5 0 1 0 .01 0',
    up: 'M8 13V3M4 7l4-4 4 4',
};

/* word -> icon, colour; the word is shown as it is */
const STATES = {
    Publishing: ['up', 'quiet'],
    Published: ['clock', 'wait'],
    Running: ['play', 'run'],
    Paused: ['pause', 'held'],
    Completed: ['check', 'good'],
    PartiallyCompleted: ['half', 'warn'],
    Failed: ['cross', 'bad'],
    Cancelled: ['dash', 'quiet'],
    Pending: ['clock', 'wait'],
    Processing: ['play', 'run'],
    Error: ['again', 'warn'],
    Terminated: ['stop', 'bad'],
    lost: ['warn', 'warn'],
    open: ['ring', 'good'],
    paused: ['pause', 'held'],
    halted: ['stop', 'bad'],
    ok: ['check', 'good'],
    running: ['play', 'run'],
    manual: ['ring', 'quiet'],
    disabled: ['dash', 'quiet'],
    silenced: ['mute', 'quiet'],
    missed: ['warn', 'bad'],
    stuck: ['clock', 'bad'],
    failed: ['cross', 'bad'],
    late: ['clock', 'warn'],
    never: ['dash', 'warn'],
    blocked: ['lock', 'warn'],
    absent: ['warn', 'bad'],
    fired: ['check', 'good'],
    fire: ['play', 'run'],
    wait: ['clock', 'wait'],
    leave: ['dash', 'quiet'],
    skipped: ['dash', 'quiet'],
    error: ['cross', 'bad'],
    completed: ['check', 'good'],
    alive: ['check', 'good'],
    draining: ['dash', 'held'],
    held: ['dash', 'held'],
    drained: ['dash', 'quiet'],
    dead: ['cross', 'bad'],
    gone: ['cross', 'bad'],
    reachable: ['check', 'good'],
    'does not answer': ['warn', 'bad'],
    silent: ['warn', 'warn'],
    frozen: ['clock', 'bad'],
    'no executor': ['warn', 'bad'],
    'no readers': ['dash', 'bad'],
    'no login': ['lock', 'bad'],
    'fewer readers': ['lock', 'warn'],
    'no Kafka': ['cross', 'bad'],
    'no writes': ['cross', 'bad'],
    'set aside': ['clock', 'bad'],
    interrupted: ['warn', 'warn'],
    enabled: ['check', 'good'],
    scheduled: ['clock', 'quiet'],
    watch: ['ring', 'quiet'],
    acknowledged: ['check', 'held'],
    closed: ['dash', 'quiet'],
    warn: ['warn', 'warn'],
    FAIL: ['cross', 'bad'],
    fail: ['cross', 'bad'],
    info: ['ring', 'quiet'],
    skip: ['dash', 'quiet'],
    valid: ['check', 'good'],
    revoked: ['dash', 'quiet'],
    expired: ['clock', 'quiet'],
    waiting: ['lock', 'wait'],
    granted: ['lock', 'run'],
    zombie: ['warn', 'warn'],
    changed: ['again', 'quiet'],
    alert: ['warn', 'bad'],
    recovered: ['check', 'good'],
};

/* kinds of events of the log: what they mean is in the word's ending */
const ENDINGS = [
    [/(_failed|_lost|_rejected|_halted|_trouble|^queue_halted|_stopped|_terminated|_refused)$/, ['cross', 'bad']],
    [/(_cancelled|_closed|_gone|_deleted)$/, ['dash', 'quiet']],
    [/_paused$/, ['pause', 'held']],
    [/(_resumed|_reopened|_retried|_lifted|_accepted|_retry)$/, ['again', 'run']],
    [/(_opened|_started|_joined|_created)$/, ['play', 'run']],
    [/(_done|_ended|_completed)$/, ['check', 'good']],
];
const OUTCOMES = ['run_ended', 'replay_ended']; // their detail begins with how it ended, and that is how they look

export function icon(name) {
    return s(
        'svg',
        { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
        s('path', { d: ICONS[name] ?? ICONS.ring }),
    );
}

function looks(word, detail) {
    const outcome = OUTCOMES.includes(word) && STATES[/^\w+/.exec(detail ?? '')?.[0]];
    if (outcome) return outcome;
    if (STATES[word]) return STATES[word];
    const ending = ENDINGS.find(([pattern]) => pattern.test(word));
    return ending ? ending[1] : ['ring', 'quiet'];
}

export const tone = (word, detail) => looks(word, detail)[1];

function drawn(word, [name, colour], title) {
    if (word == null || word === '') return null;
    return h(`span.badge.${colour}`, { title }, icon(name), h('span', null, word));
}

export const badge = (word, title) => drawn(word, looks(word), title);

/* of an event: its kind, in the colours of what it says */
export const eventBadge = (kind, detail) => drawn(kind, looks(kind, detail));
