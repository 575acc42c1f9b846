#!/bin/bash
# The forecast of `queue advise` holds: three shapes of runs with 1, 2, 4 and 8 readers are measured once each, and each
# is forecast with its own number of readers and with the others. The 48 forecasts are within 5 % of the measured times,
# plus the difference that the load of the machine makes between two runs.
# Other work on the machine does not change the length of a task, because tasks sleep. It changes the times around them:
# when a sleeping task is woken, how long a reader takes from one task to the next, how far apart the first readers of a
# phase begin, how long a barrier takes. The forecast has these times of the run that it is made from, and the run that
# it is compared with has its own. The rows of both runs have all of them, so this test computes their difference and
# their spread in SQL, without the code under test. The forecast takes their mean. A pair may differ by that much more
# than 5 %: hardly at all on an idle machine, and by the observed difference on a busy one. An error of the forecast
# itself (the order of tasks, the phases, the reader that is free first) is many times larger. tests/cli/advise.bats has
# the rest of the command.
# ctest: nosan timeout=600 long
. "$(dirname "$0")/../support/e2e.bash"
failed=0

sleeping() { # ORDER NAME SECONDS
    printf '{"order": %d, "name": "%s", "sql": "SELECT pg_sleep(%s)"}\n' "$@"
}
even() { for o in 1 2; do for n in 1 2 3 4 5 6 7 8; do sleeping $o "even $n" 0.5; done; done; }
straggler() {
    for o in 1 2; do
        for n in 1 2 3 4 5 6 7; do sleeping $o "short $n" 0.25; [ $n != 2 ] || sleeping $o long 1.5; done
    done
}
many() { for o in $(seq 12); do for n in 1 2 3; do sleeping "$o" "many $n" 0.2; done; done; }

declare -A queue
arguments=()
for shape in even straggler many; do
    queue[$shape]=$(scratch_name)
    lockstep queue create "${queue[$shape]}" -q --create-topic
    $shape >"$tmp/$shape.jsonl"
    arguments+=(--queue "${queue[$shape]}")
done
daemon "${arguments[@]}" --readers 24

# times RUN N: of a run with N readers, in seconds: took; how many tasks one reader runs at most (chain), in so many
# phases; the means of the excess of a sleep, of a hand-over and of the time between the first readers' starts;
# all barriers; and how much longer than the mean the longest such time of each phase was, added up.
times() {
    sql <<SQL
WITH task AS MATERIALIZED (
    SELECT t."order" AS phase, t.started_at AS s, t.started_at + t.duration AS e,
           extract(epoch FROM t.duration) - substring(t.payload::text, 'pg_sleep\\(([0-9.]+)\\)')::numeric AS late,
           row_number() OVER (PARTITION BY t."order" ORDER BY t.started_at) AS nth_start,
           row_number() OVER (PARTITION BY t."order" ORDER BY t.started_at + t.duration) AS nth_end
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1'),
phase AS MATERIALIZED (
    SELECT t.phase, count(*) AS tasks, LEAST(count(*), $2) AS readers, min(t.s) AS s, max(t.e) AS e,
           max(t.late) - avg(t.late) AS uneven
    FROM task t GROUP BY t.phase),
gap AS (SELECT p.phase, extract(epoch FROM b.s - a.e) AS gap FROM phase p JOIN task b USING (phase)
        JOIN task a ON a.phase = p.phase AND a.nth_end = b.nth_start - p.readers),
ramp AS (SELECT p.phase, extract(epoch FROM t.s - p.s) AS ramp
         FROM phase p JOIN task t ON t.phase = p.phase AND t.nth_start = p.readers),
barrier AS (SELECT extract(epoch FROM p.s - lag(p.e) OVER (ORDER BY p.phase)) AS barrier FROM phase p)
SELECT json_build_object(
    'took', (SELECT extract(epoch FROM max(p.e) - min(p.s)) FROM phase p), 'phases', (SELECT count(*) FROM phase),
    'chain', (SELECT sum(ceil(p.tasks::numeric / p.readers)) FROM phase p),
    'late', (SELECT avg(t.late) FROM task t), 'gap', COALESCE((SELECT avg(g.gap) FROM gap g), 0), 'ramp',
    (SELECT avg(m.ramp) FROM ramp m), 'barrier', (SELECT sum(b.barrier) FROM barrier b),
    'uneven', (SELECT sum(p.uneven) FROM phase p)
    + COALESCE((SELECT sum(x.most) FROM (SELECT max(g.gap) - avg(g.gap) AS most FROM gap g GROUP BY g.phase) x), 0))
SQL
}

# measure SHAPE N: one run of a shape with so many readers: its times to $tmp/SHAPE.N.times, its forecast to
# $tmp/SHAPE.N.json
measure() {
    local q=${queue[$1]} run
    lockstep queue set "$q" --max-readers "$2" -q
    run=$(lockstep publish --queue "$q" --wait -q "$tmp/$1.jsonl")
    times "$run" "$2" >"$tmp/$1.$2.times"
    lockstep queue advise "$q" --runs 1 --readers 8 -o json >"$tmp/$1.$2.json"
}

# judge SHAPE FROM N: whether the forecast from the run with FROM readers is the time of the run with N
judge() {
    jq -nr --argjson n "$3" --arg pair "$1 $2 $3" --slurpfile from "$tmp/$1.$2.times" --slurpfile to \
        "$tmp/$1.$3.times" --slurpfile advice "$tmp/$1.$2.json" '
        $from[0] as $a | $to[0] as $b | $advice[0].readers[$n - 1].makespan_s as $foretold
        | ($b.chain * ($a.late - $b.late | fabs) + ($b.chain - $b.phases) * ($a.gap - $b.gap
            | fabs) + $b.phases * ($a.ramp - $b.ramp | fabs) + ($a.barrier - $b.barrier | fabs)
           + $a.uneven + $b.uneven) as $load
        | if ($foretold - $b.took
            | fabs) <= 0.05 * $b.took + $load then "fits, \($load / $b.took * 100 | round) % for load"
            else "\($pair): \($foretold) s, took \($b.took) s, \($load) s for load" end'
}

case_begin 'a run replayed with its own number of readers, and with another one, takes what it took'
for n in 1 2 4 8; do
    jobs=()
    for shape in "${!queue[@]}"; do
        measure "$shape" "$n" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job" || wrong 'a run could not be measured'; done
done
for shape in "${!queue[@]}"; do
    for from in 1 2 4 8; do
        for n in 1 2 4 8; do judge "$shape" "$from" "$n"; done
    done
done >"$tmp/judged"
expect 'pairs that fit' "$(grep -c '^fits' "$tmp/judged")" 48
[ "$failed" = 0 ] || { grep -v '^fits' "$tmp/judged"; tail -n 5 "$tmp/daemon.log"; }
sort "$tmp/judged" | uniq -c | sort -rn | head -n 5

case_begin 'a queue without a finished run has nothing to replay'
lockstep queue create "$(scratch_name)" -q --create-topic
none=$(sql "SELECT name FROM lockstep.queue ORDER BY queue_id DESC LIMIT 1")
lockstep queue advise "$none" >"$tmp/out" 2>&1 && failed=1
grep -q 'no run that could be replayed has ended' "$tmp/out" || { cat "$tmp/out"; failed=1; }
told_to_end "$daemon"
cases_end
exit $failed
