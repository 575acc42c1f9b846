/* draw.js: a part of a run's Gantt as SVG nodes: the axis, the bands of the phases that are in sight, the line of now.
 * All bars of one kind in one phase are one path, so that a thousand of them cost as much as one.
 *
 * Shapes, so that colour is not needed: completed is filled, running has an open end, failed has a cross, cancelled is hollow,
 * waiting is a thin line before its bar, dashed if it is the wait for a retry, a squeezed gap is a zigzag.
 */
import { s } from '../lib/dom.js';
import { niceStep } from '../lib/chart.js';
import { duration, count, percent, plural } from '../lib/format.js';
import { idle } from './model.js';

export const AXIS = 26;
const KINDS = {
    Completed: 'done',
    Processing: 'running',
    Failed: 'failed',
    Terminated: 'failed',
    Error: 'again',
    lost: 'again',
    Cancelled: 'cancelled',
    PartiallyCompleted: 'again',
    Pending: 'cancelled',
};
const MIN_BAR = 2;

/* Pixels of times between from and to (on the scale u) in a width. */
export function viewport(model, view, width, gutter) {
    const u0 = model.scale.u(view.from),
        u1 = Math.max(u0 + 1e-6, model.scale.u(view.to));
    const per = (width - gutter - 8) / (u1 - u0);
    return {
        width,
        gutter,
        u0,
        u1,
        per,
        x: (t) => gutter + (model.scale.u(t) - u0) * per,
        t: (x) => model.scale.t(u0 + (x - gutter) / per),
    };
}

const box = (x, y, w, height) => `M${x.toFixed(1)} ${y}h${w.toFixed(1)}v${height}h${(-w).toFixed(1)}z`;

function clip(port, t0, t1) {
    const a = Math.max(port.gutter, port.x(t0)),
        b = Math.min(port.width, port.x(t1));
    return b < port.gutter || a > port.width ? null : [a, b];
}

/* Before a bar: for a reader, or, after an attempt that failed, for its time. */
function waiting(bar, [from, to], middle) {
    return bar.waited_for === 'retry'
        ? ['retry', `M${from.toFixed(1)} ${middle}H${to.toFixed(1)}`]
        : ['waiting', box(from, middle - 1, to - from, 2)];
}

function bars(phase, top, port) {
    const paths = {},
        add = (kind, d) => {
            paths[kind] = (paths[kind] ?? '') + d;
        };
    const tall = Math.max(2, phase.laneHeight - (phase.laneHeight > 5 ? 2 : 1));
    for (const bar of phase.bars) {
        const y = top + 5 + bar.lane * phase.laneHeight,
            span = clip(port, bar.start_s, bar.end);
        if (bar.waited_s > 0 && phase.laneHeight >= 6) {
            const wait = clip(port, bar.start_s - bar.waited_s, bar.start_s);
            if (wait && wait[1] - wait[0] > 1) add(...waiting(bar, wait, y + tall / 2));
        }
        if (!span) continue;
        const kind = KINDS[bar.status] ?? 'done',
            w = Math.max(MIN_BAR, span[1] - span[0] - (span[1] - span[0] > 4 ? 1 : 0));
        add(
            kind,
            kind === 'running'
                ? `M${(span[0] + w).toFixed(1)} ${y}h${(-w).toFixed(1)}v${tall}h${w.toFixed(1)}`
                : box(span[0], y, w, tall),
        );
        if (kind === 'failed') {
            const m = Math.min(tall, 7) / 2,
                cx = Math.min(span[0] + Math.max(w / 2, m), port.width - m), // never outside of the plot
                cy = y + tall / 2;
            add('cross', `M${cx - m} ${cy - m}l${2 * m} ${2 * m}m0 ${-2 * m}l${-2 * m} ${2 * m}`);
        }
    }
    return ['waiting', 'retry', 'done', 'again', 'cancelled', 'running', 'failed', 'cross']
        .filter((k) => paths[k])
        .map((k) => s('path', { class: `g-${k}`, d: paths[k] }));
}

function names(phase, top, port) {
    if (phase.laneHeight < 12) return [];
    return phase.bars.map((bar) => {
        const span = clip(port, bar.start_s, bar.end);
        const text = bar.name ?? '',
            fits = span ? Math.floor((span[1] - span[0] - 8) / 6.6) : 0;
        if (!text || fits < 4) return null;
        return s(
            'text',
            {
                class: `g-name g-on-${KINDS[bar.status] ?? 'done'}`,
                x: span[0] + 4,
                y: top + 16 + bar.lane * phase.laneHeight,
            },
            text.length > fits ? `${text.slice(0, fits - 1)}…` : text,
        );
    });
}

