#!/bin/bash
# The console's API agrees with its OpenAPI document: schemathesis sends each operation values that fit the document and
# values that do not, those at the edges first. No answer is a 5xx. Each answer has a status, a type and a shape that
# the document names. A fitting request is not refused as wrong, and any other is refused. The first pass has made-up
# names and numbers, the second one those of an existing queue, run, task and job. The event stream has no end and is
# left out, and so is the document itself: e2e.console reads them.
# LOCKSTEP_TEST_EXAMPLES (default 8, more than ten thousand cases) is the number of values of each kind for an
# operation, LOCKSTEP_TEST_SEED (default 1) their seed. ./dev fuzz --console sends more, under a new seed.
# ctest: nosan long timeout=600
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
schemathesis=$(realpath "$here/../../build")/schemathesis/bin/schemathesis
if [ ! -x "$schemathesis" ]; then
    echo '1..0 # skip: schemathesis is missing: ./dev setup test'
    exit 0
fi
examples=${LOCKSTEP_TEST_EXAMPLES:-8} seed=${LOCKSTEP_TEST_SEED:-1}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --max-attempts 1 --on-failure pause >/dev/null
run=$(lockstep publish --queue "$q" -q - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1 / 0", "name": "fails"}')
executors 1 "$q" 3
eventually 60 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Paused
lockstep job apply - \
    -q <<<"{\"job\": \"nightly\", \"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}], \"schedules\": [{\"name\": \"day\", \"kind\": \"interval\", \"every\": \"24h\"}]}" >/dev/null
sql "INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
     SELECT 'nightly', 'missed', now(), now(), now(), now(), 'sentence';
     INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
     SELECT queue_id, 1000, 'bad_json', 'detail', '\xff00' FROM lockstep.queue" >/dev/null
token=$(lockstep console token create fuzzer --role operator -q)
console_start

# asks NAME [LINE...]: the lines are schemathesis.toml's, which gives values to parameters of the path
asks() {
    local name=$1 path found
    shift
    mkdir -p "$tmp/$name"
    # 413: a list of too many members may be a body of too many bytes
    printf '%s\n' '[checks]' \
        'negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422]' \
        '[parameters]' "$@" >"$tmp/$name/schemathesis.toml"
    # The document cannot say which parameters a job has, which times are to come, and which SQL is a task.
    for path in 'POST /jobs/{job}/run' 'POST /jobs/{job}/silence' 'POST /jobs/{job}/backfill' \
        'POST /queues/{queue}/runs' 'PUT /jobs/{job}' 'POST /jobs/{job}/schedules' \
        'PUT /jobs/{job}/schedules/{schedule}' 'POST /schedules/explain' 'POST /rejected/{rejected}/redrive' \
        'POST /rejected/redrive' 'POST /jobs'; do
        printf '%s\n' '[[operations]]' "include-name = \"$path\"" \
            'checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409]'
    done >>"$tmp/$name/schemathesis.toml"
    # All else is asked of a queue that stays.
    printf '%s\n' '[[operations]]' 'include-name = "DELETE /queues/{queue}"' '[operations.parameters]' \
        '"path.queue" = "none"' >>"$tmp/$name/schemathesis.toml"
    (cd "$tmp/$name" && "$schemathesis" --config-file schemathesis.toml run "${url}api/v1/openapi.json" \
        -H "Authorization: Bearer $token" --exclude-path /stream --phases coverage,fuzzing \
        -n "$examples" --seed "$seed" --continue-on-failure --generation-database none --generation-allow-x00 false \
        --suppress-health-check all --warnings off --no-color) \
        >"$tmp/$name/said" 2>&1 && found=0 || found=$?
    sed -nE 's/^  ([0-9]+ generated.*)/# \1/p; s/^Seed: /# seed /p' "$tmp/$name/said"
    [ "$found" = 0 ] || cat "$tmp/$name/said"
    expect 'what was found' "$found" 0
    expect 'each operation was asked' "$(sed -nE 's/^  Tested: ([0-9]+).*/\1/p' "$tmp/$name/said")" "$operations"
}
api GET api/v1/openapi.json
operations=$(api_is \
    '[.paths | to_entries[] | select(.key != "/stream" and .key != "/openapi.json") | .value | keys[]] | length')
expect 'operations' "$((operations > 50))" 1

case_begin 'each operation answers what the document says, whatever it is asked'
asks made_up

case_begin 'and so with what there is'
asks there_is "\"path.queue\" = \"$q\"" "\"path.run\" = \"$run\"" \
    "\"path.task\" = $(sql 'SELECT min(task_id) FROM lockstep.task')" '"path.job" = "nightly"' \
    "\"path.alert\" = $(sql 'SELECT min(alert_id) FROM lockstep.job_alert')" \
    "\"path.rejected\" = $(sql 'SELECT min(rejected_id) FROM lockstep.rejected_message')"

case_begin 'the console lives, and no statement failed in a way that it does not know'
api GET readyz
expect 'it is ready' "$status" 200
expect 'its log' \
    "$(grep ' level=' "$tmp/console.log" | grep -v ' level=info ' | grep -v event=sign_in_refused | head -n 5)" ''
console_stop
expect 'its exit' "$?" 0
cases_end
exit $failed
