/* pages.mjs URL SCHEMES DIR PAGE=PATH...: opens each page; nothing may go wrong on any of them. SCHEMES: light, or light,dark; in each of them the page is judged by axe-core (in the dark its
 * contrast), and at three widths it fits and is photographed: DIR/NAME-SCHEME-WIDTH.png. With - as DIR one width has to do, and with LOCKSTEP_TEST_SHOTS=no
 * there are no photographs.
 */
import { mkdirSync } from 'node:fs';
import { CONTRAST, check, done, launch, open, shown, violations } from './browser.mjs';

const [url, schemes, dir, ...pages] = process.argv.slice(2);
const WIDTHS = [360, 1280, 2560];
const USUAL = { width: 1280, height: 900 };

/* The buttons that only a horizontal scroll of their table would show. */
const cutOff = () =>
    [...document.querySelectorAll('.table-box button')]
        .filter((button) => button.getBoundingClientRect().right > button.closest('.table-box').getBoundingClientRect().right + 1)
        .map((button) => button.textContent);

const shot = async (page, name) => process.env.LOCKSTEP_TEST_SHOTS !== 'no' && page.screenshot({ path: `${dir}/${name}.png` });

async function fits(page, name, scheme) {
    for (const width of WIDTHS) {
        await page.setViewportSize({ ...USUAL, width });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        check(`${name} fits ${width} pixels, ${scheme}`, over <= 0, `${over} pixels too wide`);
        const cut = width < USUAL.width ? [] : await page.evaluate(cutOff);
        check(`${name} cuts off no button of a table at ${width} pixels, ${scheme}`, cut.length === 0, cut.join('; '));
        await shot(page, `${name}-${scheme}-${width}`);
    }
    if (name === 'runs') {
        await page.setViewportSize({ ...USUAL, width: 1024 });
        const hidden = await page.evaluate(() => Math.max(...[...document.querySelectorAll('.table-box')].map((box) => box.scrollWidth - box.clientWidth)));
        check('the reasons of runs are in sight at 1024 pixels', hidden <= 0, `${hidden} pixels are out of sight`);
        await shot(page, `${name}-${scheme}-1024`);
    }
    await page.setViewportSize(USUAL);
}

async function visit(page, name, path) {
    page.trouble.length = 0;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(url + path);
    await shown(page);
    for (const scheme of schemes.split(',')) {
        await page.emulateMedia({ colorScheme: scheme });
        const wrong = await violations(page, scheme === 'dark' ? CONTRAST : undefined);
        check(`${name} is accessible, ${scheme}`, wrong.length === 0, wrong.join('; '));
        if (dir !== '-') await fits(page, name, scheme);
    }
    const raw = await page.evaluate(() => document.title.concat(document.body.outerHTML).match(/.{0,30}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)?.[0]);
    check(`${name} shows what would not be seen`, !raw, JSON.stringify(raw));
    const problems = await page.locator('main .problem').allTextContents();
    check(`${name} shows no problem`, problems.length === 0, problems.join('; '));
    check(`${name} causes no error and no request outside`, page.trouble.length === 0, page.trouble.join('; '));
}

if (dir !== '-') mkdirSync(dir, { recursive: true });
const browser = await launch();
try {
    const page = await open(browser, url);
    for (const one of pages) {
        const at = one.indexOf('=');
        await visit(page, one.slice(0, at), one.slice(at + 1));
    }
} finally {
    await browser.close();
}
done();
