/* format.js: how durations, times, counts and sizes are written, the same way on every page. Pure but for the zone and the form of
 * times, which are the user's (prefs.js), and the distance between the clock of the server and that of this machine.
 */
import { h } from './dom.js';
import { pref, setPref, onPref } from './prefs.js';

let skew = 0, // milliseconds that the server is ahead of this machine
    told = false; // a document has said the time

/* The time of a document is PostgreSQL's. */
export function setServerNow(iso) {
    const at = Date.parse(iso);
    if (Number.isNaN(at)) return;
    skew = at - Date.now();
    told = true;
}

/* Until a document says it: from the date of an answer that took so long, which is that of the console, or of a proxy, and has seconds. */
export function learnNow(date, tookMs) {
    const off = Date.parse(date) - Date.now();
    if (!told && tookMs < 1000 && Math.abs(off - skew) > 2000) skew = off;
}

export const serverNow = () => Date.now() + skew;
export const NONE = '–'; // where there is no value

const number = new Intl.NumberFormat('en');
const pad = (n, width = 2) => String(n).padStart(width, '0');

export function count(n) {
    return n == null ? NONE : number.format(n);
}

/* The server counts the open runs, the rejected messages and the outbox of a queue up to 10,001: there may be any number more. */
const MOST = 10000;

export const capped = (n) => (n > MOST ? `${count(MOST)}+` : count(n));

/* A capped count of the server says that there are more. */
export function counted(list) {
    return list.count == null ? count(list.items.length) : count(list.count) + (list.capped ? '+' : '');
}

/* What may be unknown says so, and why; it is not zero. */
export function orUnknown(value, write, why) {
    return value == null ? h('span.zero', { title: why }, 'unknown') : write(value);
}

export const lag = (queue) => orUnknown(queue.lag, count, 'no executor that lives has seen the topic');

export const noun = (n, one, many = `${one}s`) => (n === 1 ? one : many);

export const plural = (n, one, many) => `${count(n)} ${noun(n, one, many)}`;

export function percent(share) {
    if (share == null) return NONE;
    const p = share * 100;
    return `${p > 0 && p < 1 ? '<1' : Math.round(p)} %`;
}

