/* signin.mjs URL MONITOR OPERATOR: sign-in with PostgreSQL logins (password "secret of NAME"), two roles, sign-out. */
import { check, done, launch, open, shown, violations } from './browser.mjs';

const [url, monitor, operator] = process.argv.slice(2);
const browser = await launch();

async function signIn(page, login, password = `secret of ${login}`) {
    await page.getByLabel('Login').fill(login);
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Password').press('Enter');
}

/* Refusals delay the address for some seconds: the form is sent again until the page comes. */
async function comesIn(page, login) {
    for (let i = 0; i < 20; i++) {
        await signIn(page, login);
        const came = await page.waitForSelector('.switches', { timeout: 3000 }).catch(() => null);
        if (came) return true;
    }
    return false;
}

const page = await open(browser, url);
await page.goto(url + 'runs?status=Failed');
await page.waitForSelector('.sign-in');
check('the sign-in is accessible', (await violations(page)).length === 0, (await violations(page)).join('; '));
await signIn(page, monitor, 'wrong');
await page.waitForSelector('.problem');
check(
    'a wrong password is refused, and the password is cleared',
    (await page.getByLabel('Password').inputValue()) === '',
);
check('the right one comes to the page that was asked for', await comesIn(page, monitor));
await shown(page);
check('with its filters', page.url().endsWith('/runs?status=Failed'), page.url());
check('a monitor has no actions', (await page.locator('main input[type=checkbox]').count()) === 0);
await page.getByRole('button', { name: 'sign out' }).click();
await page.waitForSelector('.sign-in');
check('signing out ends it', (await page.evaluate(() => fetch('api/v1/session').then((r) => r.status))) === 401);

const other = await open(browser, url);
await other.goto(url + 'runs');
await other.waitForSelector('.sign-in');
check('an operator comes in', await comesIn(other, operator));
await other.waitForSelector('main tbody');
check('and may select runs to act on', (await other.locator('main tbody input[type=checkbox]').count()) > 0);

await other.context().clearCookies();
await other.reload();
await other.waitForSelector('.sign-in');
check('a session that has ended leads to the sign-in', true);
await browser.close();
done();
