/* expiry.mjs unused|old URL LOGIN LIMIT_S: a session ends when it is not used, or when it is old; the page says so, and after the sign-in its visitor is where they were. The console has short
 * limits: session_idle, and session_limit, which is LIMIT_S and longer.
 */
import { check, done, launch, open, shown, signIn, violations } from './browser.mjs';

const [how, url, login, limit] = process.argv.slice(2);
const place = 'runs?status=Failed&name=load';
const browser = await launch();
const page = await open(browser, url);

async function enter() {
    await page.goto(url + place);
    await page.waitForSelector('.sign-in');
    const before = Date.now();
    await signIn(page, login);
    const after = Date.now();
    await shown(page);
    return { before, after };
}

/* Until the page asks for a sign-in by itself. */
async function ends(how) {
    await page.waitForSelector('.sign-in');
    const at = Date.now();
    await page.evaluate(() => clearInterval(window.using));
    const said = await page.locator('main .ended').innerText();
    check(`${how}: the page says that the session has ended, and when sessions do`, /Your session has ended/.test(said) && /after its last request/.test(said), said);
    const wrong = await violations(page);
    check(`${how}: the sign-in is accessible`, wrong.length === 0, wrong.join('; '));
    check(`${how}: the sign-in knows who it was`, (await page.getByLabel('Login').inputValue()) === login);
    page.trouble.length = 0; // the browser itself logs the refusal
    await signIn(page, login);
    await shown(page);
    check(`${how}: after the sign-in they are where they were`, page.url() === url + place, page.url());
    const chip = page.getByRole('button', { name: 'Failed', exact: true });
    check(`${how}: with what they had chosen`, (await chip.getAttribute('aria-pressed')) === 'true' && (await page.getByLabel('name contains').inputValue()) === 'load');
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.waitForURL(`${url}queues`);
    await shown(page);
    check(`${how}: and the page lives`, (await page.locator('main h1').innerText()) === 'Queues');
    check(`${how}: without an error`, page.trouble.length === 0, page.trouble.join('; '));
    await page.context().clearCookies();
    return at;
}

async function unused() {
    const { after } = await enter();
    await page.keyboard.press('h'); // a page that is held asks for nothing
    const at = await ends('not used');
    check('what is not used ends before it is old', at - after < 1000 * limit, `${at - after} ms`);
}

async function old() {
    await page.addInitScript(() => (window.using = setInterval(() => fetch('api/v1/session'), 300))); // all the time
    const { before } = await enter();
    const at = await ends('too old');
    check('what is used ends when it is old, not before', at - before >= 1000 * limit, `${at - before} ms`);
}

await { unused, old }[how]();
await browser.close();
done();
