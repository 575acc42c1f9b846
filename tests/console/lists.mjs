/* lists.mjs URL: long lists of the database of huge.sql, their pages, and what is said of them. */
import { check, done, launch, open, refusal, shown } from './browser.mjs';
import { sql } from './database.mjs';

const [url] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, url);
const visit = async (path) => {
    await page.goto(url + path);
    await shown(page);
};
const pager = () => page.locator('main .pager').first().innerText();
const firsts = () => page.locator('main .table-box').first().locator('tbody th').allInnerTexts();

await visit('jobs');
check('a list says how much of it is shown', /^50 shown of 1,000\b/.test(await pager()), await pager());
const seen = new Set(await firsts());
let pages = 1;
while (pages < 30 && (await page.locator('main a[rel=next]').count())) {
    const before = (await firsts())[0];
    // By the keyboard: the week of the jobs comes in pieces and moves the link, also between a button's down and up.
    await page.locator('main a[rel=next]').press('Enter');
    await page.waitForFunction((text) => document.querySelector('main tbody th')?.innerText !== text, before);
    (await firsts()).forEach((name) => seen.add(name));
    pages++;
}
check('its pages together have each job once', seen.size === 1000 && pages <= 21, `${seen.size} on ${pages} pages`);

await page.goto(url + 'jobs?name=job00');
await page.waitForFunction(() => /jobs of this page fire/.test(document.querySelector('main')?.innerText ?? ''));
const hourly = Number(
    sql(`SELECT sum(n) FROM (SELECT j.name, (SELECT count(*) FROM lockstep.job_forecast(j.name, NULL, now() + interval '7 days', 171)) AS n
         FROM lockstep.job j WHERE j.name LIKE 'job00%' ORDER BY j.name LIMIT 50) c WHERE n <= 170`),
);
const cells = await page.locator('table.calendar td').allInnerTexts();
const sum = cells.reduce((total, text) => total + Number(text || 0), 0);
check('the calendar has each firing of the week, of jobs that fire each hour, too', Math.abs(sum - hourly) <= 60, `${sum}, not about ${hourly}`);
check('no hour of the week is left out', cells.slice(48, 120).every((text) => Number(text) > 0), cells.join());
const often = await page.getByRole('region', { name: 'Jobs that fire often' }).innerText();
check('a job that fires each minute is named with its schedule', /job0020[^]*every minute/.test(often), often);
const words = await page.locator('main .table-box').first().locator('tbody tr').allInnerTexts();
check('every schedule of the page is said in words', words.every((text) => /by the clock of|by hand|disabled/.test(text)), words.join('\n'));

await visit('jobs/job0001');
check('the outcomes are the newest first, and said so', /Outcomes\s*the newest first/.test(await page.locator('main').innerText()));
const next = page.locator('section', { has: page.getByRole('heading', { name: 'Next firings' }) });
check('five times that are asked for are not called all', !/in all/.test(await next.innerText()), await next.innerText());
const outcomes = page.locator('section', { has: page.getByRole('heading', { name: 'Outcomes' }) }).locator('.pager');
check('of 50 outcomes 40 are shown', /^40 shown of 50\b/.test(await outcomes.innerText()), await outcomes.innerText());

await visit('log?of=jobs');
const link = page.locator('main tbody th a').nth(30);
const row = await page.locator('main tbody tr').nth(30).innerText();
await link.click();
await page.waitForSelector('main tr.found');
check('the address of a line of the jobs\' log leads to that line', (await page.locator('main tr.found').innerText()) === row, page.url());
await visit('log?kind=run_ended');
const ended = await page.locator('main tbody tr').allInnerTexts();
const good = await page.locator('main tbody .badge.good').count();
check('an end that is a failure has no green tick', good === ended.filter((text) => /\bCompleted/.test(text)).length && good < ended.length, `${good} of ${ended.length}`);

