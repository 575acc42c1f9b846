/* acts.mjs URL RUN: what an operator does on the pages, by keyboard where it can be, with its effect in the database. Environment:
 * as database.mjs.
 */
import { readFileSync } from 'node:fs';
import { check, done, launch, open, refusal, shown, violations } from './browser.mjs';
import { sql } from './database.mjs';

const [url, run] = process.argv.slice(2);
const statusOf = (id) => sql(`SELECT status FROM lockstep.run_status WHERE run_id = '${id}'`);
const browser = await launch();
const page = await open(browser, url);
const until = (condition, argument) => page.waitForFunction(condition, argument);

async function step(sentence, work) {
    page.trouble.length = 0;
    try {
        const found = await work();
        check(sentence, found === undefined || found === true, `found ${JSON.stringify(found)}`);
    } catch (error) {
        check(sentence, false, error.message.split('\n').slice(0, 3).join(' '));
    }
    if (page.trouble.length) check(`${sentence}: without an error`, false, page.trouble.join('; '));
}

await step('the pages are reached by keyboard: g and a letter, j, Enter', async () => {
    await page.goto(url + 'queues');
    await shown(page);
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await until(() => location.pathname.endsWith('/runs') && document.querySelector('main tbody a'));
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await until(() => /\/runs\/./.test(location.pathname) && document.querySelector('main h1'));
});

await step('the help opens with ? and closes with Escape, and is accessible', async () => {
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    const found = await violations(page);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' }).catch(() => {});
    return found.length ? found : true;
});

await step('/ searches, and the filter is in the address', async () => {
    await page.goto(url + 'runs');
    await shown(page);
    await page.keyboard.press('/');
    await page.keyboard.type('wait');
    await until(() => location.search.includes('name=wait'));
    await until(() => document.querySelectorAll('main tbody tr').length === 1);
    await page.goBack().catch(() => {});
});

await step('an action asks for a reason, says what it does, and does it', async () => {
    await page.goto(url + `runs/${run}`);
    await shown(page);
    await page.keyboard.press('c');
    await page.waitForSelector('dialog[open] .effect li');
    const found = await violations(page);
    if (found.length) return found;
    await page.keyboard.press('Enter');
    if (!(await page.evaluate(() => document.querySelector('dialog').open))) return 'it went without a reason';
    await page.keyboard.type('the wrong file');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !document.querySelector('dialog').open);
    const detail = sql(
        "SELECT detail FROM lockstep.event_log WHERE event = 'run_cancelled' ORDER BY event_id DESC LIMIT 1",
    );
    return detail.includes('the wrong file') || detail;
});

await step('the page shows what happened without a reload', async () => {
    await until((text) => document.querySelector('main .page-title .badge')?.textContent.includes(text), 'Cancelled');
    return statusOf(run) === 'Cancelled' || statusOf(run);
});

await step('a refusal is shown with its hint, inside the dialog, and nothing was done', async () => {
    const trouble = page.trouble;
    await page.evaluate(async (id) => {
        const { runAction } = await import(new URL('assets/lib/actions.js', document.baseURI));
        runAction('cancel', { run_id: id, queue: 'q', status: 'Running', name: 'again' });
    }, run);
    await page.locator('dialog #field-reason').fill('once more');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] .problem');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('e'); // of the page behind it: retry
    const title = await page.locator('dialog h2').innerText();
    await page.keyboard.press('Escape');
    trouble.length = 0; // the browser itself logs the refusal
    return title === 'Cancel run again' || title;
});

await step('what the page holds does not change until it may live', async () => {
    await page.goto(url + 'runs');
    await shown(page);
    await page.keyboard.press('h');
    await until(() => document.querySelector('button.live').textContent.includes('held'));
    await page.keyboard.press('h');
    await until(() => !document.querySelector('button.live').textContent.includes('held'));
});

await step('the zone that is shown is the zone of a filter', async () => {
    await page.goto(url + 'runs');
    await shown(page);
    await page.keyboard.press('z');
    await page.locator('#filter-since').fill('2026-01-02T03:00');
    await until(() => location.search.includes('since=2026-01-02T03%3A00%3A00.000Z'));
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('z');
    return (await page.locator('#filter-since').inputValue()) !== '' || 'no time';
});

