/* actions.js: what an operator may do to runs, tasks, queues, executors, jobs and alerts: for each action when it is legal, what it
 * will do in words, and the request. A monitor sees no buttons.
 */
import { h } from './dom.js';
import { ask } from './dialog.js';
import { seg } from './api.js';
import { plural } from './format.js';

const ENDED = ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'];
const runOpen = (r) => !ENDED.includes(r.status);
const stopping = (x) => x.cancelled_by != null; // a run or a task that is being cancelled
const runHeld = (r) => runOpen(r) && (r.status === 'Paused' || r.paused_by != null);

/* The counts of one run as words, `all` where they are not known. */
const amount = (counts, one, many, all) => (counts.every((n) => n == null) ? all : plural(counts.reduce((sum, n) => sum + (n ?? 0), 0), one, many));

/* A run that is paused before it has begun is Published still. */
export const runState = (r) => (runHeld(r) ? 'Paused' : r.status);

export const RUN_ACTIONS = {
    pause: {
        word: 'Pause',
        legal: (r) => ['Published', 'Running'].includes(runState(r)) && !stopping(r),
        effect: () => ['No further task of it starts.', 'Tasks that run now end as they would.'],
    },
    resume: {
        word: 'Resume',
        legal: runHeld,
        effect: () => [
            'Its tasks start again; its next phase opens when the open one is done.',
            'A run that was paused by a failure may end as PartiallyCompleted.',
        ],
    },
    retry: {
        word: 'Retry',
        legal: (r) =>
            ['Failed', 'PartiallyCompleted', 'Cancelled', 'Paused'].includes(r.status) && !r.swept && !(runOpen(r) && stopping(r)),
        effect: (r) => [
            `${amount([r?.failed, r?.cancelled], 'failed or cancelled task', undefined, 'Failed and cancelled tasks')} become Pending and run again, in the order of their phases.`,
            'Completed tasks are not run again.',
        ],
    },
    cancel: {
        word: 'Cancel',
        danger: true,
        legal: (r) => runOpen(r) && !stopping(r),
        effect: (r) => [
            `${amount([r?.pending, r?.error], 'task that has not started', 'tasks that have not started', 'Tasks that have not started')} become Cancelled.`,
            `${amount([r?.processing], 'running task', undefined, 'Running tasks')} are stopped; what they did in a transaction is rolled back.`,
            'The effects of completed tasks stay.',
        ],
    },
    end: {
        word: 'End',
        danger: true,
        single: true,
        legal: (r) => runOpen(r) && !runHeld(r) && !stopping(r) && r.published_at == null && r.end_tasks == null,
        effect: () => [
            'Its end has not come. It is closed as if its producer had given it up: no more of it is run.',
            'Tasks of its open phase finish; those of later phases become Cancelled.',
            'What is still on the topic of it is rejected when it is claimed.',
            'It is refused while its producer is publishing.',
        ],
    },
};

/* What is done with several runs at once. */
export const MANY = Object.entries(RUN_ACTIONS).filter(([, action]) => !action.single);

/* A request does it for some seconds and says which runs are left; these are asked for again. */
async function sendRuns(name, reason, which, change) {
    const all = { done: 0, refused: [], left: [] };
    for (let next = which; next; next = all.left.length ? { runs: all.left } : null) {
        try {
            const doc = await change('POST', 'runs/actions', { action: name, reason, ...next });
            all.done += doc.done;
            all.refused.push(...doc.refused);
            all.left = doc.left;
        } catch (problem) {
            if (next === which) throw problem;
            return { ...all, problem };
        }
    }
    return all;
}

function leavings(doc) {
    return doc.left.length ? `; ${plural(doc.left.length, 'run')} left: ${doc.problem.message}` : '';
}

function refusals(doc) {
    return doc.refused?.length ? `; ${plural(doc.refused.length, 'run')} refused: ${doc.refused[0].detail}` : '';
}

export function runAction(name, run, after) {
    const action = RUN_ACTIONS[name];
    ask({
        title: `${action.word} run ${run.name ?? run.run_id.slice(0, 8)}`,
        confirm: `${action.word} the run`,
        danger: action.danger,
        effect: [`Queue ${run.queue}, status ${run.status}.`, ...action.effect(run)],
        act: (values, change) => change('POST', `runs/${seg(run.run_id)}/${name}`, values),
        done: () => `${action.word}: done.`,
        after,
    });
}

