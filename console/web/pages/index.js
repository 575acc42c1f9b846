/* index.js: the list of the pages. A page is one file with one export:
 *
 *   export const page = {
 *     title(params)            for the window and the heading
 *     load(ctx)                -> data: reads documents, ctx.get(path) or ctx.optional(path); called again when something changed
 *     view(data, ctx)          -> nodes: a pure function of both; called for each change of data, of ctx.state and of the zone
 *     watches: ['run', ...]    events of the stream after which it is loaded again
 *     concerns(event, ctx)     optional: whether this event is about what is shown
 *     every: 5                 optional: loaded again after so many seconds, for what has no events
 *     keys: {'c': ['cancel the run', (ctx) => ...]}   optional: shortcuts of this page
 *   }
 *
 * ctx: {params (of the path), query (URLSearchParams), state (an object of this visit), session, get, optional, redraw(), reload()}
 */
function from(name) {
    let failures = 0; // a browser may remember a module that did not come: it is asked for by another address then
    return async () => {
        try {
            return (await import(`./${name}.js${failures ? `?${failures}` : ''}`)).page;
        } catch (error) {
            failures++;
            throw error;
        }
    };
}

/* path, the file, the word of the menu, the key after g, the group of the menu; many: only where there are several databases */
export const PAGES = [
    { path: '', load: from('overview'), menu: 'Overview', key: 'o', group: 'Now' },
    { path: 'clusters', load: from('clusters'), menu: 'Databases', key: 'd', group: 'Now', many: true },
    { path: 'runs', load: from('runs'), menu: 'Runs', key: 'r', group: 'Now' },
    { path: 'runs/:id', load: from('run'), under: 'runs' },
    { path: 'tasks', load: from('tasks'), menu: 'Tasks', key: 't', group: 'Now' },
    { path: 'tasks/:id', load: from('task'), under: 'tasks' },
    { path: 'queues', load: from('queues'), menu: 'Queues', key: 'q', group: 'Now' },
    { path: 'queues/:name', load: from('queue'), under: 'queues' },
    { path: 'executors', load: from('executors'), menu: 'Executors', key: 'e', group: 'Now' },
    { path: 'locks', load: from('locks'), menu: 'Locks', key: 'k', group: 'Now' },
    { path: 'jobs', load: from('jobs'), menu: 'Jobs', key: 'j', group: 'Schedule' },
    { path: 'jobs/:name', load: from('job'), under: 'jobs' },
    { path: 'missed', load: from('missed'), menu: 'Missed and stuck', key: 'm', group: 'Schedule' },
    { path: 'log', load: from('log'), menu: 'Log', key: 'l', group: 'Look back' },
    { path: 'rejected', load: from('rejected'), menu: 'Rejected', key: 'x', group: 'Look back' },
    { path: 'rejected/:id', load: from('rejected_message'), under: 'rejected' },
    { path: 'replay', load: from('replay'), menu: 'Replay', key: 'y', group: 'Look back' },
    { path: 'system', load: from('system'), menu: 'System', key: 's', group: 'Look back' },
];
