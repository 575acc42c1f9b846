/* actions.mjs URL LOGIN: each action of the pages, done in the browser as a user does it, and its effect in the database. An action of the
 * page's sources that has no row here fails the test. Environment: as database.mjs, and QUEUE, HALTED, MOVED (halted for its server), REPLAYED and GIVEN_UP (queues with a replay that was interrupted), jobs: JOB, LATE, DAILY, DOOMED, ASKS (its query never ends well), WATCH,
 * STRAY (a session to be ended), REJECTED, and runs: WORK, PAUSED, CANCELLED, FAILED, ENDLESS, HELD (no executor has claimed of it), BULK (two, named alike).
 */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { check, done, launch, open, refusal, shown, signIn, violations } from './browser.mjs';
import { sql } from './database.mjs';

const [url, login] = process.argv.slice(2);
const { QUEUE, HALTED, REPLAYED, GIVEN_UP, JOB, LATE, DAILY, DOOMED, ASKS, WATCH, STRAY, REJECTED, WORK, PAUSED, CANCELLED, FAILED, ENDLESS, MOVED, HELD } = process.env;
const web = fileURLToPath(new URL('../../console/web/', import.meta.url));
const task = (name) => `tasks/${sql(`SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '${WORK}' AND t.name = '${name}'`)}`;
const runIs = (id, status) => `SELECT status = '${status}' FROM lockstep.run_status WHERE run_id = '${id}'`;
const taskIs = (name, status) => `SELECT t.status = '${status}' FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '${WORK}' AND t.name = '${name}'`;
const queueIs = (condition, queue = QUEUE) => `SELECT ${condition} FROM lockstep.queue WHERE name = '${queue}'`;
const logged = (event) => (reason) => `SELECT count(*) > 0 FROM lockstep.event_log WHERE event = '${event}' AND detail LIKE '%${reason}%' AND actor = '${login}'`;
const jobLogged = (job) => (reason) => `SELECT count(*) > 0 FROM lockstep.job_event WHERE job = '${job}' AND message LIKE '%${reason}%' AND source = '${login}'`;
const bulk = (status) => `SELECT count(*) = 2 FROM lockstep.run_status WHERE name = 'bulk' AND status = '${status}'`;
const heldIs = (paused) => `SELECT lockstep.run_state(status, published_at) = 'Published' AND (paused_by IS NOT NULL) = ${paused} FROM lockstep.run WHERE run_id = '${HELD}'`;
const shows = (word) => page.waitForFunction((text) => document.querySelector('main .page-title .badge')?.textContent === text, word);
const executor = "(SELECT e FROM lockstep.executor e ORDER BY executor_no DESC LIMIT 1)";

