/* dom.js: elements from functions, and a morph that brings what is on the page to what a page function returns.
 *
 * What        h() makes an element, s() an SVG element, morph() patches the children of one.
 * Invariants  Text is set by textContent only; nothing here reads markup; characters that would not be seen are escapes. A node with a key
 *             is found again by it.
 * Widgets     An element with `widget` draws its own children: widget(el, data) is called once and returns the function
 *             that gets new data. Its children are left alone by morph().
 */
const SVG = 'http://www.w3.org/2000/svg';
const PROPERTIES = new Set(['value', 'checked', 'indeterminate']);
const READ = new Set(['title', 'aria-label', 'placeholder']); // attributes whose value somebody reads
const OWN_STATE = { DETAILS: 'open', DIALOG: 'open' }; // what the user changes is not set again

/* Control characters but new lines and tabs, what turns text round, and what has no width. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/* A text as the page shows it: \u202e is six characters that are seen. */
export const visible = (text) => text.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

function dispatch(event) {
    event.currentTarget.$on?.[event.type]?.(event);
}

function listen(el, on) {
    for (const type of Object.keys(on)) {
        if (!el.$on?.[type]) el.addEventListener(type, dispatch);
    }
    el.$on = on;
}

function setProps(el, props) {
    for (const [name, value] of Object.entries(props)) {
        if (value == null || value === false) continue;
        if (name === 'on') listen(el, value);
        else if (name === 'key') el.$key = value;
        else if (name === 'widget') el.$widget = value;
        else if (name === 'data') el.$data = value;
        else if (name === 'style') for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
        else if (PROPERTIES.has(name)) el[name] = el.$wanted = value;
        else el.setAttribute(name, value === true ? '' : READ.has(name) ? visible(String(value)) : value);
    }
}

function append(el, children) {
    for (const child of children.flat(Infinity)) {
        if (child == null || child === false || child === '') continue;
        el.append(typeof child === 'string' ? visible(child) : child);
    }
    return el;
}

/* h('td.num', {title: 'x'}, ...): the tag may carry classes; children are nodes, texts, lists; null and false are left out. */
export function h(spec, props, ...children) {
    const [tag, ...classes] = spec.split('.');
    const el = document.createElement(tag);
    if (classes.length) el.className = classes.join(' ');
    if (props && props.class) el.className += (el.className ? ' ' : '') + props.class;
    append(el, children);
    if (props) setProps(el, { ...props, class: null }); // after the children: a select's value needs its options
    return el;
}

export function s(tag, props, ...children) {
    const el = document.createElementNS(SVG, tag);
    if (props) setProps(el, props);
    return append(el, children);
}

function alike(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName && a.$key === b.$key && a.$widget === b.$widget;
}

function syncAttributes(keep, fresh) {
    const own = OWN_STATE[keep.nodeName];
    for (const { name } of [...keep.attributes]) {
        if (!fresh.hasAttribute(name) && name !== own) keep.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
        if (keep.getAttribute(name) !== value && name !== own) keep.setAttribute(name, value);
    }
}

function syncInput(keep, fresh) {
    if (document.activeElement === keep && keep.type !== 'checkbox') return;
    if (keep.type === 'checkbox' || keep.type === 'radio') {
        keep.checked = fresh.checked;
        keep.indeterminate = fresh.indeterminate;
    } else if (fresh.$wanted !== undefined && keep.value !== fresh.value) {
        keep.value = fresh.value;
    }
}

function patch(keep, fresh) {
    if (keep.nodeType !== 1) {
        if (keep.nodeValue !== fresh.nodeValue) keep.nodeValue = fresh.nodeValue;
        return;
    }
    syncAttributes(keep, fresh);
    listen(keep, fresh.$on ?? {});
    if (keep.$widget) {
        keep.$data = fresh.$data;
        if (keep.$update) keep.$update(fresh.$data);
        return;
    }
    morphNodes(keep, [...fresh.childNodes]);
    if ('value' in keep) syncInput(keep, fresh);
}

/* What is left, and has a key, goes first: a node behind it stays where it is, because one that is moved loses its selection. */
function morphNodes(parent, fresh) {
    const byKey = new Map(),
        stay = new Set(fresh.map((node) => node.$key));
    for (const child of [...parent.childNodes]) {
        if (child.$key === undefined) continue;
        if (stay.has(child.$key)) byKey.set(child.$key, child);
        else child.remove();
    }
    let at = parent.firstChild;
    for (const node of fresh) {
        const keep = node.$key !== undefined ? byKey.get(node.$key) : at;
        if (!keep || !alike(keep, node)) {
            parent.insertBefore(node, at);
            if (keep && node.$key !== undefined) {
                if (keep === at) at = at.nextSibling;
                byKey.delete(node.$key);
                keep.remove();
            }
            continue;
        }
        byKey.delete(node.$key); // another one with this key is another row
        if (keep === at) at = at.nextSibling;
        else parent.insertBefore(keep, at);
        patch(keep, node);
    }
    while (at) {
        const next = at.nextSibling;
        at.remove();
        at = next;
    }
}

function startWidgets(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let el = walker.currentNode; el; el = walker.nextNode()) {
        if (el.$widget && !el.$update) el.$update = el.$widget(el, el.$data) ?? (() => {});
    }
}

/* The children of parent become these; what is alike stays, with its focus, its scroll position and its open state. What had to be moved has
 * lost its focus, and gets it back.
 */
export function morph(parent, ...children) {
    const holder = document.createDocumentFragment(),
        focused = document.activeElement,
        inside = parent.contains(focused);
    append(holder, children);
    morphNodes(parent, [...holder.childNodes]);
    startWidgets(parent);
    if (inside && parent.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
}
