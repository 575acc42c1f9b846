/* signin.mjs URL MONITOR OPERATOR PAGE...: sign-in with PostgreSQL logins (password "secret of NAME"), sign-out, each page as either of the two
 * roles, and what ends a session. Environment: as database.mjs.
 */
import { check, done, launch, open, refusal, shown, signIn, violations } from './browser.mjs';
import { sql } from './database.mjs';

const [url, monitor, operator, ...pages] = process.argv.slice(2);
const browser = await launch();

async function tries(page, login, password) {
    await page.getByLabel('Login').fill(login);
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Password').press('Enter');
}

const page = await open(browser, url);
await page.goto(url + 'runs?status=Failed');
await page.waitForSelector('.sign-in');
check('the sign-in is accessible', (await violations(page)).length === 0, (await violations(page)).join('; '));
await tries(page, monitor, 'wrong');
await page.waitForSelector('.problem');
check(
    'a wrong password is refused, and the password is cleared',
    (await page.getByLabel('Password').inputValue()) === '',
);
check('the right one comes to the page that was asked for', await signIn(page, monitor));
await shown(page);
check('with its filters', page.url().endsWith('/runs?status=Failed'), page.url());
await page.getByRole('button', { name: 'Paused', exact: true }).click();
await page.waitForURL(/status=Failed%2CPaused/);
await page.waitForFunction(() => [...document.querySelectorAll('.chips button')].some((b) => b.textContent === 'Paused' && b.ariaPressed === 'true'));
check('which can be changed at once', true);
check('a monitor has no actions', (await page.locator('main input[type=checkbox]').count()) === 0);
await page.getByRole('button', { name: 'sign out' }).click();
await page.waitForSelector('.sign-in');
check('signing out ends it', (await page.evaluate(() => fetch('api/v1/session').then((r) => r.status))) === 401);

const other = await open(browser, url);
await other.goto(url + 'runs');
await other.waitForSelector('.sign-in');
check('an operator comes in', await signIn(other, operator));
await other.waitForSelector('main tbody');
check('and may select runs to act on', (await other.locator('main tbody input[type=checkbox]').count()) > 0);

/* What acts: buttons that ask before they do it, and boxes that select what is acted on. */
async function acting(page, path) {
    page.trouble.length = 0;
    await page.goto(url + path);
    await shown(page);
    const trouble = page.trouble.join('; ');
    check(`${path || 'the overview'} opens without an error`, trouble === '', trouble);
    return page.locator('main button', { hasText: /…$/ }).or(page.locator('main tbody input[type=checkbox]')).count();
}

const looking = await open(browser, url);
await looking.goto(url);
await signIn(looking, monitor);
let offered = 0;
for (const path of pages) {
    const found = await acting(looking, path);
    check(`a monitor is offered no action on ${path || 'the overview'}`, found === 0, `${found} of them`);
    offered += (await acting(other, path)) > 0 ? 1 : 0;
}
check('an operator is, on most pages', offered > 5, `${offered} pages`);
const run = pages.find((path) => path.startsWith('runs/'));
await looking.goto(url + run);
await shown(looking);
await looking.keyboard.press('c');
check('and by no key', (await looking.locator('dialog[open]').count()) === 0);
await other.goto(url + 'locks');
await shown(other);
const locked = await other.locator('main tbody tr').count(),
    ends = await other.locator('main button', { hasText: 'End …' }).count();