/* the action's place in the sources, the page, the button (of the row with that text), what is filled in, and what must come true */
const ROWS = [
    { of: 'run pause', at: `runs/${PAUSED}`, button: 'Pause …', effect: runIs(PAUSED, 'Paused'), log: logged('run_paused') },
    { of: 'run resume', at: `runs/${PAUSED}`, button: 'Resume …', effect: runIs(PAUSED, 'Running'), log: logged('run_resumed') },
    { of: 'run pause', at: `runs/${HELD}`, button: 'Pause …', effect: heldIs(true), log: logged('run_paused'), then: () => shows('Paused') },
    { of: 'run resume', at: `runs/${HELD}`, button: 'Resume …', effect: heldIs(false), log: logged('run_resumed'), then: () => shows('Published') },
    { of: 'run cancel', at: `runs/${CANCELLED}`, button: 'Cancel …', effect: runIs(CANCELLED, 'Cancelled'), log: logged('run_cancelled') },
    {
        of: 'run retry', at: `runs/${FAILED}`, button: 'Retry …', log: logged('run_retried'),
        effect: `SELECT count(*) = 1 FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '${FAILED}' AND t.attempt_num = 2 AND t.status = 'Failed'`,
    },
    { of: 'run end', at: `runs/${ENDLESS}`, button: 'End …', effect: `SELECT ended_at IS NOT NULL FROM lockstep.run_status WHERE run_id = '${ENDLESS}'`, log: logged('run_closed') },
    { of: 'runs pause', at: 'runs?name=bulk', select: true, button: 'Pause …', effect: bulk('Paused'), log: logged('run_paused') },
    { of: 'runs resume', at: 'runs?name=bulk', select: true, button: 'Resume …', effect: bulk('Running'), log: logged('run_resumed') },
    { of: 'runs cancel', at: 'runs?name=bulk', select: true, button: 'Cancel …', effect: bulk('Cancelled'), log: logged('run_cancelled') },
    { of: 'runs retry', at: 'runs?name=bulk', select: true, button: 'Retry …', effect: bulk('Running'), log: logged('run_retried') },
    { of: 'task complete', at: task('later 1'), button: 'Declare done …', effect: taskIs('later 1', 'Completed'), log: logged('task_completed') },
    { of: 'task cancel', at: task('later 2'), button: 'Cancel …', effect: taskIs('later 2', 'Cancelled'), log: logged('task_cancelled') },
    { of: 'task fail', at: task('later 3'), button: 'Fail …', effect: taskIs('later 3', 'Failed'), log: logged('task_failed') },
    { of: 'task retry', at: task('later 2'), button: 'Retry …', effect: taskIs('later 2', 'Pending'), log: logged('task_retried') },
    { of: 'pages/queue.js: Readers', at: `queues/${QUEUE}`, button: 'Readers …', fill: { max_readers: '17' }, effect: queueIs('max_readers = 17'), log: logged('queue_changed') },
    { of: 'pages/queue.js: Policy', at: `queues/${QUEUE}`, button: 'Policy …', fill: { lookahead: '9' }, effect: queueIs('lookahead = 9'), log: logged('queue_changed') },
    { of: 'pages/queue.js: Pause', at: `queues/${QUEUE}`, button: 'Pause …', effect: queueIs('paused'), log: logged('queue_paused') },
    { of: 'pages/queue.js: Resume', at: `queues/${QUEUE}`, button: 'Resume …', effect: queueIs('NOT paused'), log: logged('queue_resumed') },
    { of: 'pages/queue.js: Accept', at: `queues/${HALTED}`, button: 'Accept …', effect: queueIs('halted_at IS NULL', HALTED), log: logged('topic_accepted') },
    {
        of: 'pages/queue.js: Accept server', at: `queues/${MOVED}`, button: 'Accept server …', says: /it was restored[^]*the server and in the database that it is in now/,
        effect: queueIs('halted_at IS NULL', MOVED), log: logged('server_accepted'),
    },
    {
        of: 'pages/queue.js: Publish', at: `queues/${QUEUE}`, button: 'Publish …', fill: { name: 'from the page', tasks: '{"order": 1, "sql": "SELECT 1"}\n{"order": 2, "sql": "SELECT 2"}' },
        noReason: true, effect: "SELECT count(*) = 1 FROM lockstep.run WHERE name = 'from the page' AND status = 'Completed'",
    },
    {
        of: 'pages/rejected_message.js: Edit and redrive', at: `rejected/${REJECTED}`, button: 'Edit and redrive …', preview: /order 7/, fill: { value: '{"order": 7, "sql": "SELECT 41"}' }, log: logged('messages_redriven'),
        effect: `SELECT count(*) = 1 FROM lockstep.rejected m JOIN lockstep.run r ON r.run_id = m.redrive_run WHERE m.rejected_id = ${REJECTED} AND r.status = 'Completed'`,
    },
    {
        of: 'pages/rejected_message.js: Edit and redrive', at: `rejected/${REJECTED}`, button: 'Edit and redrive …', preview: /order 7[^]*9007199254740993,\s*1\.10\s*\]/, fill: { value: '{"order": 7, "sql": "SELECT $1::bigint, $2::numeric", "params": [9007199254740993, 1.10]}' }, log: logged('messages_redriven'),
        says: /It was redriven before, as run .* and is published once more/, effect: "SELECT count(*) = 2 FROM lockstep.run WHERE name = 'redrive' AND status = 'Completed'",
    },
    {
        of: 'pages/rejected.js: Redrive', at: `rejected?queue=${QUEUE}`, button: 'Redrive …', preview: /2 messages would be published/, says: /If one of them would be rejected again/,
        effect: `SELECT count(*) = 2 FROM lockstep.rejected m JOIN lockstep.run r ON r.run_id = m.redrive_run WHERE m.rejected_id <> ${REJECTED} AND r.status = 'Completed'`, log: logged('messages_redriven'),
    },
    {
        of: 'pages/replay.js: Replay', at: `replay?queue=${QUEUE}&run=${FAILED}`, button: 'Replay …', fill: { order: '1' }, says: /only the phase of order 1; later phases are not replayed/, preview: /run again\s*1/,
        effect: `SELECT count(*) = 1 FROM lockstep.replay WHERE run_id = '${FAILED}' AND state = 'Completed' AND made + reopened = 1`,
        log: (reason) => `SELECT count(*) = 1 FROM lockstep.replay WHERE reason = '${reason}' AND started_by = '${login}'`,
    },
    {
        of: 'pages/replay.js: Continue', at: `replay?queue=${REPLAYED}`, row: 'interrupted', button: 'Continue …', preview: /run again/,
        says: /continues there/,
        effect: `SELECT state = 'Completed' AND cursor = to_offset AND made + reopened = 318 FROM lockstep.replay y JOIN lockstep.queue q USING (queue_id) WHERE q.name = '${REPLAYED}'`,
    },
    {
        of: 'pages/replay.js: Give up', at: `replay?queue=${GIVEN_UP}`, row: 'interrupted', button: 'Give up …', says: /What it has done stays: 3 tasks made, 2 reopened/,
        effect: `SELECT state = 'Abandoned' FROM lockstep.replay y JOIN lockstep.queue q USING (queue_id) WHERE q.name = '${GIVEN_UP}'`,
    },
    {
        of: 'pages/queues.js: New queue', at: 'queues', button: 'New queue …', fill: { name: `${QUEUE}_new`, create_topic: 'yes', max_readers: '7' }, says: /The topic is made if it is not there/,
        effect: `SELECT count(*) = 1 FROM lockstep.queue WHERE name = '${QUEUE}_new' AND topic = name AND max_readers = 7`, log: logged('queue_created'),
    },
    {
        of: 'pages/queue.js: Delete', at: `queues/${QUEUE}_new`, button: 'Delete …', says: /all its runs, tasks, records and jobs; 0 runs of it are open/,
        effect: `SELECT count(*) = 0 FROM lockstep.queue WHERE name = '${QUEUE}_new'`, log: logged('queue_deleted'),
    },
    {
        of: 'pages/job.js: Disable schedule', at: `jobs/${DAILY}`, button: 'Disable schedule …',
        effect: `SELECT NOT s.is_active FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = '${DAILY}'`, log: jobLogged(DAILY),
    },
    {
        of: 'pages/job.js: Enable schedule', at: `jobs/${DAILY}`, button: 'Enable schedule …',
        effect: `SELECT s.is_active FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = '${DAILY}'`, log: jobLogged(DAILY),
    },
    {
        of: 'pages/job.js: Backfill', at: `jobs/${DAILY}`, button: 'Backfill …', preview: /2 times of 2 would fire/, fill: { from: '2026-01-01T00:00', to: '2026-01-03T00:00', overlap: 'allow' },
        effect: `SELECT count(*) = 2 FROM lockstep.occurrence WHERE job = '${DAILY}' AND outcome = 'fired' AND scheduled_for < '2026-01-04'`, log: jobLogged(DAILY),
    },
    {
        of: 'pages/job.js: Backfill', at: `jobs/${ASKS}`, button: 'Backfill …', preview: /2 times of 2 would fire/, fill: { from: '2026-01-01T00:00', to: '2026-01-03T00:00', overlap: 'allow' },
        effect: `SELECT count(*) = 2 FROM lockstep.job_requests('${ASKS}')`, log: jobLogged(ASKS),
    },
    {
        of: 'pages/job.js: Withdraw', at: `jobs/${ASKS}`, button: 'Withdraw …', says: /do not fire. One whose SQL runs is undone/,
        effect: `SELECT count(*) = 0 FROM lockstep.job_requests('${ASKS}')`, log: jobLogged(ASKS),
    },
    { of: 'pages/job.js: Delete', at: `jobs/${DOOMED}`, button: 'Delete …', effect: `SELECT count(*) = 0 FROM lockstep.job WHERE name = '${DOOMED}'`, log: jobLogged(DOOMED) },
    {
        of: 'pages/job.js: Report', at: `jobs/${WATCH}`, button: 'Report …', fill: { status: 'fail', detail: 'disk full' }, noReason: true, says: /as if it had reported so itself/,
        effect: `SELECT count(*) = 1 FROM lockstep.occurrence WHERE job = '${WATCH}' AND status = 'Failed' AND reason = 'disk full' AND source = 'ping by ${login}'`,
    },
    {
        of: 'pages/system.js: New token', at: 'system', button: 'New token …', fill: { name: 'robot', role: 'monitor', publish: 'yes', days: '30' }, then: tokenIsShown,
        effect: `SELECT NOT operator AND producer AND created_by = '${login}' AND expires_at BETWEEN now() + interval '29 days' AND now() + interval '31 days' FROM lockstep.console_token WHERE name = 'robot'`,
    },
    {
        of: 'pages/system.js: Revoke', at: 'system', row: 'robot', button: 'Revoke …',
        effect: `SELECT revoked_at IS NOT NULL AND revoked_by = '${login}' FROM lockstep.console_token WHERE name = 'robot'`,
    },
    {
        of: 'pages/job.js: Edit', at: `jobs/${JOB}`, button: 'Edit …', preview: /version 2/,
        fill: { definition: sql(`SELECT spec || '{"description": "edited"}' FROM lockstep.job WHERE name = '${JOB}'`) },
        effect: `SELECT spec ->> 'description' = 'edited' AND version = 2 FROM lockstep.job WHERE name = '${JOB}'`, log: jobLogged(JOB),
    },
    { of: 'pages/job.js: Disable', at: `jobs/${JOB}`, button: 'Disable …', effect: `SELECT NOT enabled FROM lockstep.job WHERE name = '${JOB}'`, log: jobLogged(JOB) },
    { of: 'pages/job.js: Enable', at: `jobs/${JOB}`, button: 'Enable …', effect: `SELECT enabled FROM lockstep.job WHERE name = '${JOB}'`, log: jobLogged(JOB) },
    { of: 'pages/job.js: Silence', at: `jobs/${JOB}`, button: 'Silence …', fill: { hours: '3' }, effect: `SELECT until BETWEEN now() + interval '2 h' AND now() + interval '4 h' FROM lockstep.job_silence s JOIN lockstep.job j USING (job_id) WHERE j.name = '${JOB}'` },
    { of: 'pages/job.js: Run now', at: `jobs/${JOB}`, button: 'Run now …', effect: `SELECT count(*) = 1 FROM lockstep.occurrence WHERE job = '${JOB}' AND outcome = 'fired'` },
    { of: 'pages/missed.js: Acknowledge', at: 'missed', row: LATE, button: 'Acknowledge …', effect: `SELECT acknowledged_at IS NOT NULL FROM lockstep.alert WHERE job = '${LATE}'`, log: logged('alert_acknowledged') },
    { of: 'pages/missed.js: Run now', at: 'missed', row: LATE, button: 'Run now …', effect: `SELECT count(*) = 1 FROM lockstep.occurrence WHERE job = '${LATE}' AND outcome = 'fired'` },
    { of: 'pages/locks.js: End', at: 'locks', row: STRAY, button: 'End …', effect: `SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ${STRAY}`, log: logged('session_ended') },
    { of: 'pages/executors.js: Readers', at: 'executors', button: 'Readers …', fill: { readers: '3' }, effect: `SELECT (e).readers_limit = 3 FROM ${executor} AS x (e)`, log: logged('executor_changed') },
    { of: 'pages/executors.js: Readers', at: 'executors', button: 'Readers …', says: /uses all 12 readers[^]*uses 3, because of a limit/, fill: { readers: '' }, effect: `SELECT (e).readers_limit IS NULL FROM ${executor} AS x (e)`, log: logged('executor_changed') },
    { of: 'pages/executors.js: Drain', at: 'executors', button: 'Drain …', effect: `SELECT (e).drain_by IS NOT NULL FROM ${executor} AS x (e)`, log: logged('executor_drain') },
];

