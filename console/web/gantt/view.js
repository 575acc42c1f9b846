/* view.js: the Gantt on the page: it scrolls through the phases, zooms into time, and shows what is under the pointer.
 *
 * Drawing     Only the phases in sight are drawn, once a frame at most; the box scrolls over a spacer of the full height.
 * Zoom        drag over the chart or the strip, Ctrl and wheel, buttons, + and -; arrows move, 0 shows all. The zoom is in the address.
 * Bars        n and b go to the next bar and to the one before, Enter opens it; as a pointer over a bar and a click do.
 */
import { h, s, morph } from '../lib/dom.js';
import { go, note } from '../lib/router.js';
import { duration, percent, plural } from '../lib/format.js';
import { AXIS, overview, picture, viewport } from './draw.js';
import { barAt, idle } from './model.js';

const STRIP = 30;

class Gantt {
    constructor(el, data) {
        Object.assign(this, { el, frame: 0, drag: null });
        this.svg = s('svg', { 'aria-hidden': 'true' });
        this.spacer = h('div.g-spacer');
        this.box = h(
            'div.g-box',
            {
                tabindex: '0',
                role: 'group',
                'aria-label':
                    'Chart of the run. Arrow keys move, plus and minus zoom, 0 shows all, n and b go from bar to bar, Enter opens one. The table of phases below says the same in words.',
            },
            h('div.g-stick', null, this.svg),
            this.spacer,
        );
        this.strip = s('svg', { class: 'g-strip', 'aria-hidden': 'true' });
        this.tip = h('div.g-tip', { role: 'status' });
        el.replaceChildren(this.buttons(), this.strip, this.box, this.tip);
        this.box.addEventListener('scroll', () => this.redraw());
        this.box.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
        this.box.addEventListener('keydown', (e) => this.key(e));
        this.follow(this.box);
        this.follow(this.strip);
        new ResizeObserver(() => this.redraw()).observe(el);
        this.set(data);
    }

    /* For fingers, and for whoever does not know the keys. */
    buttons() {
        const one = (name, text, act) => h('button', { type: 'button', 'aria-label': name, title: name, on: { click: act } }, text);
        return h(
            'div.g-buttons',
            { role: 'group', 'aria-label': 'part of the time that is shown' },
            one('zoom in', '+', () => this.scaleBy(0.6)),
            one('zoom out', '−', () => this.scaleBy(1.7)),
            one('earlier', '←', () => this.move(-0.25)),
            one('later', '→', () => this.move(0.25)),
            one('all of the run', 'all', () => this.zoom(0, this.model.end)),
        );
    }

    set(data) {
        const before = this.model;
        this.model = data.model;
        this.data = data;
        const whole = !before || !this.view || (this.view.from <= 0 && this.view.to >= before.end - 1e-6);
        if (whole) this.view = { from: 0, to: this.model.end };
        if (!before && data.from != null) this.view = this.bounded(data.from, data.to ?? this.model.end);
        data.seen?.(this.view);
        this.redraw();
    }

    bounded(from, to) {
        const { end, scale } = this.model,
            least = Math.max(end * 1e-5, 1e-3);
        from = Math.max(0, Math.min(from, end - least));
        to = Math.min(end, Math.max(to, from + least));
        return { from, to, scale };
    }

    zoom(from, to) {
        this.view = this.bounded(from, to);
        const all = this.view.from <= 0 && this.view.to >= this.model.end;
        clearTimeout(this.noting);
        this.noting = setTimeout(() => {
            note({ from: all ? null : this.view.from.toFixed(3), to: all ? null : this.view.to.toFixed(3) });
            this.data.noted?.(); // the links of the page keep the zoom
        }, 200);
        this.data.seen?.(this.view);
        this.redraw();
    }

    /* Around the pixel x by a factor, on the scale that is drawn. */
    scaleBy(factor, x = this.port.gutter + (this.port.width - this.port.gutter) / 2) {
        const { u0, u1, gutter, per } = this.port,
            at = u0 + (x - gutter) / per;
        const t = (u) => this.model.scale.t(Math.max(0, Math.min(this.model.scale.length, u)));
        this.zoom(t(at - (at - u0) * factor), t(at + (u1 - at) * factor));
    }

    move(share) {
        const { u0, u1 } = this.port,
            length = this.model.scale.length;
        const by = Math.max(-u0, Math.min(length - u1, (u1 - u0) * share));
        this.zoom(this.model.scale.t(u0 + by), this.model.scale.t(u1 + by));
    }

    wheel(event) {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.scaleBy(event.deltaY > 0 ? 1.25 : 0.8, event.clientX - this.box.getBoundingClientRect().left);
    }