/* The share of the readers that were busy, a step for each bucket. */
function density(phase, top, port) {
    const step = (phase.to - phase.from) / phase.density.length,
        bottom = top + phase.height - 5,
        tall = phase.height - 10;
    let d = '';
    phase.density.forEach((share, i) => {
        const span = share > 0 && clip(port, phase.from + i * step, phase.from + (i + 1) * step);
        if (span)
            d += box(
                span[0],
                +(bottom - tall * Math.min(1, share)).toFixed(1),
                Math.max(1, span[1] - span[0]),
                +(tall * Math.min(1, share)).toFixed(1),
            );
    });
    return [
        s('line', { class: 'g-full', x1: port.gutter, x2: port.width, y1: bottom - tall, y2: bottom - tall }),
        s('path', { class: 'g-density', d }),
    ];
}

/* From the last end of the phases before to the first start of this one. */
function barrier(phase, top, port) {
    if (phase.start_s == null || phase.barrier_s == null) return null;
    const wide = clip(port, phase.start_s - Math.max(0, phase.barrier_s), phase.start_s);
    const width = wide && Math.max(1.5, wide[1] - wide[0]);
    return (
        wide && [
            s('rect', { class: 'g-barrier', x: wide[1] - width, y: top, width, height: phase.height }),
            s('path', { class: 'g-bar-end', d: `M${wide[1].toFixed(1)} ${top}v${phase.height}` }),
        ]
    );
}

function gutterText(phase, top, port) {
    const small = port.gutter < 120,
        gone = idle(phase);
    const bad = phase.failed > 0,
        dropped = phase.cancelled > 0 && !small;
    const many = bad ? `✕ ${count(phase.failed)} failed` : plural(phase.tasks ?? 0, 'task');
    const share = gone == null ? '' : `${percent(gone)} idle`;
    const lines = [
        [`${phase.order}`, 'g-order'],
        [dropped ? `${many}, ${count(phase.cancelled)} cancelled` : many, bad ? 'g-bad' : 'g-soft'],
        [!small && share && phase.barrier_s ? `${share}, barrier ${duration(phase.barrier_s)}` : share, 'g-soft'],
    ];
    return lines.map(([text, cls], i) => text && s('text', { class: cls, x: 8, y: top + 14 + i * 13.5 }, text));
}

const strip = (top, width, height, index) =>
    s('rect', { class: index % 2 ? 'g-band odd' : 'g-band', x: 0, y: top, width, height });

function behind(phase, top, port, index) {
    const open = phase.open != null && clip(port, phase.open, phase.done ?? phase.to);
    return [
        strip(top, port.width, phase.height, index),
        open &&
            s('rect', {
                class: 'g-open',
                x: open[0],
                y: top,
                width: Math.max(1, open[1] - open[0]),
                height: phase.height,
            }),
    ];
}

function before(phase, top, port, index) {
    const bottom = top + phase.height;
    return [
        phase.dense ? density(phase, top, port) : [bars(phase, top, port), names(phase, top, port)],
        barrier(phase, top, port),
        s('rect', { class: 'g-head', x: 0, y: top, width: port.gutter, height: phase.height }),
        strip(top, port.gutter, phase.height, index),
        gutterText(phase, top, port),
        s('line', { class: 'g-rule', x1: 0, x2: port.width, y1: bottom, y2: bottom }),
    ];
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400]; // seconds

/* As clocks are divided: below a second by ten, above a day by days. */
export function timeStep(span, wanted) {
    const raw = span / Math.max(1, wanted);
    if (raw <= 0.5) return niceStep(span, wanted);
    return STEPS.find((step) => step >= raw) ?? Math.ceil(niceStep(span, wanted) / 86400) * 86400;
}

