/* stopped.mjs URL QUEUE EXECUTOR: the process EXECUTOR, the only executor of a queue with work, is killed: the pages that an operator looks at say it, in words, with an icon and with what
 * to do. Environment: as database.mjs.
 */
import { check, done, launch, open, shown, violations } from './browser.mjs';

const [url, queue, executor] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, url);
const visit = async (path) => {
    await page.goto(url + path);
    await shown(page);
};
const row = () => page.locator('main tbody tr', { hasText: queue });
const remedy = `lockstep executor run --queue ${queue}`;

await visit('');
check('before, the overview has no trouble', (await page.locator('main .attention').count()) === 0 && /No queue is stopped/.test(await page.locator('main').innerText()));
check('and the queue is open', /\bopen\b/.test(await row().innerText()), await row().innerText());
await page.evaluate(() => (window.untouched = true));
process.kill(Number(executor), 'SIGKILL');
await page.waitForSelector('main .attention');
const said = await page.locator('main .attention').innerText();
check('the overview says how many queues need somebody', /1 queue needs you/.test(said), said);
check('and that no executor works for it, which, and since when', said.includes(`no executor works for queue ${queue}; the last one was`) && /since/.test(said), said);
check('and what to do', said.includes(remedy), said);
check('with an icon', (await page.locator('main .attention .badge.bad svg.icon').count()) > 0);
check('the state of the queue is not open', /no executor/.test(await row().innerText()) && (await row().locator('.badge.bad svg.icon').count()) === 1, await row().innerText());
check('no executor is counted', /^\D*0\s*executors$/m.test((await page.locator('main .tile', { hasText: 'executors' }).innerText()).replace('\n', ' ')));
check('without a reload', await page.evaluate(() => window.untouched === true));
const wrong = await violations(page);
check('it is accessible', wrong.length === 0, wrong.join('; '));

await visit('queues');
const listed = await row().innerText();
check('the list of the queues says it, with what to do', /no executor/.test(listed) && listed.includes(remedy), listed);
await visit(`queues/${queue}`);
check('the queue says it', /no executor/.test(await page.locator('main .page-title').innerText()));
check('and why, first of all', (await page.locator('main section').first().innerText()).includes(`no executor works for queue ${queue}`));
await visit('executors');
const gone = await page.locator('main').innerText();
check('the executors say which queue has none, and what to do', gone.includes(`no executor works for queue ${queue}, which has work`) && gone.includes(remedy), gone);
check('and that the last one is gone', (await page.locator('main tbody .badge.bad', { hasText: 'gone' }).count()) === 1);
check('without an error', page.trouble.length === 0, page.trouble.join('; '));
await browser.close();
done();