check('an operator without pg_signal_backend is not offered to end a session', locked > 0 && ends === 0, `${locked} locks, ${ends} of them`);
await other.goto(url + run);
await shown(other);
await other.getByRole('link', { name: 'replay order 2' }).click();
await other.waitForURL(/replay\?.*order=2/);
await other.getByRole('button', { name: 'Replay …' }).click();
const filled = await other.evaluate(() => ['run', 'order'].map((name) => document.querySelector(`dialog [name=${name}]`).value));
check('a phase is replayed from its row, the form knows which', run.endsWith(filled[0]) && filled[1] === '2', filled.join(' '));
await other.getByLabel('from', { exact: true }).fill('-5');
await other.getByRole('button', { name: 'Preview' }).click();
const wrong = await other.evaluate(() => document.querySelector('dialog [name=from]').validationMessage);
check('and says what is no bound', wrong.startsWith('Give an offset'), wrong);
await other.keyboard.press('Escape');
const named = await looking.locator('main td, main th', { hasText: '<script>window.hurt = 1</script><b>bold</b>' }).count();
await looking.locator('main a', { hasText: '<script>' }).first().click();
await looking.waitForURL(/tasks\//);
await shown(looking);
const title = await looking.locator('main h1').innerText();
const made = await looking.evaluate(() => [document.querySelectorAll('main script, main h1 b').length, window.hurt]);
check('a name with elements is text', named > 0 && title.includes('<script>window.hurt = 1</script><b>bold</b>') && made[0] === 0 && made[1] === undefined, `${named}, ${title}, ${made}`);

/* By the Tab key alone: what has the focus is what is named. */
const tabbing = await open(browser, url);
await tabbing.goto(url);
await tabbing.waitForSelector('.sign-in');
async function tabTo(name) {
    for (let i = 0; i < 80; i++) {
        const at = await tabbing.evaluate(() => {
            const e = document.activeElement;
            return (e?.ariaLabel || e?.labels?.[0]?.textContent || e?.textContent || '').trim();
        });
        if (at.startsWith(name)) return true;
        await tabbing.keyboard.press('Tab');
    }
    return false;
}
check('Tab comes to the login', await tabTo('Login'));
await tabbing.keyboard.type(operator);
check('and to the password', await tabTo('Password'));
await tabbing.keyboard.type(`secret of ${operator}`);
await tabbing.keyboard.press('Enter');
await tabbing.waitForSelector('.switches');
await shown(tabbing);
check('and, signed in, to the runs', await tabTo('Runs'));
await tabbing.keyboard.press('Enter');
await tabbing.waitForURL(/runs$/);
await shown(tabbing);
check('to the run', await tabTo('Run ') || (await tabTo(run.slice(5, 13))));
await tabbing.keyboard.press('Enter');
await tabbing.waitForURL(new RegExp(run));
await shown(tabbing);
check('to what cancels it', await tabTo('Cancel …'));
await tabbing.keyboard.press('Enter');
await tabbing.waitForSelector('dialog[open]');
check('to the reason', await tabTo('Reason'));
await tabbing.keyboard.press('Escape');
await tabbing.waitForFunction(() => !document.querySelector('dialog[open]'));
check('and back', true);

const refused = await looking.evaluate(async (path) => {
    const { send } = await import(new URL('assets/lib/api.js', document.baseURI));
    return send('POST', `${path}/cancel`, { reason: 'may I?' }).then(() => 'done', (error) => error.status);
}, run);
check('and the server refuses what the page does not offer', refused === 403, String(refused));

const late = (route) => route.fulfill(refusal(401, 'Unauthorized'));

/* The session ends with a change: at its commit, so that it may have been made. */
await other.goto(url + run);
await shown(other);
let answer = 503; // then
await other.route('**/cancel', (route) => route.fulfill(refusal(answer, 'Lost')));
await other.getByRole('button', { name: 'Cancel …', exact: true }).click();
await other.locator('dialog #field-reason').fill('too late');
await other.locator('dialog button[type=submit]').click();
await other.waitForSelector('dialog .problem');
answer = 401;
const lost = other.waitForResponse((response) => response.url().endsWith('/cancel'));
await other.locator('dialog button[type=submit]').click();
await lost;
await other.locator('dialog button[type=submit]:not([aria-disabled=true])').waitFor();
check('a change that was refused with the cookie of before ends no session', (await other.locator('.sign-in').count()) === 0 && (await other.locator('dialog[open] .problem').count()) === 1);
await other.route('**/api/v1/session', (route) => (route.request().method() === 'GET' ? late(route) : route.fallback()));
await other.locator('dialog button[type=submit]').click();
await other.waitForSelector('.sign-in');
await other.unroute('**/cancel');
await other.unroute('**/api/v1/session');
check('a session that ends with a change says that it is not known whether it was done', /may have been done, or not/.test(await other.locator('main .ended').innerText()), await other.locator('main').innerText());
check('after it the login comes in again', await signIn(other, operator));

/* Another tab signs in, which ends nothing: the cookie of both is that of the newer session. */
const tab = await other.context().newPage();
await tab.goto(url);
const enters = (login) =>
    tab.waitForFunction(
        (body) => fetch('api/v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }).then((r) => r.ok),
        JSON.stringify({ login, password: `secret of ${login}` }),
        { polling: 1000 },
    );
/* Until `go` the first tab reads nothing, not even its stream, which the console ends: so a change is the first to learn of another login. */
const asked = new Set(); // what it reads now
other.on('request', (request) => /\/api\/v1\/(?!stream)/.test(request.url()) && request.method() === 'GET' && asked.add(request));
for (const end of ['requestfinished', 'requestfailed']) other.on(end, (request) => asked.delete(request));
async function held() {
    let go;
    const gone = new Promise((resolve) => (go = resolve)),
        where = '**/api/v1/**';
    await other.route(where, async (route) => {
        asked.delete(route.request());
        if (route.request().method() === 'GET') await gone;
        await route.fallback();
    });
    while (asked.size > 0) await other.waitForTimeout(50);
    return { go, where };
}
async function acts(button) {
    await other.getByRole('button', { name: button, exact: true }).click();
    await other.locator('dialog #field-reason').fill('as who I am');
    await other.locator('dialog button[type=submit]').click();
    await other.waitForFunction(() => !document.querySelector('dialog').open || document.querySelector('dialog .problem'));
    return other.locator('dialog[open] .problem').allInnerTexts();
}
await other.goto(url + run);
await shown(other);
await enters(operator);
const paused = await acts('Pause …');
check('an action of the first tab is done after a sign-in of another one', paused.length === 0, paused.join());
await other.getByRole('button', { name: 'Resume …', exact: true }).waitFor();
await other.locator('button.live', { hasText: 'live' }).waitFor();
const reads = await held();
await enters(monitor);
const resumed = other.waitForResponse((answer) => answer.request().method() === 'POST' && answer.url().endsWith('/resume')).then(reads.go);
await acts('Resume …');
await resumed;
await other.unroute(reads.where);
await other.locator('.switches', { hasText: monitor }).waitFor();
const said = await other.locator('#toast').innerText();
check('after that of another login it is not, and the tab shows whose session it is', said.includes(`signed in as ${monitor} now; this click did nothing`) && sql(`SELECT paused_by IS NOT NULL FROM lockstep.run WHERE run_id = '${run.slice(5)}'`) === 't', said);
await enters(operator);
await other.reload();
await shown(other);

/* The session before ends with that sign-in. What was asked for with its cookie, while the new one was on its way, is answered with 401. */
let sessions = 0;
await other.route('**/api/v1/session', (route) => (++sessions === 2 ? late(route) : route.fallback()));
for (const what of [run, 'stream']) await other.route(`**/api/v1/${what}`, late, { times: 1 });
await other.reload();
await other.waitForFunction(() => {
    const resumes = [...document.querySelectorAll('main button')].some((b) => b.textContent === 'Resume …');
    return document.querySelector('.sign-in') || (resumes && document.querySelector('button.live').textContent === 'live');
});
check('a cookie that comes late ends no session', (await other.locator('.sign-in').count()) === 0 && sessions > 2, `${sessions} looks at the session`);
await other.unroute('**/api/v1/session');

const unavailable = refusal(503, 'Service Unavailable');
await other.route('**/api/v1/session', (route) => (route.request().method() === 'DELETE' ? route.fulfill(unavailable) : route.fallback()));
await other.getByRole('button', { name: 'sign out' }).click();
await other.waitForSelector('dialog[open] .problem, .sign-in');
check('who could not sign out is still signed in, and sees it', (await other.locator('.sign-in').count()) === 0);
await other.unroute('**/api/v1/session');
await other.keyboard.press('Escape');

sql(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '${monitor}'`);
await looking.waitForSelector('.sign-in');
check('a session whose session with PostgreSQL was ended leads to the sign-in, without a click', true);
sql(`REVOKE lockstep_operator FROM ${operator}`);
await other.waitForSelector('.sign-in');
check('and so does a login that has lost its group', true);
sql(`GRANT lockstep_operator TO ${operator}`);
check('which comes in again when it has it again', await signIn(other, operator));

await other.context().clearCookies();
await other.reload();
await other.waitForSelector('.sign-in');
check('a session that has ended leads to the sign-in', true);

/* The user signs in in another tab and comes back to this one. */
const again = await other.context().newPage();
await again.goto(url);
await signIn(again, operator);
await other.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
const entered = await other.waitForSelector('.switches', { timeout: 20000 }).then(() => true, () => false);
check('a tab that shows the sign-in is signed in with another one', entered);
await browser.close();
done();
