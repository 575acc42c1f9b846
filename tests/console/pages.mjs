/* pages.mjs URL DIR PAGE=PATH...: opens each page, in both colour schemes and at three widths; nothing may go wrong on any of them.
 * Screenshots go to DIR: NAME-SCHEME-WIDTH.png; with - as DIR there are none, and one scheme and one width have to do.
 */
import { mkdirSync } from 'node:fs';
import { CONTRAST, check, done, launch, open, shown, violations } from './browser.mjs';

const [url, dir, ...pages] = process.argv.slice(2);
const WIDTHS = [360, 1280, 2560];

async function photograph(page, name, scheme) {
    for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        check(`${name} fits ${width} pixels, ${scheme}`, over <= 0, `${over} pixels too wide`);
        await page.screenshot({ path: `${dir}/${name}-${scheme}-${width}.png` });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
}

async function inTheDark(page, name) {
    await photograph(page, name, 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await violations(page, CONTRAST);
    check(`${name} has contrast in the dark`, dark.length === 0, dark.join('; '));
    await photograph(page, name, 'dark');
}

async function visit(page, name, path) {
    page.trouble.length = 0;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(url + path);
    await shown(page);
    const light = await violations(page);
    check(`${name} is accessible`, light.length === 0, light.join('; '));
    if (dir !== '-') await inTheDark(page, name);
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