const browser = await launch();
const page = await open(browser, url);
await page.goto(url);
await signIn(page, login);
await shown(page);

const { run, task: ofTask } = await page.evaluate(async () => {
    const { MANY, RUN_ACTIONS, TASK_ACTIONS } = await import(new URL('assets/lib/actions.js', document.baseURI));
    return { run: [...Object.keys(RUN_ACTIONS).map((name) => `run ${name}`), ...MANY.map(([name]) => `runs ${name}`)], task: Object.keys(TASK_ACTIONS) };
});
const inSources = ['lib', 'pages'].flatMap((dir) =>
    readdirSync(web + dir).flatMap((file) =>
        [...readFileSync(`${web}${dir}/${file}`, 'utf8').matchAll(/actionButton\(\s*'([^']+)'/g)].map(([, label]) => `${dir}/${file}: ${label}`),
    ),
);
const all = [...run, ...ofTask.map((name) => `task ${name}`), ...inSources];
const named = ROWS.map((row) => row.of);
check('each action of the pages has a row here', all.every((name) => named.includes(name)), all.filter((name) => !named.includes(name)).join('; '));
const nameless = ROWS.filter((row) => !row.button).map((row) => row.of);
check('each row names its button', nameless.length === 0, nameless.join('; '));
check('and each row is an action', named.every((name) => all.includes(name)), named.filter((name) => !all.includes(name)).join('; '));

const until = async (text) => {
    for (let i = 0; sql(text) !== 't'; i++) {
        if (i === 150) return false;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return true;
};

/* What is previewed is not done before the preview was seen. */
async function preview(row) {
    const goes = page.locator('dialog button[type=submit]');
    check(`${row.of}: not before its preview`, await goes.isDisabled());
    await page.getByRole('button', { name: 'Preview', exact: true }).click();
    await page.waitForSelector('dialog .preview, dialog .problem');
    const said = await page.locator('dialog .preview, dialog .problem').innerText();
    check(`${row.of}: the preview says it`, row.preview.test(said), said);
    check(`${row.of}: and does nothing`, sql(row.effect) !== 't');
}

const fill = async (field, value) =>
    (await field.evaluate((el) => el.nodeName)) === 'SELECT' ? field.selectOption(value) : field.fill(value);

/* A token is shown when it is made, and not again; it lets its program in. */
async function tokenIsShown() {
    const token = await page.locator('dialog[open] .secret code').innerText();
    const answer = await fetch(`${url}api/v1/session`, { headers: { Authorization: `Bearer ${token}` } });
    check('a new token lets a program in', answer.status === 200, String(answer.status));
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    // The dialog is emptied by its event close, which comes behind the click.
    const gone = page.waitForFunction((text) => !document.documentElement.outerHTML.includes(text), token);
    check('it is not shown again', await gone.then(() => true, () => false));
}

async function act(row, no) {
    const reason = `reason ${no} of the test`;
    await page.goto(url + row.at);
    await shown(page);
    if (row.select) await page.getByLabel('select all rows of this page').check();
    const place = row.row ? page.locator('main tr', { hasText: row.row }) : page.locator('main');
    await place.getByRole('button', { name: row.button, exact: true }).click();
    await page.waitForSelector('dialog[open] .effect li');
    for (const [name, value] of Object.entries(row.fill ?? {})) await fill(page.locator(`dialog #field-${name}`), value);
    if (!row.noReason) await page.locator('dialog #field-reason').fill(reason);
    if (row.says) check(`${row.of}: what it does is said`, row.says.test(await page.locator('dialog .effect').innerText()), String(row.says));
    if (row.preview) await preview(row);
    const wrong = no === 0 || row.preview ? await violations(page) : [];
    await page.locator('dialog button[type=submit]').click();
    await page.waitForFunction(() => !document.querySelector('dialog[open] form') || document.querySelector('dialog .problem'));
    await row.then?.();
    const problem = await page.locator('dialog[open] .problem').allInnerTexts();
    const came = problem.length === 0 && (await until(row.effect)),
        why = !came || !row.log || (await until(row.log(reason)));
    check(`${row.of}: it happens`, came && wrong.length === 0, [...problem, ...wrong].join('; ') || row.effect);
    if (came) check(`${row.of}: the log has who and why`, why, row.log?.(reason));
}

/* The answer of the next action at this path comes when the function that is returned is called. The page itself reads there, too. */
async function late(path, answer) {
    let release;
    const held = new Promise((resolve) => (release = resolve)),
        at = `**/api/v1/${path}`,
        acts = (request) => request.method() !== 'GET' && request.url().endsWith(`/api/v1/${path}`),
        hold = async (route) => (acts(route.request()) ? (await held, route.fulfill(answer)) : route.fallback());
    await page.route(at, hold);
    const answered = page.waitForResponse((response) => acts(response.request()));
    return async () => {
        release();
        await (await answered).finished();
        await page.unroute(at, hold);
        await page.evaluate(() => fetch('api/v1/session').then((r) => r.text())); // the page has read the one before
    };
}

const conflict = (detail) => refusal(409, 'Conflict', { detail });
const press = (name) => page.getByRole('button', { name, exact: true }).click();
const toastSays = (text) => page.waitForFunction((said) => document.querySelector('#toast')?.textContent === said, text).then(() => true, () => false);

/* An action whose dialog was closed before its answer came, and another that is asked meanwhile. */
async function lateAnswer({ at, first, fields, sends, path, answer, says, second, remains }) {
    await page.goto(url + at);
    await shown(page);
    const release = await late(path, answer);
    await press(first);
    for (const [name, value] of Object.entries(fields ?? {})) await page.locator(`dialog #field-${name}`).fill(value);
    if (sends !== 'Preview') await page.locator('dialog #field-reason').fill('it is slow');
    await press(sends);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog').open && !document.querySelector('dialog *'));
    await press(second);
    await page.locator('dialog #field-reason').fill('another one');
    await release();
    if (says) check(`${first}, answered late: a toast says what became of it`, await toastSays(says), await page.locator('#toast').allInnerTexts());
    const found = await page.evaluate(() => ['h2', '[type=submit]'].map((part) => document.querySelector(`dialog[open] ${part}`)?.textContent).concat(document.querySelector('dialog #field-reason')?.value));
    check(`${first}, answered late: the dialog of another action stays as it is`, found.join() === `${remains.join()},another one`, found.join());
    await page.keyboard.press('Escape');
}

await lateAnswer({
    at: `replay?queue=${GIVEN_UP}`, first: 'Replay …', sends: 'Preview', path: 'replay', second: 'Give up …', remains: ['Give up replay #1', 'Give it up'],
    answer: { json: { from: 0, to: 9, readable: 9, open_runs: 0, counts: { run_again: 9, skipped: 0 }, lines: [] } },
});

/* A preview is of the values that it was asked for. */
await page.goto(`${url}replay?queue=${GIVEN_UP}`);
await shown(page);
const releasePreview = await late('replay', { json: { from: 0, to: 9, readable: 9, open_runs: 0, counts: { run_again: 9, skipped: 0 }, lines: [] } });
await press('Replay …');
await press('Preview');
await page.locator('dialog input[name]').first().fill('5');
await releasePreview();
await page.waitForFunction(() => !document.querySelector('dialog button:is(:disabled, [aria-disabled=true]):not([type=submit])'));
check('a preview that is answered behind a change of a field is not shown', await page.locator('dialog .preview').count() === 0);
check('and does not allow the action', await page.locator('dialog [type=submit]').isDisabled());
await page.keyboard.press('Escape');

const readers = { second: 'Readers …', remains: [`Readers of ${QUEUE}`, 'Set readers'] };
await lateAnswer({ ...readers, at: `queues/${QUEUE}`, first: 'Pause …', sends: 'Pause the queue', path: `queues/${QUEUE}/pause`, answer: { json: {} }, says: 'Pause: done.' });
await lateAnswer({ ...readers, at: `queues/${QUEUE}`, first: 'Pause …', sends: 'Pause the queue', path: `queues/${QUEUE}/pause`, answer: conflict('not now'), says: `Pause ${QUEUE}: not now` });
await lateAnswer({ ...readers, at: `queues/${QUEUE}`, first: 'Delete …', sends: 'Delete the queue', path: `queues/${QUEUE}`, answer: { json: { queue: QUEUE, tasks: 3 } }, says: `${QUEUE} is deleted, with 3 tasks.` });
check('an action that is answered late does not change the page', page.url().endsWith(`/queues/${QUEUE}`), page.url());

await lateAnswer({
    at: 'system', first: 'New token …', fields: { name: 'slow' }, sends: 'Create the token', path: 'tokens', answer: { json: { name: 'slow', token: 'the token' } },
    second: 'New token …', remains: ['New token for a program', 'Create the token'], says: 'New token for a program: done; it is shown when this dialog is closed.',
});
const tokens = await page.waitForSelector('dialog[open] .secret', { timeout: 20000 }).then((el) => el.innerText(), () => 'nothing');
check('a token that comes while another dialog is open is shown behind it', tokens.includes('the token'), tokens);
await page.keyboard.press('Escape');
await page.waitForFunction(() => !document.querySelector('dialog').open && !document.querySelector('dialog *'));
check('and once', true);

/* What an executor runs is stopped first. */
await page.goto(url + task('long'));
await shown(page);
const offered = await page.locator('main .page-head button').allInnerTexts();
check('of a task that runs on an executor only its end is offered', offered.join() === 'Cancel …', offered.join());

/* An executor that drains cannot be told anything more. */
await page.route('**/api/v1/executors*', async (route) => {
    const list = await (await route.fetch()).json(),
        as = (host, drain_at) => ({ executor_id: host, host, pid: 1, version: '1', queues: [QUEUE], readers: 2, in_use: 0, alive: true, state: drain_at ? 'draining' : 'ok', drain_at });
    await route.fulfill({ json: { ...list, items: [as('stays', null), as('leaves', '2026-01-01T00:00:00Z')] } });
});
await page.goto(`${url}executors`);
await shown(page);
const offers = async (host) => (await page.locator('main tr', { hasText: host }).getByRole('button').allInnerTexts()).join();
check('an executor is offered readers and a drain', (await offers('stays')) === 'Readers …,Drain …', await offers('stays'));
check('one that drains is offered nothing', (await offers('leaves')) === '', await offers('leaves'));
await page.unroute('**/api/v1/executors*');

/* What was chosen for one action is not chosen for the next one; no page is loaded in between. */
const selected = () => page.locator('.bulk strong').innerText();
const bulkAct = async (word) => {
    await page.locator('.bulk').getByRole('button', { name: `${word} …`, exact: true }).click();
    await page.locator('dialog #field-reason').fill('all or one');
    await page.locator('dialog button[type=submit]').click();
    await page.waitForFunction(() => !document.querySelector('dialog').open && !document.querySelector('.bulk'));
};
await page.goto(`${url}runs?name=bulk&limit=1`);
await shown(page);
const box = page.locator('main tbody input[type=checkbox]');
await box.check();
await press('take all 2 that match the filters');
check('all that match are chosen', (await selected()) === 'all 2 that match', await selected());
await bulkAct('Pause');
check('all that match are acted on', await until(bulk('Paused')));
await box.check();
check('and one run that is chosen behind it is one', (await selected()) === '1 selected', await selected());
await bulkAct('Resume');
const resumed = sql("SELECT count(*) FROM lockstep.run_status WHERE name = 'bulk' AND status = 'Running'");
check('of which one is acted on', resumed === '1', `${resumed} runs`);
sql("SELECT lockstep.run_resume(run_id) FROM lockstep.run_status WHERE name = 'bulk' AND status = 'Paused'");
await box.check();
await press('take all 2 that match the filters');
await box.uncheck();
await box.check();
check('all that match are not chosen any more when a box is ticked', (await selected()) === '1 selected', await selected());
await press('take all 2 that match the filters');
await press('Running');
await page.waitForURL(/status=Running/);
await press('Running');
await page.waitForURL((at) => !at.search.includes('status'));
check('nor when the filter is another', (await selected()) === '1 selected', await selected());

/* A change without an answer may have been made: the same one is sent with the same key, which makes it once. A refusal ends its key. */
const keys = [];
const answers = [
    (route) => route.fulfill(conflict('not yet')),
    async (route) => (await route.fetch(), route.abort()),
    (route) => route.fulfill(refusal(503, 'Service Unavailable')),
    (route) => route.continue(),
];
await page.route(`**/queues/${QUEUE}/runs`, (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    return answers[keys.length - 1](route);
});
await page.goto(`${url}queues/${QUEUE}`);
await shown(page);
await press('Publish …');
await page.locator('dialog #field-name').fill('lost');
await page.locator('dialog #field-tasks').fill('{"order": 1, "sql": "SELECT 1"}');
const saidOf = [],
    focusOf = [];
for (const says of ['not yet', 'No connection', 'Service Unavailable']) {
    await page.locator('dialog button[type=submit]').click();
    await page.waitForFunction((text) => document.querySelector('dialog .problem')?.textContent.includes(text), says);
    focusOf.push(await page.evaluate(() => document.activeElement.type));
    saidOf.push((await page.locator('dialog').innerText()).includes('It is not known whether it was done. The same click does it once'));
}
check('whether it was done is not known if the answer is lost, or is no refusal', saidOf.join() === 'false,true,true', saidOf.join());
await page.locator('dialog button[type=submit]').click();
await page.waitForFunction(() => !document.querySelector('dialog').open);
const lost = sql("SELECT count(*) FROM lockstep.run WHERE name = 'lost'");
check('what was clicked has the focus when its answer has come', focusOf.join() === 'submit,submit,submit', focusOf.join());
check('and the same click does it once', lost === '1', `${lost} runs`);
check('with a key that it has until it is refused', keys[0] !== keys[1] && keys[1] === keys[2] && keys[2] === keys[3], keys.join());
await page.unroute(`**/queues/${QUEUE}/runs`);

/* A number that the browser itself would round, 2^53 + 1, or shorten, comes as it was written. */
const LONG = '9007199254740993',
    TAX = '1.10';
const exactly = async (sentence, text) => check(sentence, await until(text), text);
const confirm = async (reason) => {
    if (reason) await page.locator('dialog #field-reason').fill(reason);
    await page.locator('dialog button[type=submit]').click();
    await page.waitForFunction(() => !document.querySelector('dialog').open || document.querySelector('dialog .problem'));
    await page.keyboard.press('Escape');
};
await page.goto(`${url}queues/${QUEUE}`);
await shown(page);
await press('Publish …');
await page.locator('dialog #field-name').fill('exact');
await page.locator('dialog #field-tasks').fill(`{"order": ${LONG}, "sql": "SELECT $1::bigint, $2::numeric", "params": [${LONG}, ${TAX}]}`);
await confirm();
await exactly('a long number of a task is published as it is', `SELECT count(*) = 1 FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'exact' AND t."order" = ${LONG} AND t.payload::text LIKE '%${LONG}%${TAX}%'`);
await page.goto(`${url}tasks/${sql(`SELECT task_id FROM lockstep.task WHERE "order" = ${LONG}`)}`);
await shown(page);
const placed = await page.locator('main .page-head').innerText(),
    payload = await page.getByRole('region', { name: 'Payload' }).innerText();
check('and its page has each digit of it', placed.includes(`order ${LONG}`) && payload.includes(TAX), `${placed} ${payload}`);
sql(`SELECT lockstep.job_define('{"job": "exact", "queue": "${QUEUE}", "defaults": {"id": ${LONG}, "tax": ${TAX}, "day": 1}, "tasks": [{"order": 1, "sql": "SELECT $1::bigint, $2::numeric", "params": ["\${id}", "\${tax}"]}]}')`);
await page.goto(`${url}jobs/exact`);
await shown(page);
const defined = await page.getByRole('region', { name: 'definition' }).innerText();
check('one of a definition is shown as it is', defined.includes(`"id": ${LONG}`) && defined.includes(`"tax": ${TAX}`), defined);
await press('Test');
await page.waitForSelector('dialog[open] pre');
const trial = await page.locator('dialog pre').innerText();
check('one of a task that Test shows, too', trial.includes(LONG) && trial.includes(TAX), trial);
await press('Close');
await press('Edit …');
const definition = page.locator('dialog #field-definition');
await definition.fill((await definition.inputValue()).replace('"day": 1', '"day": 2'));
await press('Preview');
await page.waitForSelector('dialog .preview, dialog .problem');
await confirm('the day');
await exactly('and kept by an edit of something else', `SELECT spec #>> '{defaults,id}' = '${LONG}' AND spec #>> '{defaults,tax}' = '${TAX}' AND spec #>> '{defaults,day}' = '2' FROM lockstep.job WHERE name = 'exact'`);
await press('Run now …');
await page.locator('dialog #field-parameters').fill(`{"id": ${LONG.slice(0, -1)}5, "tax": 2.00}`);
await confirm('by hand');
await exactly('and as a parameter of a run', `SELECT count(*) = 1 FROM lockstep.task t WHERE t.payload::text LIKE '%${LONG.slice(0, -1)}5%2.00%'`);

/* What is refused because of its token was not done, also when nobody says whether the session is still there. */
const csrf = refusal(403, 'Forbidden', { code: 'csrf', detail: 'the token is of another session' });
await page.goto(`${url}queues/${QUEUE}`);
await shown(page);
await page.route(`**/queues/${QUEUE}/pause`, (route) => route.fulfill(csrf));
await page.route('**/api/v1/session', (route) => route.abort());
await press('Pause …');
await page.locator('dialog #field-reason').fill('as whom?');
await press('Pause the queue');
await page.waitForSelector('dialog .problem');
const refused = await page.locator('dialog').innerText();
check('a change that was refused is not in doubt', refused.includes('the token is of another session') && !refused.includes('It is not known'), refused);
await page.unroute(`**/queues/${QUEUE}/pause`);
await page.unroute('**/api/v1/session');
await page.keyboard.press('Escape');

/* The time until which a job is silenced is that of the first click. */
const silences = [];
await page.route(`**/jobs/${JOB}/silence`, (route) => {
    silences.push(`${route.request().headers()['idempotency-key']} ${route.request().postData()}`);
    return silences.length === 1 ? route.abort() : route.fulfill({ json: {} });
});
await page.goto(`${url}jobs/${JOB}`);
await shown(page);
await press('Silence …');
await page.locator('dialog #field-reason').fill('it is known');
await press('Silence');
await page.waitForSelector('dialog .problem');
await page.waitForFunction((then) => Date.now() > then, await page.evaluate(() => Date.now()));
await press('Silence');
await page.waitForFunction(() => !document.querySelector('dialog').open);
check('a job is silenced once, however often it is clicked', silences.length === 2 && silences[0] === silences[1], silences.join('; '));
await page.unroute(`**/jobs/${JOB}/silence`);

let no = 0;
for (const row of ROWS) {
    page.trouble.length = 0;
    try {
        await act(row, no++);
    } catch (error) {
        check(`${row.of} is done`, false, error.message.split('\n').slice(0, 4).join(' '));
    }
    if (page.trouble.length) check(`${row.of}: without an error`, false, page.trouble.join('; '));
    await page.evaluate(() => document.querySelector('dialog')?.close());
}

await page.goto(url + `jobs/${JOB}`);
await shown(page);
await page.getByRole('button', { name: 'Test', exact: true }).click();
await page.waitForSelector('dialog[open] table');
check('Test says what would be done, and does nothing', sql(`SELECT count(*) FROM lockstep.occurrence WHERE job = '${JOB}'`) === '1');
await browser.close();
done();
