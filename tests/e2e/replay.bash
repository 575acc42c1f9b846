# tests/e2e/replay.bash: shared by the tests of replay; sourced after shell.bash and ledger.bash. Each run has a tag of
# its own in the ledger, in the place of the queue.
#   flaw ORD            tasks of this order fail from now on; flaw_mended: no more
#   replay ARGS...      on queue $q, the answer as one word a line: order:action:why:messages
#   in_order TAG SINCE  prints where phases of a tag overlap, among tasks that began after SINCE
#   effects TAG         how often its tasks had an effect: times x tasks, ...

replay_create() {
    ledger_create
    sql <<'SQL'
CREATE TABLE flaw (ord bigint);
CREATE TABLE gate_open (yes int); -- what long tasks wait for
CREATE FUNCTION maybe(q text, ord bigint, seq bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM flaw f WHERE f.ord = maybe.ord) THEN RAISE EXCEPTION 'a flaw in order %', ord; END IF;
    PERFORM work(q, ord, seq, 0.005);
END $$;
CREATE FUNCTION hold() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM gate_open) LOOP PERFORM pg_sleep(0.02); END LOOP;
END $$
SQL
}

flaw() { sql "INSERT INTO flaw VALUES ($1)"; }
flaw_mended() { sql "TRUNCATE flaw"; }

# tasks TAG ORDER:COUNT...   JSON Lines of plain tasks
tasks() {
    local tag=$1 part order count i seq=0
    shift
    for part; do
        order=${part%%:*} count=${part##*:}
        for ((i = 0; i < count; i++)); do
            printf '{"order": %d, "sql": "SELECT maybe('\''%s'\'', %d, %d)"}\n' "$order" "$tag" "$order" "$((seq++))"
        done
    done
}

replay() {
    lockstep replay --queue "$q" -o jsonl "$@" 2>"$tmp/said" |
        jq -r '"\(.order // "-"):\(.action):\(.why):\(.messages)"' | paste -sd' '
}

in_order() {
    sql <<SQL
WITH p AS (SELECT ord, min(started) AS s, max(ended) AS e FROM ledger WHERE q = '$1' AND started > '${2:--infinity}'
           GROUP BY ord),
     d AS (SELECT ord, s, lag(e) OVER (ORDER BY ord) AS before FROM p)
SELECT '$1: order ' || ord || ' began ' || before - s || ' before the end of the one before' FROM d WHERE s < before
SQL
}

effects() {
    sql "SELECT string_agg(times || 'x' || tasks, ' ' ORDER BY times) FROM (
             SELECT times, count(*) AS tasks FROM (SELECT count(*) AS times FROM ledger WHERE q = '$1' GROUP BY seq) e
             GROUP BY times) f"
}

run_status() { sql "SELECT status FROM lockstep.run_status WHERE run_id = '$1'"; }
