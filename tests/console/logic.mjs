/* logic.mjs: what the scripts of the pages reckon, without a browser: they are loaded into Node.js with what little of a document they ask
 * for at their start.
 */
import { pathToFileURL, fileURLToPath } from 'node:url';
import { check, done } from './tap.mjs';

process.env.TZ = 'Europe/Warsaw';

const style = { setProperty: () => {} };
const element = () => ({ style, append: () => {}, setAttribute(name, value) { this[name] = value; }, addEventListener: () => {}, className: '' });
globalThis.document = {
    baseURI: 'http://console/',
    addEventListener: () => {},
    createElement: element,
    createElementNS: element,
    querySelectorAll: () => [],
    documentElement: { setAttribute: () => {}, removeAttribute: () => {} },
};
globalThis.location = { pathname: '/', search: '' };
const heardOf = {}; // what the page does at an event of its window
globalThis.addEventListener = (type, does) => (heardOf[type] = does);
const web = fileURLToPath(new URL('../../console/web/', import.meta.url));
const load = (name) => import(pathToFileURL(web + name));
const same = (sentence, found, wanted) =>
    check(sentence, JSON.stringify(found) === JSON.stringify(wanted), `${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);

const { tone } = await load('lib/badge.js');
same('the end of a run looks like its outcome', ['Failed', 'PartiallyCompleted', 'Cancelled', 'Completed'].map((word) => tone('run_ended', word)), [
    'bad',
    'warn',
    'quiet',
    'good',
]);
same('and what is not known of it looks like an end', [tone('run_ended', null), tone('phase_done', 'Failed')], ['good', 'good']);

same('a lock that is held is no executor that is held', [tone('held'), tone('granted')], ['held', 'run']);

const { match } = await load('lib/router.js');
same('an address that cannot be read is that of no page', [match('queues/:name', 'queues/50%'), match('queues/:name', 'queues/50%25')], [null, { name: '50%' }]);

const { eventAddress } = await load('lib/events.js');
same('the address of an event is one of its own log', [{ event_id: 7 }, { job_event_id: 9, at: '2026-01-02T03:04:05.678901+00:00' }].map(eventAddress), [
    'log?event=7',
    'log?of=jobs&event=9&at=2026-01-02T03%3A04%3A05.678901%2B00%3A00',
]);

const { prose } = await load('lib/format.js');
const run = '29ad4b3b-0000-4000-8000-000000000001';
same('a sentence has its runs as links, and its times', prose(`run ${run} is Failed since 2026-01-02T03:04:05Z: key ${run}`).map((part) => (typeof part === 'string' ? part : (part.href ?? part.datetime))), [
    'run ',
    `runs/${run}`,
    ' is Failed since ',
    '2026-01-02T03:04:05Z',
    `: key ${run}`,
]);

const { nextOf, daysFrom } = await load('pages/jobs.js');
for (const [day, text] of [['2026-03-24T22:30:00Z', 'a day has 23 hours'], ['2026-10-21T22:30:00Z', 'a day has 25 hours']]) {
    const days = daysFrom(Date.parse(day)),
        follow = days.every((one, i) => i === 0 || Date.parse(one) - Date.parse(days[i - 1]) === 86400000);
    check(`the calendar has each day of a week in which ${text}`, follow && days.length >= 7, days.join(' '));
}
const due = { next_at: '2026-01-02T03:04:05Z', schedules: 1 };
same('the time of a trigger is that of a look, that of a schedule is a firing', ['triggered', 'scheduled'].map((mode) => nextOf({ ...due, mode })[0] ?? null), ['next look ', null]);

const { RUN_ACTIONS, TASK_ACTIONS } = await load('lib/actions.js');
const legal = (actions, thing) => Object.keys(actions).filter((name) => actions[name].legal(thing)).join(' ');
const ofRun = (run) => legal(RUN_ACTIONS, { published_at: '2026-01-02T03:04:05Z', failed: 1, ...run });
same(
    'a run that is held can be resumed, also before it begins; one that runs, or is being cancelled, is not retried',
    [{ status: 'Published' }, { status: 'Published', paused_by: 'ada' }, { status: 'Paused', paused_by: 'ada' }, { status: 'Running' }, { status: 'Running', cancelled_by: 'x' }, { status: 'Paused', cancelled_by: 'x' }].map(ofRun),
    ['pause cancel', 'resume cancel', 'resume retry cancel', 'pause cancel', '', 'resume'],
);
same('one that has ended is retried while its tasks are kept', [{ status: 'Failed' }, { status: 'Cancelled', cancelled_by: 'x' }, { status: 'Failed', swept: true }, { status: 'Completed' }].map(ofRun), ['retry', 'retry', '', '']);
same(
    'what an executor runs is stopped before its end is declared, what a worker runs is not',
    [{ status: 'Processing', type: 'sql' }, { status: 'Processing', type: 'external' }, { status: 'Processing', type: 'sql', cancelled_by: 'x' }, { status: 'Error', type: 'sql' }].map((t) => legal(TASK_ACTIONS, t)),
    ['cancel', 'cancel complete fail', '', 'retry cancel complete fail'],
);

same(
    'of a run whose counts are not known none are said',
    [RUN_ACTIONS.retry.effect({ failed: 1, cancelled: 2 })[0], RUN_ACTIONS.retry.effect({ status: 'Failed' })[0], ...RUN_ACTIONS.cancel.effect({ status: 'Running' }).slice(0, 2), RUN_ACTIONS.cancel.effect({ pending: 1, error: 0, processing: 0 })[1]],
    [
        '3 failed or cancelled tasks become Pending and run again, in the order of their phases.',
        'Failed and cancelled tasks become Pending and run again, in the order of their phases.',
        'Tasks that have not started become Cancelled.',
        'Running tasks are stopped; what they did in a transaction is rolled back.',
        '0 running tasks are stopped; what they did in a transaction is rolled back.',
    ],
);

const gantt = await load('gantt/model.js');
const large = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:01:40Z', phases: [{ order: 1, start_s: 0, end_s: 100, density: [1, 0.5], bars: null }, { order: 2, density: [1], bars: null }] };
const zoomed = gantt.model(gantt.withBars(large, { phases: [{ order: 1, bars: [0, 1, 2].map((n) => ({ task_id: n, attempt: 1, status: 'Completed', start_s: 10 + n, end_s: 20 })) }] }));
same('a density becomes bars where they are known, and no band moves', zoomed.phases.map((p) => [p.dense, p.bars.length, p.lanes, p.y]), [
    [false, 3, 3, 0],
    [true, 0, 1, gantt.model(large).phases[1].y],
]);
same('the whole run needs no bars', gantt.partOf({ from: 0, to: 100 }, 100, null), null);
same('a part of it does, with a margin', gantt.partOf({ from: 40, to: 60 }, 100, null), { from: 35, to: 65 });
same('which are known until it is left', [gantt.partOf({ from: 42, to: 62 }, 100, { from: 35, to: 65 }), gantt.partOf({ from: 50, to: 70 }, 100, { from: 35, to: 65 })], [null, { from: 45, to: 75 }]);
same('or a small part of it is shown', gantt.partOf({ from: 50, to: 54 }, 100, { from: 35, to: 65 }), { from: 49, to: 55 });

const { rootsOf, waitersOf } = await load('pages/locks.js');
const phase = (pid, order, mode, granted, blocked_by = []) => ({ pid, kind: 'phase', queue: 'q', phase_id: order, order, mode, granted, blocked_by });
const rows = [
    phase(1, 10, 'shared', true), // the first lock of the session is not the one that blocks
    phase(1, 20, 'intent', true),
    { pid: 1, kind: 'slot', queue: 'q', slot_no: 1, granted: true, blocked_by: [] },
    phase(2, 20, 'shared', false, [1, 1]), // two locks of one session: pg_blocking_pids names it twice
    phase(3, 20, 'shared', false, [1, 2]),
    phase(4, 30, 'shared', false, [99]),
];
const waiters = waitersOf(rows),
    roots = rootsOf(rows, waiters);
same('a session that blocks is shown with the lock that it blocks by', roots.map((r) => [r.pid, r.order]), [
    [1, 20],
    [99, null],
]);
same('and with as many sessions as wait for it', [...waiters].map(([pid, below]) => [pid, below.length]), [
    [1, 2],
    [2, 1],
    [99, 1],
]);

const { setPref } = await load('lib/prefs.js');
setPref('zone', 'utc');
const { byHour } = await load('pages/jobs.js');
const hour = Date.UTC(2026, 0, 2, 3) / 900000;
const cells = byHour([
    { job: 'hourly', often: false, quarters: Array.from({ length: 168 }, (_, i) => [hour + 1 + 4 * i, 1]) },
    { job: 'thrice', often: false, quarters: [[hour, 2], [hour + 3, 1]] },
    { job: 'minutely', often: true, quarters: [[hour, 15]] },
]);
same('each hour of the week has what fires in it', [cells.size, [...cells.get('2026-01-02 03')]], [168, [['hourly', 1], ['thrice', 3]]]);

const { model } = await load('gantt/model.js');
const drawn = model({
    started_at: '2026-01-02T03:00:00Z',
    ended_at: '2026-01-02T03:00:10Z',
    phases: [{ order: 1, tasks: 1, bars: [
        { task_id: 1, attempt: 1, status: 'Error', start_s: 1, end_s: 2, waited_s: 1, waited_for: 'reader' },
        { task_id: 1, attempt: 2, status: 'Completed', start_s: 8, end_s: 10, waited_s: 6, waited_for: 'retry' },
    ] }],
});
const failedOf = (phase, row) => model({ started_at: '2026-01-02T03:00:00Z', phases: [{ order: 1, ...phase }] }, [{ order: 1, ...row }]).phases[0].failed;
same('what was terminated failed, once', failedOf({ status: { Completed: 3, Terminated: 5, PartiallyCompleted: 1, Cancelled: 2 } }, { failed: 6 }), 6);
same('of a run that is drawn from a sample its table knows it, or the log', [failedOf({ status: null, failed: 0 }, { failed: 4 }), failedOf({ status: null, failed: 3 }, {})], [4, 3]);
const { tickText, timeStep } = await load('gantt/draw.js');
same('the steps of the axis are those of a clock', [0.3, 4, 90, 700, 4000, 100000, 4e6].map((span) => timeStep(span, 8)), [0.05, 0.5, 15, 120, 600, 21600, 518400]);
same('the ticks of each part of a long run differ', [[5400, 5410, 10], [5400.2, 5400.4, 0.2], [97200, 97500, 300], [45, 75, 30], [90000, 93600, 3600], [3590, 3600, 10]].map(([a, b, step]) => [tickText(a, step), tickText(b, step)]), [
    ['1:30:00', '1:30:10'],
    ['1:30:00.2', '1:30:00.4'],
    ['1 d 3:00', '1 d 3:05'],
    ['45 s', '1:15'],
    ['1 d 1 h', '1 d 2 h'],
    ['59:50', '1:00:00'],
]);
const serial = (gaps) => {
    const bars = [];
    let at = 0;
    for (const gap of gaps) {
        bars.push({ task_id: bars.length, attempt: 1, status: 'Completed', start_s: at + gap, end_s: at + gap + 0.05 });
        at = bars.at(-1).end_s;
    }
    return model({ started_at: '2026-01-02T03:00:00Z', phases: [{ order: 1, bars }] }).scale;
};
const short = Array(10000).fill(0.002);
same('pauses that are not squeezed divide the scale into no pieces', serial(short).pieces.length, 1);
const squeezed = serial([...short, 3600, ...short, 7200, ...short]);
same('those that are do', squeezed.pieces.slice(0, 9).map((p) => p[4]), [false, true, false, true, false]);
const places = [0, 100, 520, 2000, 4119.9, 4121, 4200, 4640, 9000, 12000];
same('and each time has its place on it', places.map((t) => squeezed.t(squeezed.u(t)).toFixed(6)), places.map((t) => t.toFixed(6)));
check('in their order', places.every((t, i) => i === 0 || squeezed.u(t) > squeezed.u(places[i - 1])));
same('a bar keeps what it waited for', drawn.phases[0].bars.map((b) => b.waited_for), ['reader', 'retry']);

const { numberOf } = await load('lib/router.js');
const query = new URLSearchParams('from=abc&to=12.5&at=&least=-Infinity&zero=0');
same('a zoom of the address that is no number is none', ['from', 'to', 'at', 'least', 'zero', 'none'].map((name) => numberOf(query, name)), [null, 12.5, null, null, 0, null]);

const { parse, read: readJson, write: jsonText } = await load('lib/json.js');
const read = (text) => {
    try {
        return jsonText(parse(text));
    } catch (error) {
        return error.message;
    }
};
const kept = (sentence, texts) => same(sentence, texts.map(read), texts);
kept('a number that a browser does not hold is sent as it is written', [
    '{"id":9007199254740993}',
    '[-12345678901234567890,{"n":0.12345678901234567890}]',
    '[1e400]',
]);
kept('so is one that it would write in another way', ['[1.10,-0.50,1E2,1.0e-7,-0,100000000000000000000]', '2.0']);
kept('a text that has such a number is a text', ['{"9007199254740993":"\\"9007199254740993, 1.10"}']);
same('indented as other JSON', jsonText(parse('{"a":[1.10]}'), 1), '{\n "a": [\n  1.10\n ]\n}');
same('in a sentence it is its text, and it can be reckoned with', [`${parse('1.10')}`, parse('1.10') * 2], ['1.10', 2.2]);
const shown = readJson('{"job":{"seconds":3.250000,"definition":{"tax":1.10}},"items":[{"seconds":1.0}]}', ['definition']);
same('of a document of the server the members of users are as they were written, all others are numbers', [jsonText(shown.job.definition), shown.job.seconds, shown.items[0].seconds], ['{"tax":1.10}', 3.25, 1]);
check('and what is no JSON is not read', /JSON/.test(read('{"a": 1')), read('{"a": 1'));

const { visible } = await load('lib/dom.js');
same('what would not be seen is an escape', visible('a\u0007b\u001bc\u202ed\u2066e\u200bf\r\n\tg \u00e9\u05d0\u{1f600}'), 'a\\u0007b\\u001bc\\u202ed\\u2066e\\u200bf\\u000d\n\tg \u00e9\u05d0\u{1f600}');

const { csvText } = await load('gantt/export.js');
const dense = { order: 2, tasks: 600, start_s: 2, end_s: 4, busy_share: 0.5, density: [1, 0.5] };
const written = csvText(model({ started_at: '2026-01-02T03:00:00Z', ended_at: '2026-01-02T03:00:10Z', phases: [
    { order: 1, tasks: 1, start_s: 1, end_s: 2, bars: [{ task_id: 1, attempt: 1, status: 'Completed', name: '=HYPERLINK("x", "y")', start_s: 1, end_s: 2, waited_s: -0.5, waited_for: 'reader' }] },
    dense,
] }));
same('the file for a spreadsheet has phases, attempts, and the densities of phases that have too many, and no formula', written.split('\r\n').slice(1), [
    'phase,1,,,,,1,2,,,1,,',
    'attempt,1,1,"\'=HYPERLINK(""x"", ""y"")",1,Completed,1,2,-0.5,reader,,,',
    'phase,2,,,,,2,4,,,600,,0.5',
    'density,2,,,,,2,3,,,,,1',
    'density,2,,,,,3,4,,,,,0.5',
    '',
]);

const { instant, controlTime } = await load('lib/format.js');
const typed = ['2026-07-02T03:00', '2026-07-02', '2026-07-02T03:00:00Z', 'noon'];
same('a time that is typed is one of the zone that is shown: UTC', typed.map(instant), ['2026-07-02T03:00:00.000Z', '2026-07-02T00:00:00.000Z', '2026-07-02T03:00:00.000Z', null]);
const pasted = ['2026-11-23 08:00', '2026-11-23 08:00:05.250', ' 2026-11-23 08:00 ', '2026-11-23 08:00:00+00', '2026-11-23 09:00:00.5 UTC+01:00', '2026-11-23 08:00 UTC'];
same('one that is copied from a page, or from psql, too', pasted.map(instant), ['2026-11-23T08:00:00.000Z', '2026-11-23T08:00:05.250Z', '2026-11-23T08:00:00.000Z', '2026-11-23T08:00:00.000Z', '2026-11-23T08:00:00.500Z', '2026-11-23T08:00:00.000Z']);
same('what is not of this form is no time of any zone', ['2026-11-23, 08:00', '2026-11-23 8 PM', 'Nov 23 2026', '2026-11-23 25:00'].map(instant), [null, null, null, null]);
const { matching } = await load('pages/runs.js');
same('an action on all that match has the times of the filters, too', matching(new URLSearchParams('name=x&status=&since=2026-07-02T03:00&after=runs.7')), { name: 'x', since: '2026-07-02T03:00:00.000Z' });
setPref('zone', 'local');
same('or that of the browser', typed.map(instant), ['2026-07-02T01:00:00.000Z', '2026-07-01T22:00:00.000Z', '2026-07-02T03:00:00.000Z', null]);
same('also one that is copied', pasted.slice(0, 2).map(instant), ['2026-11-23T07:00:00.000Z', '2026-11-23T07:00:05.250Z']);
same('and a filter shows it as it was typed', typed.map((text) => controlTime(instant(text))), ['2026-07-02T03:00', '2026-07-02T00:00', '2026-07-02T05:00', '']);
setPref('zone', 'utc');

const { stateOf, troublesOf } = await load('lib/trouble.js');
const queue = (name, rest) => ({ queue: name, status: 'open', executors: 1, active: true, troubles: [], ...rest });
same(
    'a queue with work and without an executor is not open; one without work is',
    [queue('a', { executors: 0 }), queue('b', { executors: 0, active: false }), queue('c', {}), queue('d', { executors: 0, status: 'paused' }), queue('e', { executors: null })].map(stateOf),
    ['no executor', 'open', 'open', 'paused', 'open'],
);
same(
    'what stops queues is what the server says of them, and of those of which it says nothing their state',
    troublesOf([
        queue('a', { executors: 0, troubles: [{ reason: 'executors_drain', sentence: 'they drain', helps: 'run one' }] }),
        queue('b', { executors: 0 }),
        queue('c', {}),
        queue('d', { status: 'paused', active: false }),
        queue('e', { troubles: [{ reason: 'executor_silent', sentence: 'one of two' }] }),
    ]).map((t) => [t.queue, t.word, t.helps]),
    [
        ['a', 'draining', 'run one'],
        ['b', 'no executor', 'lockstep executor run --queue b'],
        ['e', 'frozen', null],
    ],
);

const stream = await load('lib/stream.js');
let heard = [],
    write;
globalThis.fetch = async () => new Response(new ReadableStream({ start: (body) => (write = (text) => body.enqueue(new TextEncoder().encode(text))) }));
const settled = () => new Promise((resolve) => setTimeout(resolve));
async function until(condition) {
    while (!condition()) await settled();
}
stream.start((kind) => heard.push(kind), () => {});
await until(() => write && stream.streamState().state === 'live');
stream.hold(true);
write(['reset', 'back', 'run'].map((kind, i) => `event: ${kind}\nid: ${i}\ndata: {}\n\n`).join(''));
await until(() => stream.streamState().waiting + heard.length >= 3);
same('a page that is held hears nothing, also when it missed something', [heard, stream.streamState().waiting], [[], 3]);
stream.hold(false);
same('and reads all of it once when it may', [heard, stream.streamState().waiting], [['reconnected'], 0]);

heardOf.pagehide();
const left = Date.now();
await until(() => Date.now() > left);
globalThis.fetch = async () => {
    throw new TypeError('refused');
};
heardOf.pageshow();
await until(() => stream.streamState().state === 'waiting');
check('the console is away since the page found it so, not since the page was left', stream.streamState().since > left, `${stream.streamState().since - left} ms`);
stream.stop();
const { live } = await load('lib/frame.js');
const refusal = { status: 503, title: 'Service Unavailable', detail: 'this login listens as often as it may', hint: 'Close other pages of the console, then try again.' };
let waits = null;
const timer = globalThis.setTimeout;
globalThis.setTimeout = (does, ms) => ((waits = ms), timer(does, ms));
globalThis.fetch = async () => new Response(JSON.stringify(refusal), { status: 503, headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '20' } });
stream.start(() => {}, () => {});
await until(() => !['connecting', 'off'].includes(stream.streamState().state));
globalThis.setTimeout = timer;
const refused = stream.streamState();
same('a console that answers that it cannot is not away', [refused.state, refused.problem?.detail, refused.problem?.hint], ['refused', refusal.detail, refusal.hint]);
check('it is tried again when it says', waits >= 20000, `${waits} ms`);
same('and the page says why', live?.(refused, {})?.title, `${refusal.detail}. ${refusal.hint}`);
stream.stop();

const { lag, orUnknown, plural } = await load('lib/format.js');
same('one is one, and many are many', [plural(1, 'task'), plural(0, 'task'), plural(1000, 'task')], ['1 task', '0 tasks', '1,000 tasks']);
same('what is zero is not unknown', [lag({ lag: 0 }), orUnknown(0, String, '')], ['0', '0']);
const { capped } = await load('lib/format.js');
same('what was counted to 10,000 only says that there is more', [0, 10000, 10001, null].map((n) => capped(n)), ['0', '10,000', '10,000+', '–']);
check('what is unknown is no number', typeof lag({ lag: null }) === 'object', lag({ lag: null }));

const { boundProblem, boundText, byOutcome, ran } = await load('pages/replay.js');
same(
    'what is no bound of a replay is told before it is sent',
    ['', '17', 'latest', '2026-11-23', '2026-11-23T08:00:00Z', '2026-11-23 08:00', '-5', 'june 5', '1.5', '2026-13-45', 'now', '99999999999999999', '2026-11-23, 08:00'].map((text) => boundProblem(text) === ''),
    [true, true, true, true, true, true, false, false, false, false, false, false, false],
);
same('and a bound is said as the instant that is sent', ['17', 'latest', '2026-11-23 08:00', '2026-11-23T08:00:00+02:00', 'june'].map(boundText), ['17', 'latest', '2026-11-23 08:00:00 UTC', '2026-11-23 06:00:00 UTC', 'june']);
same(
    'the counts of a replay are by outcome, over its runs and phases, the largest first',
    byOutcome([
        { order: 1, action: 'skip', meaning: 'done', messages: 2 },
        { order: 1, action: 'reopen', meaning: 'failed', messages: 3 },
        { order: 2, action: 'skip', meaning: 'done', messages: 5 },
        { order: 2, action: 'skip', meaning: 'runs now', messages: 1 },
    ]).map((o) => [o.action, o.meaning, o.messages]),
    [['skip', 'done', 7], ['reopen', 'failed', 3], ['skip', 'runs now', 1]],
);
same(
    'a replay that ends before the end that was asked for says so',
    [{}, { wanted: 12 }].map((more) => ran({ replay_id: 3, to: 8, counts: { run_again: 2, skipped: 1 }, ...more })),
    [
        'Replay #3: 2 messages run again, 1 skipped.',
        'Replay #3: 2 messages run again, 1 skipped. It was begun before and ends at offset 8; offsets 8 to 12 are not in it.',
    ],
);

done();