await step('theme, zone and form of times are switched and kept', async () => {
    const theme = page.getByRole('button', { name: /^theme/ });
    await theme.click();
    await theme.click();
    const dark = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await page.keyboard.press('z');
    await page.keyboard.press('t');
    await page.reload();
    await shown(page);
    const kept = await page.locator('.switches').textContent();
    return (
        (dark === 'dark' && /absolute/.test(kept) && /UTC/.test(kept) && /theme dark/.test(kept)) || `${dark} ${kept}`
    );
});

await step('an attempt that has ended has its length, not its age', async () => {
    await page.goto(url + `tasks/${sql("SELECT task_id FROM lockstep.task WHERE name = 'bad'")}`);
    await shown(page);
    const bar = await page.locator('main .timeline i').last().getAttribute('title'),
        took = await page.locator('main article.attempt header .num').first().innerText();
    return bar.endsWith(`, ${took}`) || `${bar}, not ${took}`;
});

await step('rows with one key stay when they are drawn again', async () => {
    const left = await page.evaluate(async () => {
        const { h, morph } = await import(new URL('assets/lib/dom.js', document.baseURI)),
            list = h('ul'),
            rows = () => ['one', 'two', 'three'].map((text) => h('li', { key: 'same' }, text));
        morph(list, rows());
        morph(list, rows());
        return [...list.children].map((row) => row.textContent).join();
    });
    return left === 'one,two,three' || left;
});

await step('what has the focus keeps it when a row before it leaves, or becomes another thing', async () => {
    const focused = await page.evaluate(async () => {
        const { h, morph } = await import(new URL('assets/lib/dom.js', document.baseURI)),
            list = document.querySelector('main').appendChild(document.createElement('ul')),
            row = (key) => h('li', { key }, h('button', { type: 'button' }, key));
        morph(list, [row('one'), row('two'), row('three')]);
        list.querySelectorAll('button')[1].focus();
        const found = [];
        for (const before of [h('p', { key: 'one' }, 'one'), null]) {
            morph(list, [before, row('two'), row('three')]);
            found.push(`${document.activeElement.textContent} of ${list.textContent}`);
        }
        list.remove();
        return found.join();
    });
    return focused === 'two of onetwothree,two of twothree' || focused;
});

await step('what has the focus keeps it when its row moves, and takes it from nothing else', async () => {
    const focused = await page.evaluate(async () => {
        const { h, morph } = await import(new URL('assets/lib/dom.js', document.baseURI)),
            main = document.querySelector('main'),
            list = main.appendChild(document.createElement('ul')),
            row = (key) => h('li', { key }, h('button', { type: 'button' }, key)),
            found = [];
        morph(list, ['one', 'two', 'three'].map(row));
        for (const [at, order] of [[2, 'three,one,two'], [0, 'one,two,three'], [2, 'two,three,one'], [1, 'two,one']]) {
            list.querySelectorAll('button')[at].focus();
            morph(list, order.split(',').map(row));
            found.push(document.activeElement.textContent);
        }
        main.querySelector('h1').focus();
        morph(list, ['one', 'two'].map(row));
        found.push(document.activeElement.nodeName);
        list.remove();
        return found.map((text) => (text.length > 9 ? 'nothing' : text)).join();
    });
    return focused === 'three,three,three,nothing,H1' || focused;
});

await step('a week that could not be read is read by the next load', async () => {
    const problem = refusal(503, 'Service Unavailable');
    await page.route('**/calendar*', (route) => route.fulfill(problem), { times: 1 });
    await page.goto(url + 'jobs');
    await page.waitForSelector('main .problem');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await until(() => !document.querySelector('main .problem'));
    page.trouble.length = 0; // the browser itself logs the failure
});

await step('triggers that could not be read are not called none', async () => {
    const problem = refusal(503, 'Service Unavailable');
    await page.route('**/triggers*', (route) => route.fulfill(problem));
    await page.goto(url + 'jobs/on_rows');
    await shown(page);
    const said = await page.locator('main').innerText();
    await page.unroute('**/triggers*');
    page.trouble.length = 0; // the browser itself logs the failure
    return (/Triggers?\s*Service Unavailable/.test(said) && /its trigger fires it/.test(said) && !/by hand/.test(said)) || said;
});

