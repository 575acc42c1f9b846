/* smooth.mjs URL RUN...: how long a Gantt takes to draw a frame while it is zoomed, moved and scrolled: printed, and at most 50 ms for the frame in
 * the middle; a machine that runs other tests has others to serve between two frames. bench/notes/gantt.md has the figures of an idle one.
 */
import { check, done, launch, open, shown } from './browser.mjs';

const [url, ...runs] = process.argv.slice(2);
const MOST_MS = 50;
const browser = await launch();
const page = await open(browser, url, { viewport: { width: 1600, height: 1000 } });

/* The time that the page's script takes for a frame, and the time from frame to frame. */
async function frames(work) {
    return page.evaluate(async (name) => {
        const gantt = document.querySelector('.gantt').$gantt,
            drawn = [],
            apart = [],
            draw = gantt.draw.bind(gantt);
        gantt.draw = () => {
            const from = performance.now();
            draw();
            drawn.push(performance.now() - from);
        };
        const act = {
            zoom: (i) => gantt.scaleBy(i % 40 < 20 ? 0.85 : 1 / 0.85, 300 + i * 10),
            move: (i) => gantt.move(i % 40 < 20 ? 0.1 : -0.1),
            scroll: () => gantt.box.scrollBy(0, 60),
        }[name];
        let before = null;
        for (let i = 0; i < 80; i++) {
            act(i);
            const now = await new Promise(requestAnimationFrame);
            if (before != null) apart.push(now - before);
            before = now;
        }
        gantt.draw = draw;
        const at = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
        return { p50: at(drawn, 0.5), p95: at(drawn, 0.95), most: at(drawn, 1), apart50: at(apart, 0.5), apart95: at(apart, 0.95), frames: drawn.length };
    }, work);
}

for (const run of runs) {
    await page.goto(`${url}runs/${run}`);
    await shown(page);
    await page.waitForSelector('.g-box svg path');
    const name = await page.locator('main h1').innerText();
    for (const work of ['zoom', 'move', 'scroll']) {
        const t = await frames(work);
        const text = Object.entries(t).map(([key, ms]) => `${key} ${ms.toFixed(1)}`).join(', ');
        console.log(`# ${name}, ${work}, ms: ${text}`);
        check(`${name}: ${work} is smooth`, t.p50 <= MOST_MS && t.frames > 40, text);
    }
}
/* Of a run with densities alone the bars of the part that is zoomed into. */
await page.goto(`${url}runs/${runs[0]}`);
await shown(page);
await page.waitForSelector('.g-box svg path.g-density');
const bars = () => page.locator('.g-box svg path.g-done').count();
check('a run of 100,000 tasks has densities', (await bars()) === 0);
await page.evaluate(() => {
    const gantt = document.querySelector('.gantt').$gantt,
        phase = gantt.model.phases[3];
    gantt.zoom(phase.from + 5, phase.from + 15);
    gantt.box.scrollTop = phase.y;
});
await page.waitForSelector('.g-box svg path.g-done');
check('and bars where it is zoomed into', (await bars()) > 0);
const [task, found] = await page.evaluate(() => {
    const gantt = document.querySelector('.gantt').$gantt,
        phase = gantt.model.phases[3],
        bar = phase.bars.find((b) => b.start_s > phase.from + 8);
    const rect = gantt.box.getBoundingClientRect();
    gantt.hover({ clientX: rect.left + gantt.port.x((bar.start_s + bar.end) / 2), clientY: rect.top + 26 + phase.y - gantt.box.scrollTop + 5 + (bar.lane + 0.5) * phase.laneHeight });
    return [`#${bar.task_id}`, gantt.tip.innerText];
});
check('which say what they are', found.includes(task) && found.includes('load shop'), `${found}, not ${task}`);
await page.getByRole('button', { name: 'all of the run' }).click();
const again = () => !document.querySelector('.g-box svg path.g-done') && document.querySelector('.gantt').$gantt.model.phases[3].dense;
check('and all of it has densities again', await page.waitForFunction(again).then(() => true, () => false));
check('no error', page.trouble.length === 0, page.trouble.join('; '));
await browser.close();
done();
