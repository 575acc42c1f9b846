/* model.js: what is drawn of a run, as numbers: phases with lanes, and the scale of time with idle times squeezed. Pure.
 *
 * Units       t: seconds from the start of the run. u: seconds on the scale, where a squeezed gap is short.
 * A lane      holds tasks that did not overlap; there are as many as tasks ran at once.
 */
const LANE_MAX = 64;
const FAILED = ['Failed', 'Terminated', 'PartiallyCompleted']; // lockstep.is_failed

function seconds(doc, value) {
    if (value == null) return null;
    return typeof value === 'number' ? value : (Date.parse(value) - Date.parse(doc.started_at)) / 1000;
}

/* Each bar gets the first lane that is free at its start. */
function lanes(bars) {
    const ends = [];
    for (const bar of bars) {
        let lane = ends.findIndex((end) => end <= bar.start_s + 1e-6);
        if (lane < 0) lane = ends.length < LANE_MAX ? ends.length : ends.indexOf(Math.min(...ends));
        ends[lane] = bar.end;
        bar.lane = lane;
    }
    return Math.max(1, ends.length);
}

function laneHeight(n) {
    return n <= 8 ? 16 : n <= 12 ? 10 : n <= 24 ? 6 : 4;
}

/* Attempts that lost their executor are Pending in the log; a bar without a start is a task that made no attempt. */
function barsOf(phase, end) {
    return (phase.bars ?? [])
        .filter((b) => b.start_s != null)
        .map((b) => ({ ...b, status: b.status === 'Pending' ? 'lost' : b.status, end: b.end_s ?? end }))
        .sort((a, b) => a.start_s - b.start_s || a.end - b.end);
}

function phaseModel(doc, phase, end, rows) {
    const row = rows.get(String(phase.order)) ?? {},
        counts = phase.status ?? {};
    const bars = barsOf(phase, end),
        density = phase.density?.length ? phase.density : null;
    const some = density !== null && bars.length > 0, // those of the part that is looked at: the band keeps its height
        n = density && !some ? 1 : lanes(bars),
        each = density ? 40 / n : laneHeight(n);
    return {
        ...row,
        ...phase,
        bars,
        density,
        dense: density !== null && !some,
        lanes: n,
        laneHeight: each,
        height: Math.max(46, n * each + 10),
        open: seconds(doc, phase.opened_s ?? phase.opened_at),
        done: seconds(doc, phase.done_at),
        failed: phase.status ? FAILED.reduce((sum, status) => sum + (counts[status] ?? 0), 0) : Math.max(phase.failed ?? 0, row.failed ?? 0),
        cancelled: counts.Cancelled ?? row.cancelled ?? 0,
        from: phase.start_s ?? 0,
        to: phase.end_s ?? end,
    };
}

/* The times at which something ran, as disjoint intervals. */
function busy(phases) {
    const spans = [];
    for (const p of phases) {
        if (!p.density) for (const b of p.bars) spans.push([b.start_s, b.end]);
        const step = p.density && (p.to - p.from) / p.density.length;
        p.density?.forEach((share, i) => {
            if (share > 0) spans.push([p.from + i * step, p.from + (i + 1) * step]);
        });
    }
    spans.sort((a, b) => a[0] - b[0]);
    const merged = [];
    for (const [from, to] of spans) {
        const top = merged.at(-1);
        if (top && from <= top[1]) top[1] = Math.max(top[1], to);
        else merged.push([from, to]);
    }
    return merged;
}

/* Pieces [t0, t1, u0, u1, squeezed]; without squeezing one piece. Neighbours that are not squeezed are one piece, so
 * that the pauses of a run that are not squeezed cost nothing.
 */
