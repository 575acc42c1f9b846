/* signin.js: the sign-in with a PostgreSQL login. The address stays, so that the user comes to the page that was asked for.
 */
import { h, morph } from './dom.js';
import { send, get } from './api.js';
import { problemBox } from './parts.js';
import { clusterSwitch } from './frame.js';
import { span } from './format.js';
import { icon } from './badge.js';

function field(name, label, type, autocomplete, value) {
    return h(
        'div.field',
        { key: name },
        h('label', { for: `sign-${name}` }, label),
        h('input', {
            id: `sign-${name}`,
            name,
            type,
            value,
            autocomplete,
            required: true,
            spellcheck: 'false',
            autocapitalize: 'off',
        }),
    );
}

async function submit(event, signedIn) {
    event.preventDefault();
    const form = event.target,
        button = form.querySelector('button'),
        said = form.querySelector('.said');
    button.disabled = true;
    morph(said);
    try {
        const body = Object.fromEntries(new FormData(form));
        const doc = await send('POST', 'session', body);
        signedIn(doc.login === undefined ? await get('session') : doc);
    } catch (error) {
        morph(said, problemBox(error));
        form.password.value = '';
        form.password.focus();
    } finally {
        button.disabled = false;
    }
}

/* Why the sign-in is here again; `ended` is the session that was; undecided: a change had no answer because of it. */
const sessionEnded = ({ idle_seconds, limit_seconds, undecided }) =>
    h(
        'div.notice.ended',
        { key: 'ended', role: 'alert' },
        icon('clock'),
        h(
            'div',
            null,
            h('p', null, h('strong', null, 'Your session has ended.'), ' Sign in to continue where you were.'),
            undecided && h('p', null, 'Your last change may have been done, or not: look before you ask for it again.'),
            h(
                'p.note',
                null,
                `A session ends ${span(idle_seconds)} after its last request, ${span(limit_seconds)} after the sign-in, when the console or PostgreSQL restarts, and when the login loses its rights.`,
            ),
        ),
    );

export function signIn(signedIn, clusters, ended) {
    return h(
        'main.alone',
        { key: 'sign-in' },
        h('h1', { tabindex: '-1' }, 'Lockstep'),
        clusterSwitch(clusters),
        ended && sessionEnded(ended),
        h(
            'form.sign-in',
            { on: { submit: (e) => submit(e, signedIn) } },
            h(
                'p',
                null,
                'Sign in with a PostgreSQL login that is a member of ',
                h('code', null, 'lockstep_monitor'),
                ' or ',
                h('code', null, 'lockstep_operator'),
                '.',
            ),
            field('login', 'Login', 'text', 'username', ended?.login),
            field('password', 'Password', 'password', 'current-password'),
            h('div.said', { 'aria-live': 'polite' }),
            h('div.buttons', null, h('button.primary', { type: 'submit' }, 'Sign in')),
        ),
    );
}