    key(event) {
        const act = {
            ArrowLeft: () => this.move(-0.25),
            ArrowRight: () => this.move(0.25),
            '+': () => this.scaleBy(0.6),
            '=': () => this.scaleBy(0.6),
            '-': () => this.scaleBy(1.7),
            0: () => this.zoom(0, this.model.end),
            n: () => this.choose(1),
            b: () => this.choose(-1),
            Enter: this.chosen && (() => go(`tasks/${this.chosen}`)),
        }[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        act();
    }

    /* The bar that the keys are at, found again by its task and attempt in a model that is newer. */
    chosenAt(all) {
        return all.findIndex(({ bar }) => bar.task_id === this.chosen && bar.attempt === this.attempt);
    }

    allBars() {
        return this.model.phases.flatMap((phase) => phase.bars.map((bar) => ({ phase, bar })));
    }

    choose(by) {
        const all = this.allBars(),
            at = this.chosenAt(all);
        const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
        if (!to) return;
        const { phase, bar } = to,
            length = this.view.to - this.view.from,
            y = phase.y + bar.lane * phase.laneHeight;
        Object.assign(this, { chosen: bar.task_id, attempt: bar.attempt });
        if (bar.start_s < this.view.from || bar.start_s > this.view.to) this.zoom(bar.start_s - length / 2, bar.start_s + length / 2);
        if (y < this.box.scrollTop || y > this.box.scrollTop + this.box.clientHeight - 2 * AXIS) this.box.scrollTop = y - AXIS;
        this.draw();
        const rect = this.box.getBoundingClientRect();
        this.showTip(phase, bar, { clientX: rect.left + this.port.x(bar.start_s), clientY: rect.top + 2 * AXIS + y - this.box.scrollTop });
    }

    mark() {
        const at = this.chosen == null ? -1 : this.chosenAt(this.allBars());
        if (at < 0) return [];
        const { phase, bar } = this.allBars()[at],
            x = Math.max(this.port.gutter, this.port.x(bar.start_s));
        return [
            s('rect', {
                class: 'g-chosen',
                x,
                y: AXIS + phase.y - this.box.scrollTop + 4 + bar.lane * phase.laneHeight,
                width: Math.max(4, this.port.x(bar.end) - x),
                height: phase.laneHeight,
            }),
        ];
    }

    timeAt(target, x) {
        if (target === this.strip)
            return this.model.scale.t(
                Math.max(0, Math.min(1, (x - this.port.gutter) / (this.port.width - this.port.gutter - 8))) *
                    this.model.scale.length,
            );
        return this.port.t(Math.max(this.port.gutter, Math.min(this.port.width - 8, x)));
    }

    follow(target) {
        const place = (e) => e.clientX - target.getBoundingClientRect().left;
        target.addEventListener('pointerdown', (e) => {
            if (e.button !== 0 || e.pointerType === 'touch' || place(e) < this.port.gutter) return;
            this.drag = { target, x0: place(e), x1: place(e) };
            target.setPointerCapture(e.pointerId);
        });
        target.addEventListener('pointermove', (e) => {
            if (this.drag) ((this.drag.x1 = place(e)), this.redraw());
            else if (target === this.box) this.hover(e);
        });
        target.addEventListener('pointerup', (e) => this.release(e, target));
        target.addEventListener('pointerleave', () => {
            if (!this.drag) this.showTip(null);
        });
        target.addEventListener('dblclick', () => this.zoom(0, this.model.end));
    }

    release(event, target) {
        const drag = this.drag;
        this.drag = null;
        if (!drag) return;
        const [a, b] = [drag.x0, drag.x1].sort((x, y) => x - y);
        if (b - a > 5) this.zoom(this.timeAt(target, a), this.timeAt(target, b));
        else if (target === this.box) this.open(event);
        this.redraw();
    }

    under(event) {
        const rect = this.box.getBoundingClientRect(),
            x = event.clientX - rect.left,
            y = event.clientY - rect.top - AXIS + this.box.scrollTop;
        const phase =
            event.clientY - rect.top < AXIS ? null : this.model.phases.find((p) => y >= p.y && y < p.y + p.height);
        if (!phase) return {};
        const t = this.port.t(x),
            near = 3 * (this.port.t(x + 1) - t) || 0;
        return { phase, x, bar: x > this.port.gutter ? barAt(phase, t, y - phase.y, near) : null, t };
    }

    open(event) {
        const { bar } = this.under(event);
        if (bar) go(`tasks/${bar.task_id}`);
    }

    hover(event) {
        const { phase, bar } = this.under(event);
        this.box.classList.toggle('g-hit', !!bar);
        this.showTip(phase, bar, event);
    }

    showTip(phase, bar, event) {
        this.tip.classList.toggle('shown', !!phase);
        if (!phase) return;
        const gone = idle(phase);
        const lines = bar
            ? [
                  `${bar.name ?? 'task'} #${bar.task_id}`,
                  `${bar.status}, attempt ${bar.attempt ?? 1}`,
                  `ran ${duration(bar.end - bar.start_s)}, from ${duration(bar.start_s)} on`,
                  bar.waited_s ? `waited ${duration(bar.waited_s)} for ${bar.waited_for === 'retry' ? 'its retry' : 'a reader'}` : null,
              ]
            : [
                  `phase ${phase.order}, ${plural(phase.tasks ?? 0, 'task')}`,
                  gone == null ? null : `${percent(gone)} of reader time idle`,
                  phase.barrier_s ? `barrier ${duration(phase.barrier_s)}` : null,
                  phase.straggler
                      ? `straggler ${phase.straggler.name ?? `#${phase.straggler.task_id}`}, ${duration(phase.straggler.seconds)}`
                      : null,
              ];
        morph(
            this.tip,
            lines.filter(Boolean).map((line, i) => h(i ? 'div' : 'strong', null, line)),
        );
        const rect = this.el.getBoundingClientRect(),
            x = event.clientX - rect.left,
            y = event.clientY - rect.top;
        this.tip.style.setProperty('left', `${Math.min(x + 14, rect.width - 230)}px`);
        this.tip.style.setProperty('top', `${y + 16}px`);
    }

    redraw() {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            this.draw();
        });
    }

    draw() {
        const width = this.box.clientWidth,
            tall = Math.min(this.model.height, Math.max(220, Math.round(window.innerHeight * 0.62)));
        if (!width) return;
        this.port = viewport(this.model, this.view, width, width < 560 ? 84 : 168);
        this.box.style.setProperty('height', `${tall + AXIS + 2}px`);
        this.spacer.style.setProperty('height', `${Math.max(0, this.model.height - tall)}px`);
        this.svg.setAttribute('viewBox', `0 0 ${width} ${tall + AXIS}`);
        this.svg.style.setProperty('height', `${tall + AXIS}px`);
        this.svg.replaceChildren(
            ...nodes(picture(this.model, this.port, this.box.scrollTop, tall)),
            ...this.mark(),
            ...this.brush(this.box, tall + AXIS),
        );
        this.drawStrip(width);
    }

    brush(target, height) {
        if (this.drag?.target !== target) return [];
        const [a, b] = [this.drag.x0, this.drag.x1].sort((x, y) => x - y);
        return [s('rect', { class: 'g-brush', x: a, y: 0, width: b - a, height })];
    }

    /* How busy the run was. It goes through all bars, so it is made anew only for another run or another width. */
    stripPath(left, wide, n) {
        const known = this.known;
        if (known?.model === this.model && known.wide === wide) return known.path;
        const values = overview(this.model, n),
            top = Math.max(1e-9, ...values);
        let d = '';
        values.forEach((v, i) => {
            if (v > 0)
                d += `M${(left + (i * wide) / n).toFixed(1)} ${STRIP - 3}v${((-(STRIP - 6) * v) / top).toFixed(1)}h${(wide / n).toFixed(1)}V${STRIP - 3}z`;
        });
        this.known = { model: this.model, wide, path: s('path', { class: 'g-density', d }) };
        return this.known.path;
    }

    drawStrip(width) {
        const left = this.port.gutter,
            wide = width - left - 8,
            n = Math.min(400, Math.max(60, Math.floor(wide / 3)));
        const a = left + (this.port.u0 / this.model.scale.length) * wide,
            b = left + (this.port.u1 / this.model.scale.length) * wide;
        this.strip.setAttribute('viewBox', `0 0 ${width} ${STRIP}`);
        this.strip.replaceChildren(
            s('text', { class: 'g-soft', x: 8, y: 19 }, left < 120 ? 'all' : 'whole run'),
            this.stripPath(left, wide, n),
            s('rect', { class: 'g-window', x: a, y: 1, width: Math.max(2, b - a), height: STRIP - 2 }),
            ...this.brush(this.strip, STRIP),
        );
    }
}

const nodes = (list) => list.flat(Infinity).filter((n) => n && n.nodeType);

export function ganttWidget(el, data) {
    const gantt = new Gantt(el, data);
    el.$gantt = gantt;
    return (next) => gantt.set(next);
}