export function size(bytes) {
    if (bytes == null) return NONE;
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let n = Number(bytes),
        unit = 0;
    while (n >= 1000 && unit < units.length - 1) ((n /= 1000), unit++);
    return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

/* Two units at most: 850 ms, 12.3 s, 4 min 05 s, 2 h 03 min, 3 d 4 h. */
export function duration(seconds) {
    if (seconds == null || Number.isNaN(Number(seconds))) return NONE;
    const t = Number(seconds);
    if (t < 0) return `-${duration(-t)}`;
    if (t === 0) return '0 s';
    if (t < 0.001) return '<1 ms';
    if (t < 1) return `${Math.round(t * 1000)} ms`;
    if (t < 59.95) return `${t < 10 ? t.toFixed(2) : t.toFixed(1)} s`;
    const whole = Math.round(t);
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
    if (whole < 86400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor(whole / 60) % 60)} min`;
    return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}

/* A length of time that somebody has set: 30 min, 12 h. */
export const span = (seconds) =>
    seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : duration(seconds);

/* How long a row took, or has taken so far: as the server says, or from its times. */
export function tookSeconds(row) {
    const said = row.seconds ?? row.duration ?? row.duration_s;
    if (typeof said === 'number') return said;
    if (!row.started_at) return null;
    return ((row.ended_at ? Date.parse(row.ended_at) : serverNow()) - Date.parse(row.started_at)) / 1000;
}

function parts(ms) {
    const d = new Date(ms);
    return pref('zone') === 'utc'
        ? [
              d.getUTCFullYear(),
              d.getUTCMonth() + 1,
              d.getUTCDate(),
              d.getUTCHours(),
              d.getUTCMinutes(),
              d.getUTCSeconds(),
              d.getUTCMilliseconds(),
          ]
        : [
              d.getFullYear(),
              d.getMonth() + 1,
              d.getDate(),
              d.getHours(),
              d.getMinutes(),
              d.getSeconds(),
              d.getMilliseconds(),
          ];
}

export function zoneName(ms = serverNow()) {
    if (pref('zone') === 'utc') return 'UTC';
    const east = -new Date(ms).getTimezoneOffset();
    const sign = east < 0 ? '-' : '+';
    return `UTC${sign}${pad(Math.floor(Math.abs(east) / 60))}:${pad(Math.abs(east) % 60)}`;
}

export const dayText = (ms) => {
    const [y, mo, d] = parts(ms);
    return `${y}-${pad(mo)}-${pad(d)}`;
};

export function clockText(ms, withMs = false) {
    const [, , , hour, min, sec, milli] = parts(ms);
    return `${pad(hour)}:${pad(min)}:${pad(sec)}${withMs ? `.${pad(milli, 3)}` : ''}`;
}

/* A day, or a time of it as a control, a page, the log or PostgreSQL writes it. */
const TYPED = /^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+))? ?(Z|UTC)?(?:([+-]\d\d):?(\d\d)?)?$/;

/* A time of an address or of a control as an instant: without a zone of its own it is of the zone that the page shows. What Date.parse
 * takes beyond the form of TYPED it would take as a time of the browser's zone.
 */
export function instant(text) {
    const [known, day, time = '00:00', utc, hours, minutes = '00'] = TYPED.exec(text?.trim()) ?? [];
    if (!known) return null;
    const zone = hours ? `${hours}:${minutes}` : utc || pref('zone') === 'utc' ? 'Z' : '';
    const ms = Date.parse(`${day}T${time}${zone}`);
    return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/* And an instant as a control (datetime-local) has it, in that zone. */
export function controlTime(iso) {
    const [y, mo, d, hour, min, sec] = parts(Date.parse(iso ?? ''));
    return Number.isNaN(y) ? '' : `${y}-${pad(mo)}-${pad(d)}T${pad(hour)}:${pad(min)}${sec ? `:${pad(sec)}` : ''}`;
}

export function absolute(iso) {
    const ms = Date.parse(iso);
    return Number.isNaN(ms) ? String(iso) : `${dayText(ms)} ${clockText(ms, ms % 1000 !== 0)} ${zoneName(ms)}`;
}

export function relative(iso) {
    const ms = Date.parse(iso);
    if (Number.isNaN(ms)) return String(iso);
    const away = (ms - serverNow()) / 1000;
    const t = Math.abs(away);
    if (t < 1.5) return 'now';
    const text =
        t < 60
            ? `${Math.round(t)} s`
            : t < 3600
              ? `${Math.floor(t / 60)} min`
              : t < 86400
                ? `${Math.floor(t / 3600)} h ${pad(Math.floor(t / 60) % 60)} min`
                : `${Math.floor(t / 86400)} d ${Math.floor(t / 3600) % 24} h`;
    return away > 0 ? `in ${text}` : `${text} ago`;
}

function shortAbsolute(iso) {
    const ms = Date.parse(iso);
    if (Number.isNaN(ms)) return String(iso);
    return dayText(ms) === dayText(serverNow()) ? clockText(ms) : `${dayText(ms)} ${clockText(ms)}`;
}

const timeText = (iso) => (pref('times') === 'relative' ? relative(iso) : shortAbsolute(iso));

/* A point in time: relative, the absolute one on hover; the switch `times` turns the two round. */
export function when(iso, none = NONE) {
    if (iso == null) return none;
    return h(
        'time',
        { datetime: iso, title: pref('times') === 'relative' ? absolute(iso) : relative(iso) },
        timeText(iso),
    );
}

const TIME = /^\d{4}-\d\d-\d\dT/;
const IN_PROSE =
    /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)|\brun [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/;

/* A sentence of the server with its times as this page writes them, and its runs as links. */
export const prose = (text) =>
    text?.split(IN_PROSE).flatMap((part, i) => {
        if (i % 2 === 0) return part || [];
        if (TIME.test(part))
            return h('time', { datetime: part, title: absolute(part), 'data-fixed': true }, shortAbsolute(part));
        const run = part.slice('run '.length);
        return ['run ', h('a.mono', { href: `runs/${run}`, title: run }, run.slice(0, 8))];
    });

/* A point in time as a clock shows it, for logs and axes. */
export function stamp(iso) {
    if (iso == null) return NONE;
    const ms = Date.parse(iso);
    return h(
        'time.mono',
        { datetime: iso, 'data-fixed': true, title: `${absolute(iso)}, ${relative(iso)}` },
        Number.isNaN(ms) ? String(iso) : `${dayText(ms)} ${clockText(ms, true)}`,
    );
}

/* Relative times grow old while a page is open. */
function tick() {
    for (const el of document.querySelectorAll('time[datetime]:not([data-fixed])')) {
        const text = timeText(el.getAttribute('datetime'));
        if (el.textContent !== text) el.textContent = text;
    }
}

export function startClock() {
    setInterval(tick, 1000);
}

export function toggleTimes() {
    setPref('times', pref('times') === 'relative' ? 'absolute' : 'relative');
}

export function toggleZone() {
    setPref('zone', pref('zone') === 'utc' ? 'local' : 'utc');
}

onPref(tick);