await visit('missed');
const problems = sql('SELECT count(*) FROM lockstep.job_health WHERE is_problem');
const head = await page.locator('main .page-head .sub').innerText();
check('each job with a problem counts, whether or not a monitor knows of it', head === `${problems} jobs have a problem, of 1,000` && Number(problems) > 200, `${head}, not ${problems}`);
const bad = new Set();
for (let more = true; more; ) {
    (await firsts()).forEach((name) => bad.add(name));
    const next = page.getByRole('navigation', { name: 'pages of the list Problems' }).locator('a[rel=next]');
    if ((more = (await next.count()) > 0)) {
        const before = (await firsts())[0];
        await next.click();
        await page.waitForFunction((text) => document.querySelector('main tbody th')?.innerText !== text, before);
    }
}
check('and is on one of the pages of problems', bad.size === Number(problems), `${bad.size} of ${problems}`);
await visit('missed');
const missed = page.locator('section', { has: page.getByRole('heading', { name: 'Times that did not fire' }) });
check('what is not in the list of missed times is said', /not those that were skipped/.test(await missed.innerText()));
await missed.getByRole('button', { name: 'skipped' }).click();
await page.waitForFunction(() => /skipped/.test([...document.querySelectorAll('main section')].at(-1).querySelector('tbody')?.innerText ?? ''));
check('and they can be seen', true);

sql(`SET session_replication_role = replica;
     INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at) OVERRIDING SYSTEM VALUE
     SELECT 15000000 + n, 1, 2, 1000 + n, 999 + n, now(), now() FROM generate_series(1, 250) AS n;
     UPDATE lockstep.run SET phases = 252 WHERE run_no = 1;
     UPDATE lockstep.run SET ended_at = NULL, end_offset = NULL, status = 'Running' WHERE run_no = 341;
     INSERT INTO lockstep.queue (name, topic, max_readers) SELECT 'z' || n, 'z' || n, 1 FROM generate_series(1, 170) AS n`);
await visit('runs/00000000-0000-4000-8000-000000000001');
const orders = () => page.getByRole('region', { name: 'Phases', exact: true }).locator('tbody th').allInnerTexts();
const phases = new Set(await orders());
await page.getByRole('navigation', { name: 'pages of the list Phases' }).locator('a[rel=next]').click();
await page.waitForFunction(() => !document.querySelector('[aria-label=Phases] tbody th')?.innerText.match(/^100$/));
(await orders()).forEach((order) => phases.add(order));
check('the phases of a run have pages', phases.size === 252, String(phases.size));
await visit('');
const tiles = await page.locator('.tiles').innerText();
check('each open run counts, also a second one of a queue', /21\s*open runs/.test(tiles), tiles);
const overview = page.locator('section', { has: page.getByRole('heading', { name: 'Queues', exact: true }) });
check('the overview says of how many queues it is', /200 of 210, by name/.test(await overview.innerText()) && /210\s*queues/.test(tiles), tiles);

await visit('system');
const system = await page.locator('main').innerText();
check('System says the version of the console', /console\s*\d+\.\d+/i.test(system), system.slice(0, 400));
check('and what its checks are', /is not good|are not good|every check that PostgreSQL can answer/.test(system), system.slice(0, 100));

const many = async (route) => {
    const doc = await (await route.fetch()).json(),
        most = (q) => ({ ...q, active_runs: 10001, rejected: 10001, outbox: 10001, enqueued: 10001 });
    await route.fulfill({ json: doc.items ? { ...doc, items: doc.items.map(most) } : { ...doc, queue: most(doc.queue) } });
};
await page.route(/\/api\/v1\/queues(\/huge)?(\?|$)/, many);
for (const at of ['queues', 'queues/huge']) {
    await visit(at);
    const all = await page.locator('main').evaluate((main) => main.textContent);
    check(`${at} says of what is counted to 10,000 that there is more`, all.includes('10,000+') && !/10,?001/.test(all), /.{20}10,?001.{20}/.exec(all)?.[0]);
}
await page.getByRole('button', { name: 'Delete …', exact: true }).click();
const gone = await page.locator('dialog .effect').innerText();
check('and so does what deletes the queue', gone.includes('10,000+ runs of it are open'), gone);
await page.unroute(/\/api\/v1\/queues(\/huge)?(\?|$)/, many);

await visit('runs');
check('filters by queue are lists on each page', (await page.locator('select#filter-queue option').count()) === 211);
check('no error, and no request outside', page.trouble.length === 0, page.trouble.join('; '));

const hindered = await open(browser, url);
let refused = 0;
await hindered.route(/api\/v1\/jobs(\?|$)/, (route) =>
    refused++ ? route.continue() : route.fulfill(refusal(504, 'Gateway Timeout', { detail: 'too late' })),
);
await hindered.goto(url + 'jobs');
await hindered.waitForSelector('main .problem');
const since = Date.now();
await hindered.waitForSelector('main tbody th');
check('what the database was too busy for comes soon after', Date.now() - since < 25000, `${Date.now() - since} ms`);
await browser.close();
done();
