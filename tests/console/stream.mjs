/* stream.mjs URL PORT: the page while its database, and its console, are away, and when they come back. Environment: as acts.mjs, and CONSOLE,
 * the process of the console, which is killed here and started again.
 */
import { spawn } from 'node:child_process';
import { check, done, launch, open, shown } from './browser.mjs';
import { server, sql } from './database.mjs';

const [url, port] = process.argv.slice(2);
const database = process.env.DB.replace(/.*dbname=/, '');
const browser = await launch();
const page = await open(browser, url);
const header = (pattern) =>
    page.waitForFunction((text) => new RegExp(text).test(document.querySelector('button.live').textContent), pattern.source);
const run = () => sql(`SELECT lockstep.queue_pause('${process.env.QUEUE}', 'why not')`);

await page.goto(url + 'queues');
await shown(page);
await header(/^live$/);
check('the header says live', true);
await page.evaluate(() => (window.untouched = true)); // a reload would lose it
const state = () => page.locator('main tbody tr').first().locator('td .badge').first().textContent();
check('the queue is open', (await state()) === 'open', await state());

/* Tabs that nobody sees: Chromium shows all pages of a headless browser, so this one is told that it is hidden. */
const tab = await page.context().newPage();
let streams = 0;
tab.on('request', (request) => (streams += request.url().endsWith('/api/v1/stream')));
await tab.addInitScript(() => {
    window.covered = true;
    Object.defineProperty(document, 'hidden', { get: () => window.covered });
});
await tab.goto(url + 'queues');
await shown(tab);
check('a tab that was opened in the background is read, and makes no stream', streams === 0, String(streams));
await tab.evaluate(() => ((window.covered = false), document.dispatchEvent(new Event('visibilitychange'))));
await tab.waitForFunction(() => document.querySelector('button.live').textContent === 'live');
check('it makes one when it is looked at', streams === 1, String(streams));
await tab.evaluate(() => dispatchEvent(new Event('pagehide')));
await tab.waitForFunction(() => document.querySelector('button.live').textContent !== 'live');
await tab.evaluate(() => (dispatchEvent(new Event('pageshow')), document.dispatchEvent(new Event('visibilitychange')))); // both come on the way back
await tab.waitForFunction(() => document.querySelector('button.live').textContent === 'live');
check('a page that was left and comes back makes one again', streams === 2, String(streams));
await tab.close();

server(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
server(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${database}'`);
await header(/^database away since \d\d:\d\d:\d\d$/);
check('the header says since when the database is away', true);
const since = await page.locator('button.live').textContent();
const late = await open(browser, url);
await late.goto(url + 'queues');
await late.waitForSelector('.problem');
check('a page that is opened then shows the problem', true);
await late.context().close();
check('what was shown stays', (await state()) === 'open', await state());
server(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
await header(/^live$/);
check('the page is live again by itself', true);
run();
await page.waitForFunction(() => document.querySelector('main tbody td .badge').textContent === 'paused');
check('what happens then is shown', true);
check('the time was one', /\d\d:\d\d:\d\d/.test(since), since);

const going = await page.context().newPage();
await going.goto(url + 'queues');
await shown(going);
process.kill(Number(process.env.CONSOLE), 'SIGKILL');
await header(/^console away since \d\d:\d\d:\d\d$/);
check('the header says since when the console is away', true);
await going.getByRole('link', { name: 'Locks', exact: true }).click();
await going.waitForSelector('main .problem');
const why = await going.locator('main .problem').innerText();
check('a page whose script does not come says why', /The console does not answer/.test(why), why);
sql(`SELECT lockstep.queue_resume('${process.env.QUEUE}', 'go on')`);
const console_ = spawn(
    process.env.LOCKSTEP_BIN,
    ['-s', `postgres.conninfo=${process.env.DB}`, '-s', 'console.login=none', '-s', 'console.anonymous=operator', 'console', 'run', '--listen', port],
    { stdio: ['ignore', 'ignore', 'inherit'] },
);
await header(/^live$/);
check('the page is live again when the console is', true);
await page.waitForFunction(() => document.querySelector('main tbody td .badge').textContent === 'open');
check('what happened meanwhile is shown', true);
const came = going.waitForFunction(() => document.querySelector('main h1')?.textContent === 'Locks' && !document.querySelector('main .problem, main .loading'));
check('a page whose script did not come comes by itself', await came.then(() => true, () => false), await going.locator('main').innerText());
await going.close();
check('without a reload', await page.evaluate(() => window.untouched === true));

await page.keyboard.press('h');
await header(/^held$/);
run();
await header(/^held, (1 change|2 changes)$/); // what the page has shown already, the queue's resume, may come as an event only now
check('a page that is held counts what it does not show', (await state()) === 'open', await state());
await page.keyboard.press('h');
await page.waitForFunction(() => document.querySelector('main tbody td .badge').textContent === 'paused');
check('and shows it when it may live', true);

console_.kill();
await browser.close();
done();
