/* clusters.mjs anyone URL NAME NAME | people URL LOGIN NAME NAME | one URL: a console of two databases, at which everyone may look; one at which people sign in, with the same login in both;
 * and a console of one database: the switch, `g d`, and the page of all databases.
 */
import { check, done, launch, open, shown, signIn, violations } from './browser.mjs';

const [how, url, ...rest] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, url);
const choice = () => page.getByLabel('database', { exact: true });
const chosen = () => choice().locator('option:checked').textContent();
const queues = async () => (await page.locator('main tbody th').allTextContents()).join(' ');
const accessible = async (sentence) => {
    const wrong = await violations(page);
    check(sentence, wrong.length === 0, wrong.join('; '));
};

async function anyone(first, second) {
    await page.goto(url + 'queues');
    await shown(page);
    await page.waitForSelector('select.cluster');
    check('the switch has each database', (await page.locator('select.cluster option').allTextContents()).join() === [first, second].join());
    check('and is at the first one', (await chosen()) === first, await chosen());
    const here = await queues();
    await choice().selectOption(second);
    await page.waitForURL(`${url}clusters/${second}/`);
    await shown(page);
    await page.waitForSelector('select.cluster');
    check('another one has its own pages', (await chosen()) === second, await chosen());
    await page.getByRole('link', { name: 'Queues', exact: true }).click();
    await page.waitForURL(`${url}clusters/${second}/queues`);
    await shown(page);
    check('with its own queues', (await queues()) !== here, await queues());
    await page.reload();
    await shown(page);
    check('which a reload shows again', page.url() === `${url}clusters/${second}/queues`, page.url());

    await page.waitForSelector('select.cluster');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL(`${url}clusters/${second}/clusters`);
    await shown(page);
    check('g d leads to the page of all', (await page.locator('main h1').innerText()) === 'Databases');
    check('to which the menu leads, too', (await page.getByRole('link', { name: 'Databases', exact: true }).count()) === 1);
    const rows = page.locator('main tbody tr');
    check('it lists them', (await rows.count()) === 2);
    check('and where it is', (await rows.filter({ hasText: 'here' }).locator('a').first().textContent()) === second);
    await accessible('and is accessible');
    await rows.first().getByRole('link', { name: first }).click();
    await page.waitForURL(url);
    await page.waitForSelector('select.cluster');
    check('a link there leads to the first one', (await chosen()) === first, await chosen());
    await page.goto(url + 'clusters');
    await shown(page);
    await rows.nth(1).getByRole('link', { name: second }).click();
    await page.waitForURL(`${url}clusters/${second}/`);
    await shown(page);
    check('and one to another one', true);
    check('nothing went wrong', page.trouble.length === 0, page.trouble.join('; '));
}

async function people(login, first, second) {
    await page.goto(url);
    await page.waitForSelector('.sign-in');
    await page.waitForSelector('select.cluster');
    check('the sign-in has the switch, at the first one', (await chosen()) === first, await chosen());
    await accessible('with which it is accessible');
    await choice().selectOption(second);
    await page.waitForURL(`${url}clusters/${second}/`);
    await page.waitForSelector('.sign-in');
    await page.waitForSelector('select.cluster');
    check('it leads to the sign-in of another one', (await chosen()) === second, await chosen());
    check('which lets people in', await signIn(page, login));
    await shown(page);
    await page.waitForSelector('select.cluster');
    check('to that one', (await chosen()) === second, await chosen());
    await choice().selectOption(first);
    await page.waitForURL((at) => at.href === url);
    await page.waitForSelector('.sign-in');
    check('the other one has a sign-in of its own', true);
}

async function one() {
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/clusters')); // once, when it is loaded
    await page.goto(url + 'queues');
    await shown(page);
    await (await asked).finished();
    check('a console of one database has no switch', (await page.locator('select.cluster').count()) === 0);
    check('and no page of all in its menu', (await page.getByRole('link', { name: 'Databases', exact: true }).count()) === 0);
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.waitForURL(`${url}runs`);
    check('g d leads nowhere', !(await page.evaluate(() => window.navigation.entries().some((entry) => entry.url.endsWith('/clusters')))));
    check('nothing went wrong', page.trouble.length === 0, page.trouble.join('; '));
}

await { anyone, people, one }[how](...rest);
await browser.close();
done();
