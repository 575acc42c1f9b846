/* chart.js: sparklines and time series as SVG. Each has a text twin: a sparkline its label, a series a table below it.
 */
import { h, s } from './dom.js';
import { clockText, dayText, count, duration } from './format.js';

const scaleTo = (values) => Math.max(1e-9, ...values.filter((v) => v != null));

/* Lines of what is there; a null ends one. */
function pathOf(points) {
    let d = '',
        pen = 'M';
    points.forEach((p, i) => {
        if (p) d += `${pen}${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
        if (p && pen === 'M' && !points[i + 1]) d += 'h0.1'; // alone, it is a dot
        pen = p ? 'L' : 'M';
    });
    return d;
}

/* values: one per minute, the newest last; unit writes one of them */
export function spark(values, { label, unit = count, second } = {}) {
    const known = (values ?? []).filter((v) => v != null);
    if (known.length === 0) return h('span.zero', { title: `${label}: nothing in the last hour` }, '–');
    const top = scaleTo(values),
        last = values.at(-1);
    const step = 130 / Math.max(1, values.length - 1);
    const points = values.map((v, i) => (v == null ? null : [i * step, 21 - (19 * v) / top]));
    const text = `${label}, last hour: at most ${unit(Math.max(...known))}, ${last == null ? 'none' : unit(last)} in the last minute`;
    const filled = points.every(Boolean);
    return s(
        'svg',
        {
            class: second ? 'spark second' : 'spark',
            viewBox: '0 0 130 22',
            preserveAspectRatio: 'none',
            role: 'img',
            'aria-label': text,
        },
        s('title', null, text),
        filled && s('path', { class: 'fill', d: `${pathOf(points)}L130 22L0 22Z` }),
        s('path', { d: pathOf(points) }),
    );
}

/* Round steps of an axis: 1, 2, 5 times a power of ten. */
export function niceStep(span, wanted) {
    const raw = span / Math.max(1, wanted),
        power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].find((m) => m * power >= raw) * power;
}

function yAxis(top, width, left, bottom, height, unit) {
    const step = niceStep(top, 4),
        lines = [];
    for (let v = 0; v <= top * 1.0001; v += step) {
        const y = bottom - (v / top) * height;
        lines.push(
            s('line', { class: 'grid', x1: left, x2: width - 4, y1: y, y2: y }),
            s('text', { x: left - 6, y: y + 4, 'text-anchor': 'end' }, unit(v)),
        );
    }
    return lines;
}

function draw(el, { lines, x, unit, xUnit, mark }) {
    const width = Math.max(240, el.clientWidth),
        heightAll = 170,
        left = 76,
        bottom = heightAll - 24,
        height = bottom - 12;
    const xs = x,
        from = Math.min(...xs),
        to = Math.max(...xs, from + 1e-9);
    const top = scaleTo(lines.flatMap((l) => l.values)) * 1.08;
    const px = (v) => left + ((v - from) / (to - from)) * (width - left - 10),
        py = (v) => bottom - (v / top) * height;
    const ticks = Math.min(xs.length, Math.max(2, Math.floor(width / 130)));
    const labels = [];
    for (let i = 0; i < ticks; i++) {
        const v = from + ((to - from) * i) / Math.max(1, ticks - 1);
        labels.push(
            s(
                'text',
                { x: px(v), y: heightAll - 6, 'text-anchor': i === 0 ? 'start' : i === ticks - 1 ? 'end' : 'middle' },
                xUnit(v),
            ),
        );
    }
    const svg = s(
        'svg',
        {
            class: 'series',
            viewBox: `0 0 ${width} ${heightAll}`,
            role: 'img',
            'aria-label': lines.map((l) => l.label).join(' and '),
        },
        yAxis(top, width, left, bottom, height, unit),
        labels,
        s('line', { class: 'axis', x1: left, x2: width - 4, y1: bottom, y2: bottom }),
        mark != null && s('line', { class: 'mark', x1: px(mark), x2: px(mark), y1: 8, y2: bottom }),
        lines.map((l, i) => [
            l.area &&
                s('path', {
                    class: 'area',
                    d: `${pathOf(l.values.map((v, k) => (v == null ? null : [px(xs[k]), py(v)])))}L${px(xs.at(-1))} ${bottom}L${px(xs[0])} ${bottom}Z`,
                }),
            s('path', { class: `l${i}`, d: pathOf(l.values.map((v, k) => (v == null ? null : [px(xs[k]), py(v)]))) }),
        ]),
    );
    el.replaceChildren(svg);
}

function seriesWidget(el, data) {
    let latest = data;
    draw(el, latest);
    new ResizeObserver(() => draw(el, latest)).observe(el);
    return (next) => {
        latest = next;
        draw(el, next);
    };
}

const timeLabel = (ms) => clockText(ms).slice(0, 5);

/* series({x, lines: [{label, values, area}], unit, xUnit, xLabel, mark}); x are milliseconds unless xUnit says what they are */
export function series(spec) {
    const data = { unit: count, xUnit: timeLabel, ...spec };
    const twin = data.twinX ?? ((v) => (spec.xUnit ? spec.xUnit(v) : `${dayText(v)} ${clockText(v)}`));
    return h(
        'div.series-box',
        { key: spec.key },
        h(
            'div.legend',
            null,
            data.lines.map((l, i) =>
                h(
                    'span',
                    null,
                    s(
                        'svg',
                        { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
                        s('path', { class: `l${i}`, d: 'M0 8H16' }),
                    ),
                    ` ${l.label}`,
                ),
            ),
        ),
        h('div', { widget: seriesWidget, data }),
        h(
            'details',
            null,
            h('summary', null, 'As a table'),
            h(
                'div.table-box',
                { tabindex: '0', role: 'region', 'aria-label': data.lines.map((l) => l.label).join(' and ') },
                h(
                    'table',
                    null,
                    h(
                        'thead',
                        null,
                        h(
                            'tr',
                            null,
                            h('th', { scope: 'col' }, data.xLabel ?? 'time'),
                            data.lines.map((l) => h('th.num', { scope: 'col' }, l.label)),
                        ),
                    ),
                    h(
                        'tbody',
                        null,
                        data.x.map((v, k) =>
                            h(
                                'tr',
                                null,
                                h('th', { scope: 'row' }, twin(v)),
                                data.lines.map((l) =>
                                    h(
                                        'td.num',
                                        { 'data-label': l.label },
                                        l.values[k] == null ? '–' : data.unit(l.values[k]),
                                    ),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    );
}

export const asSeconds = (v) => duration(v);