/* The text of a tick: as exact as the step, so that neighbours differ, also late in a long run. */
export function tickText(t, step) {
    const digits = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step))),
        at = Number(t.toFixed(digits));
    if (step >= 3600 || (step >= 60 && at < 86400)) return duration(Math.round(at));
    if (at < 60) return `${at.toFixed(digits)} s`;
    const two = (n) => String(n).padStart(2, '0');
    const days = at >= 86400 ? `${Math.floor(at / 86400)} d ` : '',
        hours = Math.floor((at % 86400) / 3600),
        minutes = Math.floor((at % 3600) / 60);
    const clock = at >= 3600 ? `${hours}:${two(minutes)}` : String(minutes);
    return step >= 60 ? days + clock : `${days}${clock}:${(at % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, '0')}`;
}

/* Round times inside each piece of the scale that is not squeezed. */
function ticks(model, port, bottom) {
    const step = timeStep(port.u1 - port.u0, (port.width - port.gutter) / 90),
        out = [];
    let lastX = -100,
        lastGap = -100;
    for (const [t0, t1, , , squeezed] of model.scale.pieces) {
        const span = clip(port, t0, t1);
        if (!span) continue;
        if (squeezed) {
            const x = (span[0] + span[1]) / 2;
            if (x - lastGap < 8) continue; // its zigzag would lie on that of the gap before
            lastGap = x;
            out.push(
                s('path', { class: 'g-zigzag', d: `M${x - 4} ${AXIS - 4}l3 -5l3 5l3 -5` }),
                s(
                    'rect',
                    {
                        class: 'g-gap',
                        x: span[0],
                        y: AXIS,
                        width: Math.max(2, span[1] - span[0]),
                        height: bottom - AXIS,
                    },
                    s('title', null, `${duration(t1 - t0)} without work`),
                ),
            );
            continue;
        }
        const low = Math.max(t0, port.t(port.gutter)),
            high = Math.min(t1, port.t(port.width));
        for (let t = Math.ceil(low / step - 1e-9) * step; t <= high && out.length < 200; t += step) {
            const x = port.x(t);
            if (x < port.gutter) continue;
            out.push(s('line', { class: 'g-grid', x1: x, x2: x, y1: AXIS, y2: bottom }));
            if (x - lastX > 62 && x < port.width - 64)
                (out.push(s('text', { class: 'g-tick', x: x + 3, y: 17 }, tickText(t, step))), (lastX = x));
        }
    }
    const low = (node) => node.nodeName === 'line' || node.nodeName === 'rect'; // behind the bars; the rest is in the axis
    return { lines: out.filter(low), words: out.filter((node) => !low(node)) };
}

/* The nodes of a picture: phases from the pixel `scroll` on, `height` pixels of them, below the axis. */
export function picture(model, port, scroll, height) {
    const bottom = AXIS + height;
    const seen = model.phases.map((p, i) => [p, i]).filter(([p]) => p.y + p.height > scroll && p.y < scroll + height);
    const { lines, words } = ticks(model, port, Math.min(bottom, AXIS + model.height - scroll));
    const now = model.now != null && clip(port, model.now, model.now);
    return [
        seen.map(([p, i]) => behind(p, AXIS + p.y - scroll, port, i)),
        lines,
        seen.map(([p, i]) => before(p, AXIS + p.y - scroll, port, i)),
        s('rect', { class: 'g-head', x: 0, y: 0, width: port.width, height: AXIS }),
        words,
        s('text', { class: 'g-soft', x: 8, y: 17 }, port.gutter < 120 ? 'phase' : 'phase, tasks, idle'),
        now && [
            s('line', { class: 'g-now', x1: now[0], x2: now[0], y1: 4, y2: bottom }),
            s('text', { class: 'g-now-text', x: now[0] - 4, y: 17, 'text-anchor': 'end' }, 'now'),
        ],
    ];
}

/* How busy the run was at each of so many places: the strip for the brush. */
export function overview(model, buckets) {
    const out = new Float64Array(buckets),
        per = buckets / model.scale.length;
    const add = (t0, t1, weight) => {
        const a = model.scale.u(t0) * per,
            b = Math.max(a + 1e-3, model.scale.u(t1) * per);
        for (let i = Math.floor(a); i < b && i < buckets; i++) out[i] += weight * (Math.min(b, i + 1) - Math.max(a, i));
    };
    for (const p of model.phases) {
        if (!p.density) for (const bar of p.bars) add(bar.start_s, bar.end, 1);
        const step = p.density && (p.to - p.from) / p.density.length;
        p.density?.forEach((share, i) => {
            if (share > 0) add(p.from + i * step, p.from + (i + 1) * step, share * (model.doc.readers ?? 8));
        });
    }
    return out;
}
