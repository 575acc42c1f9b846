/* explain.js: why something is as it is, in the words of `lockstep ... explain`, each line with what to do. */
import { h } from './dom.js';
import { panel, problemBox } from './parts.js';
import { when } from './format.js';
import { taskLink, runLink, queueLink } from './parts.js';

function lineText(line) {
    return line.sentence ?? line.what ?? line.text ?? line.detail ?? line.reason ?? '';
}

/* What is true of several sessions is said once. */
const unique = (lines) => [...new Map(lines.map((line) => [JSON.stringify(line), line])).values()];

function explained(doc) {
    if (doc.problem) return problemBox(doc.problem);
    const lines = unique(doc.lines ?? doc.items ?? []);
    if (lines.length === 0) return h('p.empty', null, 'There is nothing to explain.');
    return h(
        'ul.explain',
        null,
        lines.map((line) =>
            h(
                'li',
                null,
                lineText(line),
                line.task_id && [' ', taskLink(line.task_id)],
                line.run_id && lines.some((l) => l.run_id !== line.run_id) && [' ', runLink(line.run_id)],
                line.queue && lines.some((l) => l.queue !== line.queue) && [' ', queueLink(line.queue)],
                line.since && h('span.note', null, ', since ', when(line.since)),
                (line.helps ?? line.hint) && h('span.hint', null, line.helps ?? line.hint),
            ),
        ),
    );
}

const TITLE = 'Why it is so';

export const explainPanel = (doc, title = TITLE) => panel(title, { key: 'explain' }, explained(doc));

/* Of what needs no explanation: closed at first. */
export const explainClosed = (doc) => h('details.all', { key: 'explain' }, h('summary', null, TITLE), explained(doc));
