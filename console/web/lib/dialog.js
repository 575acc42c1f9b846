/* dialog.js: the one dialog: help, and actions. An action says what it will do before it does it and asks for a reason, which
 * the event log keeps. What went wrong is shown inside, with the hint; the dialog stays open. Nothing has been done, or it is said that
 * this is not known; then the same click does it once.
 *
 * Late answers   A request outlasts a dialog that the user closes. Its answer then changes neither the dialog that is open by then nor the
 *                page: a toast says what became of the action. What is shown only once waits until that dialog is closed.
 */
import { h, morph, visible } from './dom.js';
import { problemBox } from './parts.js';
import { go } from './router.js';
import { changes } from './api.js';

let toastTimer = null,
    owed = [], // what is shown once, and came while another dialog was open
    sessions = 0, // that have ended
    current = null; // what the dialog shows or asks; null: it is closed

function host() {
    let el = document.querySelector('dialog');
    if (!el) {
        el = h('dialog', { 'aria-labelledby': 'dialog-title' });
        el.addEventListener('close', () => {
            if (el.open) return; // the event of one that was closed before
            current = null;
            el.replaceChildren(); // a token that was shown is gone
            if (owed.length) show(...owed.shift());
        });
        document.body.append(el);
    }
    return el;
}

export function closeDialog() {
    const el = host();
    if (el.open) el.close();
}

/* Its session has ended: what is left to be shown is not for who comes then. */
export function dropDialog() {
    owed = [];
    sessions++;
    closeDialog();
}

export const dialogOpen = () => document.querySelector('dialog')?.open ?? false;

const isShown = (what) => what === current && dialogOpen();

/* Returns a function: whether it is still shown. */
export function show(title, ...content) {
    const el = host(),
        mine = (current = {});
    el.replaceChildren();
    morph(
        el,
        h('h2', { id: 'dialog-title' }, title),
        ...content,
        h('div.buttons', null, h('button', { type: 'button', on: { click: closeDialog } }, 'Close')),
    );
    if (!el.open) el.showModal();
    return () => isShown(mine);
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

/* ask({title, effect, confirm, danger, fields, values, preview, act, done, after, leave})
 *   effect    sentences: what will happen; or a function of the values
 *   fields    more to fill in: {name, label, type, options, rows, help, required, min, max, check: (text) -> what is wrong with it, or ''}
 *   preview   async (values) -> nodes: what the server says would happen; it must have been seen for these values
 *   act       async (values with reason, change) -> document, where change(method, path, body) is sent once; done(document) -> the sentence of the toast, or shown(document) -> [title, nodes] of
 *             a dialog that stays until it is closed
 *   after     called when it is done; leave: the address of the page that is shown then
 */
export function ask(action) {
    const el = host();
    current = { action, values: { reason: '', ...action.values }, change: changes(), busy: false, problem: null, preview: null };
    el.replaceChildren();
    draw(current);
    if (!el.open) el.showModal();
    el.querySelector('textarea, input, select')?.focus();
}

function draw(asked) {
    if (asked === current) morph(host(), form(asked));
}

const reasonField = { name: 'reason', label: 'Reason, for the event log', required: true };

function form(asked) {
    const { action, values } = asked;
    const effect = typeof action.effect === 'function' ? action.effect(values) : action.effect;
    const fields = [...(action.fields ?? []), ...(action.noReason ? [] : [reasonField])];
    const change = (name) => {
        if (name !== 'reason') asked.preview = asked.looking = null;
        draw(asked);
    };
    const mustPreview = action.preview && !asked.preview;
    return h(
        'form',
        { method: 'dialog', on: { submit: (e) => submit(e, asked) } },
        h('h2', { id: 'dialog-title' }, action.title),
        h(
            'div.effect',
            { key: 'effect' },
            h('h3', null, 'What this does'),
            h(
                'ul',
                null,
                effect.map((line) => h('li', null, line)),
            ),
        ),
        fields.map((field) => fieldRow(field, values, change)),
        asked.preview && h('div.preview', { key: 'seen', tabindex: '0', role: 'region', 'aria-label': 'Preview' }, asked.preview),
        asked.problem &&
            h('div', { key: 'problem' }, problemBox(asked.problem), asked.problem.unknown && h('p.hint', null, asked.problem.unknown)),
        h(
            'div.buttons',
            { key: 'buttons' },
            h('button', { type: 'button', key: 'no', on: { click: closeDialog } }, 'Back'),
            action.preview &&
                h(
                    'button',
                    {
                        type: 'button',
                        key: 'preview',
                        'aria-disabled': asked.busy ? 'true' : null,
                        on: { click: () => look(asked) },
                    },
                    'Preview',
                ),
            h(
                'button',
                {
                    type: 'submit',
                    key: 'yes',
                    class: action.danger ? 'danger' : 'primary',
                    disabled: mustPreview,
                    'aria-disabled': asked.busy ? 'true' : null,
                    title: mustPreview ? 'Preview it first' : null,
                },
                action.confirm,
            ),
        ),
    );
}

/* Its buttons do nothing meanwhile, and keep the focus, which one that is `disabled` loses to the page behind the dialog. */
async function attempt(asked, work) {
    Object.assign(asked, { busy: true, problem: null });
    draw(asked);
    try {
        return await work();
    } catch (error) {
        asked.problem = error;
        return null;
    } finally {
        asked.busy = false;
        draw(asked);
    }
}

/* What the preview needs, which is all but the reason. */
const filled = () => [...host().querySelectorAll('input, select, textarea')].every((f) => f.name === 'reason' || f.reportValidity());

async function look(asked) {
    if (asked.busy || !filled()) return;
    const mine = (asked.looking = {}); // until a field is changed
    await attempt(asked, async () => {
        const preview = await asked.action.preview(asked.values);
        if (asked.looking === mine) asked.preview = preview;
    });
}

async function submit(event, asked) {
    event.preventDefault();
    if (asked.busy) return;
    const { action, values, change } = asked,
        before = sessions,
        result = await attempt(asked, () => action.act(values, change)),
        shown = isShown(asked);
    if (result == null) {
        if (!shown) toast(`${action.title}: ${asked.problem.message}${asked.problem.unknown ? '; it is not known whether it was done' : ''}`);
        return;
    }
    if (before !== sessions) return; // the result is not for who comes then
    if (shown) closeDialog();
    if (!action.shown) {
        toast(action.done?.(result) ?? 'Done.');
    } else if (dialogOpen()) {
        owed.push(action.shown(result));
        toast(`${action.title}: done; it is shown when this dialog is closed.`);
    } else {
        show(...action.shown(result)); // also behind a dialog that was closed: it is shown once
    }
    action.after?.(result);
    if (shown && action.leave) go(action.leave);
}