await step('the triggers of a job are found behind those of many others', async () => {
    await page.route('**/triggers*', async (route) => {
        const list = await (await route.fetch()).json(),
            first = !route.request().url().includes('after=');
        await route.fulfill({ json: first ? { ...list, items: list.items.map((t) => ({ ...t, job: `not ${t.job}` })), next: 'triggers.0' } : list });
    });
    await page.goto(url + 'jobs/on_rows');
    await shown(page);
    const said = await page.locator('main').innerText();
    await page.unroute('**/triggers*');
    return /at 10 rows/.test(said) || said;
});

await step('what matches a filter is not offered with the count of the one before', async () => {
    const offer = page.getByRole('button', { name: /^take all/ });
    await page.goto(url + 'runs?limit=1');
    await shown(page);
    await page.locator('main tbody input[type=checkbox]').check();
    await offer.waitFor();
    const problem = refusal(503, 'Service Unavailable');
    await page.route(/\/runs\?.*name=wait/, (route) => route.fulfill(problem));
    await page.getByLabel('name contains').fill('wait');
    await page.waitForSelector('main .problem');
    const found = [await offer.count(), /\d match/.test(await page.locator('main').innerText()), await page.locator('.bulk strong').innerText()].join();
    await page.unroute(/\/runs\?.*name=wait/);
    page.trouble.length = 0; // the browser itself logs the failure
    return found === '0,false,1 selected' || found;
});

async function drawn(id) {
    await page.goto(url + `runs/${id}`);
    await page.waitForSelector('.g-box svg path');
}

await step('the Gantt zooms by drag and by keys, and the zoom is in the address', async () => {
    const ended = sql(
        "SELECT run_id FROM lockstep.run_status WHERE ended_at IS NOT NULL AND status <> 'Cancelled' ORDER BY run_no LIMIT 1",
    );
    await drawn(ended);
    const box = await page.locator('.g-box').boundingBox();
    await page.mouse.move(box.x + 400, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 50, { steps: 3 });
    await page.mouse.up();
    await until(() => /from=[\d.]+&to=/.test(location.search));
    await page.focus('.g-box');
    await page.keyboard.press('0');
    await until(() => !location.search.includes('from='));
});

await step('a bar is found and opened by keys', async () => {
    await page.focus('.g-box');
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.press('b');
    await page.waitForSelector('.g-box svg .g-chosen');
    const said = await page.locator('.g-tip').innerText(),
        ran = page.url();
    await page.keyboard.press('Enter');
    await until(() => /\/tasks\/\d+$/.test(location.pathname));
    const id = page.url().match(/\d+$/)[0];
    await page.goto(ran);
    await page.waitForSelector('.g-box svg path');
    return said.includes(`#${id}`) || said;
});

await step('the Gantt zooms by buttons', async () => {
    await page.getByRole('button', { name: 'zoom in', exact: true }).click();
    await until(() => location.search.includes('from='));
    await page.getByRole('button', { name: 'all of the run', exact: true }).click();
    await until(() => !location.search.includes('from='));
});

await step('the links to other parts of a list keep the zoom', async () => {
    await page.route('**/runs/*/tasks*', async (route) => route.fulfill({ json: { ...(await (await route.fetch()).json()), next: 'tasks.1' } }));
    await page.reload();
    await page.waitForSelector('.g-box svg path');
    await page.getByRole('button', { name: 'zoom in', exact: true }).click();
    await until(() => location.search.includes('from=') && document.querySelector('main a[rel=next]').search.includes('from='));
    await page.getByRole('button', { name: 'all of the run', exact: true }).click();
    await until(() => !document.querySelector('main a[rel=next]').search.includes('from='));
    await page.unroute('**/runs/*/tasks*');
});

await step('a zoom of the address that is no number shows all of the run', async () => {
    await page.goto(`${page.url().split('?')[0]}?from=abc&to=x`);
    await page.waitForSelector('.g-box svg');
    const drawn = await page.locator('.g-box svg').innerHTML();
    return (drawn.includes('g-done') && !drawn.includes('NaN')) || drawn.slice(0, 300);
});

for (const [name, looks] of [
    ['SVG', /^<svg (?![^]*var\()/],
    ['JSON', /"phases"/],
    ['CSV', /^row,order,task_id,[^]*^phase,[^]*^attempt,[^]*^density,/m],
]) {
    await step(`the Gantt is downloaded as ${name}`, async () => {
        const [file] = await Promise.all([
            page.waitForEvent('download'),
            page.getByLabel(`download as ${name}`).click(),
        ]);
        return looks.test(readFileSync(await file.path(), 'utf8')) || 'something else';
    });
}

await browser.close();
done();