function pieces(phases, end, squeeze) {
    const spans = squeeze ? busy(phases) : [];
    const ran = spans.reduce((sum, [a, b]) => sum + b - a, 0);
    const limit = Math.max(1, ran * 0.08),
        short = Math.max(ran * 0.02, 1e-3);
    const out = [];
    let t = 0,
        u = 0;
    const add = (to, length, squeezed) => {
        if (to <= t) return;
        const last = out.at(-1);
        if (last && !last[4] && !squeezed) [last[1], last[3]] = [to, u + length];
        else out.push([t, to, u, u + length, squeezed]);
        u += length;
        t = to;
    };
    for (const [from, to] of [...spans, [end, end]]) {
        if (ran > 0 && from - t > limit) {
            add(from, short, true);
        }
        add(to, to - t, false);
    }
    return out.length ? out : [[0, Math.max(end, 1e-3), 0, Math.max(end, 1e-3), false]];
}

function scale(list) {
    const find = (v, b) => { // the first piece that ends behind v, or the last one
        let low = 0,
            high = list.length - 1;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (v <= list[middle][b]) high = middle;
            else low = middle + 1;
        }
        return list[low];
    };
    const map = (v, a, b, c, d) => {
        const p = find(v, b);
        return p[c] + ((v - p[a]) / (p[b] - p[a] || 1)) * (p[d] - p[c]);
    };
    return { pieces: list, u: (t) => map(t, 0, 1, 2, 3), t: (u) => map(u, 2, 3, 0, 1), length: list.at(-1)[3] };
}

export function model(doc, phaseRows = [], squeeze = true) {
    const rows = new Map(phaseRows.map((r) => [String(r.order), r]));
    const given = doc.phases ?? [];
    const now = doc.ended_at == null ? seconds(doc, doc.now) : null;
    const stated = Math.max(seconds(doc, doc.ended_at) ?? 0, now ?? 0);
    const end = Math.max(
        stated,
        1e-3,
        ...given.map((p) => Math.max(0, ...(p.bars ?? []).map((b) => b.end_s ?? b.start_s ?? 0))),
    );
    const phases = given.map((p) => phaseModel(doc, p, end, rows));
    let y = 0;
    for (const p of phases) {
        p.y = y;
        y += p.height;
    }
    return { doc, phases, end, now, height: y, scale: scale(pieces(phases, end, squeeze)) };
}

/* With the bars of a part of its time, by order, where it has densities. */
export function withBars(doc, detail) {
    if (!detail) return doc;
    const bars = new Map(detail.phases.map((p) => [String(p.order), p.bars]));
    return { ...doc, phases: (doc.phases ?? []).map((p) => (p.density?.length && bars.has(String(p.order)) ? { ...p, bars: bars.get(String(p.order)) } : p)) };
}

/* Almost all of a run's time is shown. */
export const isWhole = (view, end) => view.to - view.from >= end * 0.98;

/* Which part of a run's time is to be asked for when from to to is shown, in seconds; null: all is shown, or that part is known. More is asked
 * for than is shown, so that a short move needs no new answer; a part that was too full to have bars is asked again when a quarter of it is shown.
 */
export function partOf(view, end, known) {
    const length = view.to - view.from;
    if (isWhole(view, end)) return null;
    if (known && known.from <= view.from && known.to >= view.to && length > (known.to - known.from) / 4) return null;
    return { from: Math.max(0, view.from - length / 4), to: Math.min(end, view.to + length / 4) };
}

/* What part of the readers' time of a phase did nothing: 1 - busy_share. */
export const idle = (phase) => (phase.busy_share == null ? null : Math.max(0, 1 - phase.busy_share));

/* The bar at a place of a phase: t in seconds, y in pixels from the top of the band; near is the tolerance in seconds. */
export function barAt(phase, t, y, near) {
    const lane = Math.floor((y - 5) / phase.laneHeight);
    let best = null;
    for (const bar of phase.bars) {
        if (bar.lane !== lane || t < bar.start_s - near || t > bar.end + near) continue;
        if (!best || Math.abs(bar.start_s - t) < Math.abs(best.start_s - t)) best = bar;
    }
    return best;
}
