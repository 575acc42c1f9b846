/* trouble.js: what stops a queue, the same way on each page: a word with its icon and colour, the sentence of `lockstep queue explain`, and what to do.
 */
import { h } from './dom.js';
import { badge } from './badge.js';
import { queueLink } from './parts.js';
import { count, plural, when } from './format.js';

const WORDS = {
    queue_halted: 'halted',
    queue_paused: 'paused',
    no_executor: 'no executor',
    executors_drain: 'draining',
    executors_held: 'held',
    executors_without_readers: 'no readers',
    executor_silent: 'frozen',
    executor_without_login: 'no login',
    executor_cut_off: 'no Kafka',
    topic_unreadable: 'no topic',
    readers_cut_off: 'fewer readers',
    queue_set_aside: 'set aside',
};

/* The state of a queue in one word. It has work: `active`, or its number of open runs. */
export function stateOf(q) {
    const state = q.status ?? q.state ?? (q.halted_at ? 'halted' : q.paused ? 'paused' : 'open');
    return state === 'open' && q.executors === 0 && hasWork(q) ? 'no executor' : state;
}

const hasWork = (q) => q.active ?? q.active_runs > 0;

export const stops = (q) => stateOf(q) === 'halted' || (hasWork(q) && stateOf(q) !== 'open');

/* Of a queue of which only its state is known. */
export const troubleOf = (q) =>
    stateOf(q) === 'no executor'
        ? { queue: q.queue, word: 'no executor', sentence: `no executor works for queue ${q.queue}, which has work`, helps: `lockstep executor run --queue ${q.queue}` }
        : { queue: q.queue, word: stateOf(q), sentence: `queue ${q.queue} does nothing`, helps: `lockstep queue explain ${q.queue}` };

/* [{queue, word, sentence, since, helps}] of the queues of the overview, which says why of the first ten */
export const troublesOf = (queues) =>
    queues.flatMap((q) => {
        const said = (q.troubles ?? []).map((t) => ({ queue: q.queue, word: WORDS[t.reason] ?? t.reason, ...t }));
        return said.length ? said : stops(q) ? [troubleOf(q)] : [];
    });

/* More queues than this in the same trouble are said at once. */
const ALIKE = 3;
const NAMED = 12;

function one(t) {
    return h(
        'li',
        { key: `${t.queue} ${t.sentence}` }, // two executors of a queue may be in the same trouble
        h('div', null, badge(t.word), ' ', queueLink(t.queue), t.since && h('span.note', null, ' since ', when(t.since))),
        h('p', null, t.sentence),
        t.helps && h('p.hint', null, h('code', null, t.helps)),
    );
}

function many(word, all) {
    const first = all.find((t) => t.since) ?? all[0],
        rest = all.length - NAMED;
    return h(
        'li.wide',
        { key: word },
        h(
            'div',
            null,
            badge(word),
            ` ${plural(all.length, 'queue')}: `,
            all.slice(0, NAMED).map((t, i) => [i > 0 && ', ', queueLink(t.queue)]),
            rest > 0 && [' and ', h('a', { href: 'queues' }, `${count(rest)} more`)],
        ),
        h('p', null, first.sentence, first.since && h('span.note', null, ', since ', when(first.since))),
        first.helps && h('p.hint', null, h('code', null, first.helps), ' and so for each of them'),
    );
}

export function troubleList(troubles) {
    const words = Map.groupBy(troubles, (t) => t.word);
    return h(
        'ul.troubles',
        { 'aria-label': 'what needs somebody' },
        [...words].map(([word, all]) => (all.length > ALIKE ? many(word, all) : all.map(one))),
    );
}
