/* export.js: the Gantt as a file: SVG with its own styles, the document as JSON, its phases, their tasks and their densities as CSV.
 */
import { s } from '../lib/dom.js';
import { AXIS, picture, viewport } from './draw.js';
import { download } from '../lib/parts.js';

/* The rules of gantt.css with the colours of the theme that is on. */
function rules() {
    const probe = document.body.appendChild(document.createElement('i')),
        out = [];
    const resolved = (name) => {
        probe.style.setProperty('color', `var(--${name})`);
        return getComputedStyle(probe).color;
    };
    const sheet = [...document.styleSheets].find((one) => one.href?.endsWith('gantt.css'));
    for (const rule of sheet?.cssRules ?? []) {
        if (rule.selectorText?.includes('.g-'))
            out.push(rule.cssText.replace(/\.gantt svg /g, '').replace(/var\(--([\w-]+)\)/g, (all, name) => resolved(name)));
    }
    probe.remove();
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

/* A text that a spreadsheet would take for a formula begins with an apostrophe. */
const inert = (v) => (typeof v === 'string' && /^[=+\-@\t\r]/.test(v) ? `'${v}` : String(v));
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const cell = (v) => (v == null ? '' : quoted(inert(v)));

/* What each row has: a phase, an attempt of it, or, where those are too many, a part of its density. */
const NAMES = ['row', 'order', 'task_id', 'name', 'attempt', 'status', 'start_s', 'end_s', 'waited_s', 'waited_for', 'tasks', 'barrier_s', 'busy_share'];

function rowsOf(phase) {
    const { order, density } = phase,
        step = density && (phase.to - phase.from) / density.length;
    const part = (busy_share, i) => ({ row: 'density', order, start_s: phase.from + i * step, end_s: phase.from + (i + 1) * step, busy_share });
    return [
        { row: 'phase', order, start_s: phase.start_s, end_s: phase.end_s, tasks: phase.tasks, barrier_s: phase.barrier_s, busy_share: phase.busy_share },
        ...phase.bars.map((bar) => ({ ...bar, row: 'attempt', order })),
        ...(density ?? []).map(part),
    ];
}

export function csvText(model) {
    const rows = model.phases.flatMap(rowsOf).map((row) => NAMES.map((name) => row[name]));
    return [NAMES, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

export function exports(model, view, name) {
    return {
        SVG: () => download(`${name}.svg`, 'image/svg+xml', svgText(model, view, name)),
        JSON: () => download(`${name}.json`, 'application/json', JSON.stringify(model.doc, null, 1)),
        CSV: () => download(`${name}.csv`, 'text/csv', csvText(model)),
    };
}
