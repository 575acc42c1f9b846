/* expiry.mjs URL LOGIN LIMIT_S: a session ends when it is not used, and when it is old; the page says so, and after the sign-in its visitor is where they were. The console has short limits:
 * session_idle, and session_limit, which is LIMIT_S and longer.
 */
import { check, done, launch, open, shown, signIn, violations } from './browser.mjs';

const [url, login, limit] = process.argv.slice(2);
const place = 'runs?status=Failed&name=load';
const browser = await launch();
const page = await open(browser, url);

async function enter() {
    const from = Date.now();
    await page.goto(url + place);
    await page.waitForSelector('.sign-in');
    await signIn(page, login);
    await shown(page);
    return from;
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

let from = await enter();
await page.keyboard.press('h'); // a page that is held asks for nothing
let at = await ends('not used');
check('what is not used ends before it is old', at - from < 1000 * limit, `${at - from} ms`);

from = await enter();
await page.evaluate(() => (window.using = setInterval(() => fetch('api/v1/session'), 300))); // all the time
at = await ends('too old');
check('what is used ends when it is old, not before', at - from >= 1000 * limit, `${at - from} ms`);
await browser.close();
done();
