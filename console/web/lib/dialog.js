/* dialog.js: the one dialog: help, and actions. An action says what it will do before it does it and asks for a reason, which
 * the event log keeps. What went wrong is shown inside, with the hint; the dialog stays open, nothing has been done.
 */
import { h, morph, visible } from './dom.js';
import { problemBox } from './parts.js';

let toastTimer = null;

function host() {
    let el = document.querySelector('dialog');
    if (!el) {
        el = h('dialog', { 'aria-labelledby': 'dialog-title' });
        el.addEventListener('close', () => el.open || el.replaceChildren()); // a token that was shown is gone
        document.body.append(el);
    }
    return el;
}

export function closeDialog() {
    const el = host();
    if (el.open) el.close();
}

export const dialogOpen = () => document.querySelector('dialog')?.open ?? false;

export function show(title, ...content) {
    const el = host();
    el.replaceChildren();
    morph(
        el,
        h('h2', { id: 'dialog-title' }, title),
        ...content,
        h('div.buttons', null, h('button', { type: 'button', on: { click: closeDialog } }, 'Close')),
    );
    if (!el.open) el.showModal();
}

/* A short sentence for the eye and the screen reader. */
export function toast(text) {
    let el = document.querySelector('#toast');
    if (!el) {
        el = h('div', { id: 'toast', role: 'status' });
        document.body.append(el);
    }
    el.textContent = visible(text);
    el.classList.add('shown');
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => el.classList.remove('shown'), 6000);
}

function fieldRow(field, values, change) {
    const id = `field-${field.name}`;
    const common = {
        id,
        name: field.name,
        required: field.required,
        value: values[field.name] ?? '',
        'aria-describedby': field.help ? `${id}-help` : null,
        on: {
            input: (e) => {
                values[field.name] = e.target.value;
                if (field.check) e.target.setCustomValidity(field.check(e.target.value));
                change(field.name);
            },
        },
    };
    const input = field.options
        ? h(
              'select',
              common,
              field.options.map((o) => h('option', { value: o }, o || (field.any ?? 'any'))),
          )
        : field.rows
          ? h('textarea.mono', { ...common, rows: field.rows, spellcheck: 'false' })
          : h('input', { ...common, type: field.type ?? 'text', min: field.min, max: field.max, autocomplete: 'off' });
    return h(
        'div.field',
        { key: field.name },
        h('label', { for: id }, field.label),
        input,
        field.help && h('p.hint', { id: `${id}-help` }, field.help),
    );
}

/* ask({title, effect, confirm, danger, fields, values, preview, act, done})
 *   effect    sentences: what will happen; or a function of the values
 *   fields    more to fill in: {name, label, type, options, rows, help, required, min, max, check: (text) -> what is wrong with it, or ''}
 *   preview   async (values) -> nodes: what the server says would happen; it must have been seen for these values
 *   act       async (values with reason) -> document; done(document) -> the sentence of the toast, or shown(document) -> [title, nodes] of
 *             a dialog that stays until it is closed
 */
export function ask(action) {
    const el = host();
    const values = { reason: '', ...action.values };
    const state = { busy: false, problem: null, preview: null };
    const draw = () => morph(el, form(action, values, state, draw));
    el.replaceChildren();
    draw();
    if (!el.open) el.showModal();
    el.querySelector('textarea, input, select')?.focus();
}

const reasonField = { name: 'reason', label: 'Reason, for the event log', required: true };

function form(action, values, state, draw) {
    const effect = typeof action.effect === 'function' ? action.effect(values) : action.effect;
    const fields = [...(action.fields ?? []), ...(action.noReason ? [] : [reasonField])];
    const change = (name) => {
        if (name !== 'reason') state.preview = null;
        draw();
    };
    const mustPreview = action.preview && !state.preview;
    return h(
        'form',
        { method: 'dialog', on: { submit: (e) => submit(e, action, values, state, draw) } },
        h('h2', { id: 'dialog-title' }, action.title),
        h(
            'div.effect',
            null,
            h('h3', null, 'What this does'),
            h(
                'ul',
                null,
                effect.map((line) => h('li', null, line)),
            ),
        ),
        fields.map((field) => fieldRow(field, values, change)),
        state.preview && h('div.preview', { tabindex: '0', role: 'region', 'aria-label': 'Preview' }, state.preview),
        state.problem && problemBox(state.problem),
        h(
            'div.buttons',
            null,
            h('button', { type: 'button', key: 'no', on: { click: closeDialog } }, 'Back'),
            action.preview &&
                h(
                    'button',
                    {
                        type: 'button',
                        key: 'preview',
                        disabled: state.busy,
                        on: { click: () => look(action, values, state, draw) },
                    },
                    'Preview',
                ),
            h(
                'button',
                {
                    type: 'submit',
                    key: 'yes',
                    class: action.danger ? 'danger' : 'primary',
                    disabled: state.busy || mustPreview,
                    title: mustPreview ? 'Preview it first' : null,
                },
                action.confirm,
            ),
        ),
    );
}

async function attempt(state, draw, work) {
    Object.assign(state, { busy: true, problem: null });
    draw();
    try {
        return await work();
    } catch (error) {
        state.problem = error;
        return null;
    } finally {
        state.busy = false;
        draw();
    }
}

/* What the preview needs, which is all but the reason. */
const filled = () => [...host().querySelectorAll('input, select, textarea')].every((f) => f.name === 'reason' || f.reportValidity());

async function look(action, values, state, draw) {
    if (!filled()) return;
    await attempt(state, draw, async () => {
        state.preview = await action.preview(values);
    });
}

async function submit(event, action, values, state, draw) {
    event.preventDefault();
    if (state.busy) return;
    const result = await attempt(state, draw, () => action.act(values));
    if (result == null) return;
    closeDialog();
    if (action.shown) show(...action.shown(result));
    else toast(action.done?.(result) ?? 'Done.');
    action.after?.(result);
}
