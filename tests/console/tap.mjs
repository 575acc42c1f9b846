/* tap.mjs: the sentences that a script checks, one a line, as TAP has them. */
let passed = 0,
    failed = 0;

export function check(sentence, ok, found = '') {
    console.log(`${ok ? 'ok' : 'not ok'} ${passed + failed + 1} - ${sentence}${ok ? '' : `: ${found}`}`);
    if (ok) passed++;
    else failed++;
}

export function done() {
    console.log(`1..${passed + failed}`);
    process.exit(failed > 0 || passed === 0 ? 1 : 0);
}
