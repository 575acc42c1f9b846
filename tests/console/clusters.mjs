/* clusters.mjs URL NAME...: a console of several databases, at which everyone may look: the switch, and the page of all of them. */
import { check, done, launch, open, shown, violations } from './browser.mjs';

const [url, ...names] = process.argv.slice(2);
const [first, second] = names;
const browser = await launch();
const page = await open(browser, url);
const chosen = () => page.getByLabel('database', { exact: true }).locator('option:checked').textContent();
const queues = async () => (await page.locator('main tbody th').allTextContents()).join(' ');

await page.goto(url + 'queues');
await shown(page);
await page.waitForSelector('select.cluster');
check('the switch has each database', (await page.locator('select.cluster option').allTextContents()).join() === names.join());
check('and is at the first one', (await chosen()) === first, await chosen());
const here = await queues();
await page.getByLabel('database', { exact: true }).selectOption(second);
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

await page.getByRole('link', { name: 'Databases', exact: true }).click();
await shown(page);
const rows = page.locator('main tbody tr');
check('the page of all lists them', (await rows.count()) === names.length);
check('and where it is', (await rows.filter({ hasText: 'here' }).locator('a').first().textContent()) === second);
check('with what is accessible', (await violations(page)).length === 0, (await violations(page)).join('; '));
await rows.first().getByRole('link', { name: first }).click();
await page.waitForURL(url);
await page.waitForSelector('select.cluster');
check('a link there leads to the first one', (await chosen()) === first, await chosen());
await page.goto(url + 'clusters');
await shown(page);
await page.locator('main tbody tr').nth(1).getByRole('link', { name: second }).click();
await page.waitForURL(`${url}clusters/${second}/`);
await shown(page);
check('and one to another one', true);
check('nothing went wrong', page.trouble.length === 0, page.trouble.join('; '));
await browser.close();
done();
