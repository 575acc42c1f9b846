/* browser.mjs: Debian's Chromium without windows, by playwright-core, and what every test of a page watches: errors of the console, requests that
 * leave it, violations of axe-core.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export { check, done } from './tap.mjs';

const packages = createRequire(fileURLToPath(new URL('../../build/console/package.json', import.meta.url)));
const { chromium } = packages('playwright-core');
const axe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'], preload: false };
const PATIENCE_MS = 120000; // a slow machine has time; what does not come ends the test

export const launch = () =>
    chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });

/* A page of the browser whose trouble is collected in page.trouble. */
export async function open(browser, url, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        colorScheme: 'light',
        reducedMotion: 'reduce',
        bypassCSP: false,
        ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.trouble = [];
    page.on('pageerror', (error) => page.trouble.push(`error: ${error.message}`));
    page.on('console', (message) => {
        if (message.type() === 'error') page.trouble.push(`console: ${message.text()} ${message.location().url ?? ''}`);
    });
    page.on('request', (request) => {
        if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url()))
            page.trouble.push(`a request to ${request.url()}`);
    });
    return page;
}

/* Until the page shows its data. */
export async function shown(page) {
    await page.waitForSelector('main h1');
    await page.waitForFunction(() => !document.querySelector('main .loading'));
}

/* What a route is fulfilled with: the server refuses, in the words of RFC 9457. */
export const refusal = (status, title, more = {}) => ({ status, contentType: 'application/problem+json', body: JSON.stringify({ title, status, ...more }) });

export async function violations(page, rules = RULES) {
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe); // by the protocol, which the policy of the page does not concern
    const result = await page.evaluate((options) => window.axe.run(document, options), rules);
    return result.violations.map((v) => `${v.id} at ${v.nodes[0].target.join(' ')} (${v.nodes.length})`);
}

export const CONTRAST = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/* With the password of tests/support/console.bash. Refusals delay the address for some seconds: the form is sent again until the page comes. */
export async function signIn(page, login) {
    for (let i = 0; i < 60; i++) {
        await page.getByLabel('Login').fill(login);
        await page.getByLabel('Password').fill(`secret of ${login}`);
        const answer = page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/api/v1/session'));
        await page.getByLabel('Password').press('Enter');
        if ((await answer).ok()) {
            await page.waitForSelector('.switches');
            return true;
        }
        await page.waitForSelector('.sign-in .problem');
        await page.waitForTimeout(1000);
    }
    return false;
}