export function runsAction(name, { runs, filter, total }, after) {
    const action = RUN_ACTIONS[name],
        many = runs ? plural(runs.length, 'run') : `all ${total} that match, the newest 1,000 at most,`;
    ask({
        title: `${action.word} ${many}`,
        confirm: `${action.word} ${many}`,
        danger: action.danger,
        effect: [
            runs
                ? `${plural(runs.length, 'selected run')}.`
                : `Every run with ${
                      Object.entries(filter)
                          .map(([k, v]) => `${k} ${v}`)
                          .join(', ') || 'no filter'
                  }: ${total} of them now.`,
            ...action.effect(null),
            'Runs whose state does not allow it are refused, and the answer says which.',
        ],
        act: ({ reason }, change) => sendRuns(name, reason, runs ? { runs } : { filter }, change),
        done: (doc) => `${plural(doc.done, 'run')} done${refusals(doc)}${leavings(doc)}.`,
        after,
    });
}

export function runButtons(run, after) {
    return Object.entries(RUN_ACTIONS)
        .filter(([, a]) => a.legal(run))
        .map(([name, a]) =>
            h('button', { type: 'button', key: name, on: { click: () => runAction(name, run, after) } }, `${a.word} …`),
        );
}

/* What an executor runs is stopped before its end is declared; the token of a worker is void then. */
const runs = (t) => t.status === 'Processing' && t.type !== 'external';

export const TASK_ACTIONS = {
    retry: {
        word: 'Retry',
        legal: (t) =>
            ['Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted'].includes(t.status) ||
            (['Error', 'Paused'].includes(t.status) && !stopping(t)),
        effect: (t) =>
            t.status === 'Paused'
                ? ['It is released: it becomes Pending and runs.']
                : ['It becomes Pending and runs again.', 'An ended run is open again.'],
    },
    cancel: {
        word: 'Cancel',
        danger: true,
        legal: (t) => ['Pending', 'Processing', 'Error', 'Paused'].includes(t.status) && !stopping(t),
        effect: (t) => [
            t.status === 'Processing'
                ? 'It is stopped; what it did in a transaction is rolled back. It becomes Terminated.'
                : 'It becomes Cancelled and does not run.',
            'Its phase does not wait for it.',
        ],
    },
    complete: {
        word: 'Declare done',
        legal: (t) => ['Failed', 'Cancelled', 'Terminated', 'Pending', 'Error', 'Processing'].includes(t.status) && !runs(t),
        effect: () => ['It becomes Completed without being run.', 'The next phase may open.'],
    },
    fail: {
        word: 'Fail',
        danger: true,
        legal: (t) => ['Processing', 'Error', 'Pending'].includes(t.status) && !runs(t),
        effect: () => ['It becomes Failed; no further attempt is made.', 'The failure policy of its run applies.'],
    },
};

export function taskButtons(task, after) {
    return Object.entries(TASK_ACTIONS)
        .filter(([, a]) => a.legal(task))
        .map(([name, a]) =>
            h(
                'button',
                {
                    type: 'button',
                    key: name,
                    on: {
                        click: () =>
                            ask({
                                title: `${a.word}: task ${task.name ?? `#${task.task_id}`}`,
                                confirm: a.word,
                                danger: a.danger,
                                effect: [
                                    `It is ${task.status}, attempt ${task.attempt ?? task.attempt_num ?? 1}.`,
                                    ...a.effect(task),
                                ],
                                act: (values, change) => change('POST', `tasks/${seg(task.task_id)}/${name}`, values),
                                done: () => `${a.word}: done.`,
                                after,
                            }),
                    },
                },
                `${a.word} …`,
            ),
        );
}

/* One button that asks and posts: for everything that needs no table. Beside the members of `ask`: method, path, body(values), inline. */
export function actionButton(label, { method = 'POST', path, body = (values) => values, inline, ...spec }) {
    const asked = {
        title: label,
        confirm: label,
        done: () => `${label}: done.`,
        act: (values, change) => change(method, path, body(values)),
        ...spec,
    };
    return h(
        'button',
        { type: 'button', key: label, class: spec.danger && inline ? 'danger' : null, disabled: spec.disabled, on: { click: () => ask(asked) } },
        `${label} …`,
    );
}
