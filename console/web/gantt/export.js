/* export.js: the Gantt as a file: SVG with its own styles, the document as JSON, the tasks as CSV.
 */
import { s } from '../lib/dom.js';
import { AXIS, picture, viewport } from './draw.js';
import { download } from '../lib/parts.js';

const COLOURS = [
    'panel',
    'shade',
    'line',
    'line-soft',
    'text',
    'soft',
    'good-fill',
    'run',
    'run-fill',
    'bad',
    'bad-fill',
    'warn-fill',
    'wait-fill',
    'quiet',
    'quiet-fill',
    'held-fill',
    'on-bar',
];

/* The rules of gantt.css with the colours of the theme that is on. */
function rules() {
    const probe = document.body.appendChild(document.createElement('i')),
        out = [];
    const resolved = (name) => {
        probe.style.setProperty('color', `var(--${name})`);
        return getComputedStyle(probe).color;
    };
    const sheet = [...document.styleSheets].find((one) => one.href?.endsWith('gantt.css'));
    const colour = Object.fromEntries(COLOURS.map((name) => [name, resolved(name)]));
    probe.remove();
    for (const rule of sheet?.cssRules ?? []) {
        if (rule.selectorText?.includes('.g-'))
            out.push(
                rule.cssText
                    .replace(/\.gantt svg /g, '')
                    .replace(/var\(--([\w-]+)\)/g, (all, name) => colour[name] ?? all),
            );
    }
    return `text { font: 11px sans-serif }\n${out.join('\n')}`;
}

export function svgText(model, view, title) {
    const width = 1600,
        height = AXIS + model.height,
        port = viewport(model, view, width, 168);
    const svg = s(
        'svg',
        { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height },
        s('title', null, title),
        s('style', null, rules()),
        s('rect', { class: 'g-head', width, height }),
        picture(model, port, 0, model.height),
    );
    return new XMLSerializer().serializeToString(svg);
}

const cell = (v) => (v == null ? '' : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));

export function csvText(model) {
    const names = ['order', 'task_id', 'name', 'attempt', 'status', 'start_s', 'end_s', 'waited_s', 'waited_for'];
    const rows = model.phases.flatMap((p) =>
        p.bars.map((b) => names.map((name) => (name === 'order' ? p.order : b[name]))),
    );
    return [names, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

export function exports(model, view, name) {
    return {
        SVG: () => download(`${name}.svg`, 'image/svg+xml', svgText(model, view, name)),
        JSON: () => download(`${name}.json`, 'application/json', JSON.stringify(model.doc, null, 1)),
        CSV: () => download(`${name}.csv`, 'text/csv', csvText(model)),
    };
}
