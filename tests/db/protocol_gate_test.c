/* Gates, final failures and the ends of runs, of two sessions at once; as protocol_claim_test.c.
 * ctest: notsan */
#include "db/backend.h"
#include "tests/db/other.h"
#include "tests/db/protocol.h"

static const char *gate_text(struct str *to, struct db *db, int64_t queue, int order)
{
    str_clear(to);
    str_format(to, "SELECT verdict FROM lockstep.gate(%lld, 500)",
               (long long)phase_id(db, queue, order));
    return to->data;
}

static int intents(struct db *db, int64_t queue, int order)
{
    return (int)support_int(db,
                            "SELECT count(*) FROM lockstep.lock_list() WHERE mode = 'intent' AND "
                            "state = 'held' AND phase_id = %lld",
                            (long long)phase_id(db, queue, order));
}

static void two_gates_open_a_phase_once_and_both_may_run_it(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 200, 100);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    support_exec(watcher, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    (void)gate_text(&sql, watcher, queue, 200);
    /* Not by the gate's own transaction, which holds the advisory locks to its end: its rows
     * only. */
    support_exec(one, "BEGIN; SELECT FROM lockstep.phase WHERE phase_id = %lld FOR NO KEY UPDATE",
                 (long long)phase_id(watcher, queue, 100));
    start(&other, two, sql.data);
    await_blocked(watcher, two, one);
    support_exec(one, "UPDATE lockstep.phase SET opened_at = now() WHERE phase_id = %lld; COMMIT",
                 (long long)phase_id(watcher, queue, 200));
    assert_string_equal(finish(&other), "open");
    assert_string_equal(support_text(one, "%s", sql.data), "open");
    assert_int_equal(intents(watcher, queue, 100), 2);
    db_close(one);
    db_close(two);
    db_close(watcher);
}

/* Three phases, the first one done; holder has S of the others. A gate for the third one is seen to
 * wait for it. */
static int64_t wait_behind(struct db *holder, struct db *gate, struct db *watcher,
                           struct other *other)
{
    int64_t queue = new_queue(holder, "stop");
    STR_AUTO sql = {0};
    claim(holder, queue, 0, 1, 100, 0);
    claim(holder, queue, 1, 1, 200, 100);
    claim(holder, queue, 2, 1, 300, 200);
    support_exec(holder, "%s", complete_text(&sql, holder, queue, 0));
    support_exec(holder, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(holder, queue, 100));
    start(other, gate, gate_text(&sql, watcher, queue, 300));
    await_blocked(watcher, gate, holder);
    return queue;
}

static void a_gate_waits_for_who_has_the_phase_before_and_not_for_what_he_opens(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    STR_AUTO sql = {0};
    struct other other;
    int64_t queue = wait_behind(one, two, watcher, &other);
    assert_string_equal(support_text(one,
                                     "SELECT verdict FROM lockstep.gate(%lld, 0)", /* at once */
                                     (long long)phase_id(watcher, queue, 200)),
                        "opened");
    support_exec(one, "%s", complete_text(&sql, watcher, queue, 1));
    support_exec(one, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 200));
    assert_string_equal(finish(&other), "opened");
    assert_int_equal(intents(watcher, queue, 200), 1);
    support_exec(two, "SELECT lockstep.unlock_intent(%lld)",
                 (long long)phase_id(watcher, queue, 200));
    assert_int_equal(intents(watcher, queue, 200), 0);
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_gate_opens_what_comes_before_when_its_owner_lets_go(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    STR_AUTO sql = {0};
    struct other other;
    int64_t queue = wait_behind(one, two, watcher, &other);
    support_exec(one, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 200));
    assert_string_equal(finish(&other), "wait");
    assert_int_equal(intents(watcher, queue, 200), 0);
    assert_string_equal(support_text(two, "%s", gate_text(&sql, watcher, queue, 300)), "opened");
    assert_int_equal(intents(watcher, queue, 100), 1);
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_gate_keeps_nothing_when_its_phase_is_deleted(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    struct other other;
    int64_t queue = wait_behind(one, two, watcher, &other);
    support_exec(watcher, "DELETE FROM lockstep.task WHERE queue_id = %lld AND \"order\" = 300",
                 (long long)queue);
    support_exec(watcher, "DELETE FROM lockstep.phase WHERE phase_id = %lld",
                 (long long)phase_id(watcher, queue, 300));
    support_exec(one, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 200));
    assert_string_equal(finish(&other), "nothing");
    assert_int_equal(intents(watcher, queue, 200), 0);
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_gate_sees_what_was_committed_while_it_waited(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 200, 100);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    support_exec(watcher, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    /* A retry: the finished task waits again. The gate came first and waits for the row. */
    support_exec(one,
                 "BEGIN; SELECT FROM lockstep.phase WHERE queue_id = %lld ORDER BY \"order\" "
                 "FOR UPDATE",
                 (long long)queue);
    start(&other, two, gate_text(&sql, watcher, queue, 200));
    await_blocked(watcher, two, one);
    support_exec(one,
                 "UPDATE lockstep.task SET status = 'Pending' WHERE queue_id = %lld AND "
                 "kafka_offset = 0; COMMIT",
                 (long long)queue);
    assert_string_equal(finish(&other), "orphans");
    assert_string_equal(
        support_text(watcher,
                     "SELECT coalesce(opened_at::text, 'closed') FROM lockstep.phase "
                     "WHERE phase_id = %lld",
                     (long long)phase_id(watcher, queue, 200)),
        "closed");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_gate_does_not_open_behind_a_phase_that_is_closed_while_it_waits(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 200, 100);
    claim(watcher, queue, 2, 1, 300, 200);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 1));
    support_exec(
        watcher,
        "UPDATE lockstep.phase SET opened_at = now() WHERE queue_id = %lld AND \"order\" = "
        "200; SELECT lockstep.unlock_shared(%lld)",
        (long long)queue, (long long)phase_id(watcher, queue, 200));
    /* A retry in phase 100 closes 200, whose own tasks are finished. */
    support_exec(one,
                 "BEGIN; SELECT FROM lockstep.phase WHERE queue_id = %lld ORDER BY \"order\" "
                 "FOR UPDATE",
                 (long long)queue);
    start(&other, two, gate_text(&sql, watcher, queue, 300));
    await_blocked(watcher, two, one);
    support_exec(
        one,
        "UPDATE lockstep.task SET status = 'Pending' WHERE queue_id = %lld AND kafka_offset "
        "= 0; UPDATE lockstep.phase SET opened_at = NULL WHERE queue_id = %lld AND "
        "\"order\" = 200; COMMIT",
        (long long)queue, (long long)queue);
    assert_string_equal(finish(&other), "wait");
    assert_string_equal(
        support_text(
            watcher,
            "SELECT string_agg((opened_at IS NOT NULL)::text, ' ' ORDER BY \"order\") FROM "
            "lockstep.phase WHERE queue_id = %lld",
            (long long)queue),
        "true false false");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_gate_does_not_open_what_is_cancelled_while_it_waits(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 200, 100);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    support_exec(watcher, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    support_exec(one,
                 "BEGIN; SELECT lockstep.run_stop(max(run_no), 0, 'x') FROM lockstep.run WHERE "
                 "queue_id = %lld",
                 (long long)queue);
    start(&other, two, gate_text(&sql, watcher, queue, 200));
    await_blocked(watcher, two, one);
    support_exec(one, "COMMIT");
    assert_string_equal(finish(&other), "gone");
    assert_string_equal(statuses(watcher, queue), "Completed Cancelled");
    assert_int_equal(support_int(watcher,
                                 "SELECT count(*) FROM lockstep.phase WHERE queue_id = %lld AND "
                                 "opened_at IS NOT NULL",
                                 (long long)queue),
                     1);
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_claim_of_a_later_phase_that_waits_for_the_final_failure_is_cancelled(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(two, queue, 0, 1, 100, 0);
    support_exec(one, "BEGIN; %s", fail_text(&sql, watcher, queue, 0));
    start(&other, two, claim_text(&sql, queue, 2, 1, 2, 200, 100));
    await_blocked(watcher, two, one);
    support_exec(one, "COMMIT");
    assert_string_equal(finish(&other), "cancelled 2");
    assert_string_equal(statuses(watcher, queue), "Failed Cancelled Cancelled");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_final_failure_that_waits_for_the_claim_of_a_later_phase_cancels_it(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(one, queue, 0, 1, 100, 0);
    (void)fail_text(&sql, watcher, queue, 0);
    support_exec(one, "BEGIN");
    claim(one, queue, 1, 2, 200, 100);
    start(&other, two, sql.data);
    await_blocked(watcher, two, one);
    support_exec(one, "COMMIT");
    assert_string_equal(finish(&other), "Failed");
    assert_string_equal(statuses(watcher, queue), "Failed Cancelled Cancelled");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_failure_and_an_opening_gate_never_start_what_the_failure_cancels(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    struct other other;
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    claim(two, queue, 0, 1, 100, 0);
    claim(two, queue, 1, 1, 200, 100);
    support_exec(two, "SELECT lockstep.unlock_shared(%lld)", (long long)phase_id(two, queue, 100));
    support_exec(one, "BEGIN; %s", fail_text(&sql, two, queue, 0));
    start(&other, two, gate_text(&sql, watcher, queue, 200));
    await_blocked(watcher, two, one); /* the failure has the row of the phase that it cancels */
    support_exec(one, "COMMIT");
    assert_string_equal(finish(&other), "gone");
    assert_string_equal(statuses(two, queue), "Failed Cancelled");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

/* The claim of the end looks for unfinished tasks; then the last one completes, and its executor
 * looks for an end that is not committed yet. One of the two must end the run. */
static void meet(bool stopped, const char *status)
{
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    STR_AUTO release = {0};
    struct other other;
    int tasks = stopped ? 3 : 1, last = stopped ? 1 : 0;
    claim(two, queue, 0, last + 1, 100, 0);
    if (stopped) {
        claim(one, queue, 2, 1, 200, 100);
        support_exec(one, "%s", fail_text(&sql, one, queue, 0));
    }
    str_format(&release, "SELECT ended FROM lockstep.release(%lld, true)",
               (long long)phase_id(watcher, queue, 100));
    support_exec(one, "BEGIN");
    assert_string_equal(
        support_text(one, "%s", end_text(&sql, queue, tasks, tasks, stopped ? 2 : 1)), "ended");
    support_exec(two, "%s", complete_text(&sql, two, queue, last));
    start(&other, two, release.data);
    /* It waits for the claim, or it has answered already: then it must not have missed the end. */
    support_await(watcher, 5000,
                  "SELECT wait_event_type = 'Lock' OR state = 'idle' AND query LIKE '%%release%%' "
                  "FROM pg_stat_activity WHERE pid = %d",
                  db_backend_pid(two));
    support_exec(one, "COMMIT");
    (void)finish(&other);
    assert_string_equal(run_status(watcher, queue), status);
    if (stopped)
        support_exec(one, "SELECT lockstep.unlock_shared(%lld)",
                     (long long)phase_id(watcher, queue, 200));
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_run_ends_when_its_end_and_its_last_task_meet(void **state)
{
    (void)state;
    meet(false, "Completed");
}

/* The phase of the last task is not the last one of the run: the failure has cancelled that. */
static void a_stopped_run_ends_when_its_end_and_its_last_task_meet(void **state)
{
    (void)state;
    meet(true, "Failed");
}

static void a_gate_waits_for_the_shared_lock_and_is_woken_by_its_release(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    STR_AUTO gate = {0};
    struct other other;
    claim(one, queue, 0, 1, 100, 0);
    claim(two, queue, 1, 1, 200, 100);
    support_exec(one, "%s", complete_text(&sql, watcher, queue, 0));
    start(&other, two, gate_text(&gate, watcher, queue, 200));
    await_blocked(watcher, two, one);
    support_exec(one, "SELECT FROM lockstep.release(%lld, true)",
                 (long long)phase_id(watcher, queue, 100));
    assert_string_equal(finish(&other), "opened");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

/* Who ends a run waits for what a gate has in hand before it takes what that gate takes next. A
 * gate's two rows, one after the other. */
static void an_end_takes_rows_in_the_order_of_gates(int tasks_said, const char *said)
{
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 200, 100);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    support_exec(watcher,
                 "UPDATE lockstep.task SET status = 'Cancelled', token = NULL, executor_no = NULL "
                 "WHERE queue_id = %lld AND kafka_offset = 1",
                 (long long)queue);
    /* The older phase's row lies behind the newer one's, as it may after its opening. */
    support_exec(watcher, "CREATE INDEX back ON lockstep.phase (phase_id DESC);"
                          "CLUSTER lockstep.phase USING back; DROP INDEX lockstep.back");
    support_exec(two, "SET enable_indexscan = off; SET enable_bitmapscan = off");
    support_exec(one, "BEGIN; SELECT FROM lockstep.phase WHERE phase_id = %lld FOR NO KEY UPDATE",
                 (long long)phase_id(watcher, queue, 100));
    start(&other, two, end_text(&sql, queue, 2, tasks_said, 2));
    await_blocked(watcher, two, one);
    support_exec(
        one, "SELECT FROM lockstep.phase WHERE phase_id = %lld FOR NO KEY UPDATE NOWAIT; COMMIT",
        (long long)phase_id(watcher, queue, 200));
    assert_string_equal(finish(&other), said);
    support_exec(watcher, "SELECT pg_advisory_unlock_all()");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void an_end_does_not_deadlock_with_a_gate(void **state)
{
    (void)state;
    an_end_takes_rows_in_the_order_of_gates(2, "ended Completed");
}

static void an_end_that_stops_its_run_does_not_deadlock_with_a_gate(void **state)
{
    (void)state;
    an_end_takes_rows_in_the_order_of_gates(3, "ended Failed");
}

/* The gate of a later run has its run when it asks for the last phase of the run before. */
static void giving_up_in_several_runs_takes_runs_before_phases(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(watcher, queue, 0, 1, 100, 0);
    claim(watcher, queue, 1, 1, 150, 100);
    claim_second(watcher, queue, 2);
    support_exec(watcher,
                 "UPDATE lockstep.task SET lost_num = 5, executor_no = NULL, token = NULL "
                 "WHERE queue_id = %lld AND kafka_offset <> 1; SELECT pg_advisory_unlock_all()",
                 (long long)queue);
    support_exec(one,
                 "BEGIN; SELECT FROM lockstep.run WHERE queue_id = %lld AND first_offset = 2 "
                 "FOR NO KEY UPDATE",
                 (long long)queue);
    str_format(&sql, "SELECT lockstep.give_up(%lld)", (long long)queue);
    start(&other, two, sql.data);
    await_blocked(watcher, two, one);
    support_exec(
        one, "SELECT FROM lockstep.phase WHERE phase_id = %lld FOR NO KEY UPDATE NOWAIT; COMMIT",
        (long long)phase_id(watcher, queue, 100));
    assert_string_equal(finish(&other), "2");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_end_does_not_deadlock_with_a_gate, teardown),
        cmocka_unit_test_teardown(an_end_that_stops_its_run_does_not_deadlock_with_a_gate,
                                  teardown),
        cmocka_unit_test_teardown(giving_up_in_several_runs_takes_runs_before_phases, teardown),
        cmocka_unit_test_teardown(two_gates_open_a_phase_once_and_both_may_run_it, teardown),
        cmocka_unit_test_teardown(
            a_gate_waits_for_who_has_the_phase_before_and_not_for_what_he_opens, teardown),
        cmocka_unit_test_teardown(a_gate_opens_what_comes_before_when_its_owner_lets_go, teardown),
        cmocka_unit_test_teardown(a_gate_keeps_nothing_when_its_phase_is_deleted, teardown),
        cmocka_unit_test_teardown(a_gate_sees_what_was_committed_while_it_waited, teardown),
        cmocka_unit_test_teardown(a_gate_does_not_open_behind_a_phase_that_is_closed_while_it_waits,
                                  teardown),
        cmocka_unit_test_teardown(a_gate_does_not_open_what_is_cancelled_while_it_waits, teardown),
        cmocka_unit_test_teardown(
            a_claim_of_a_later_phase_that_waits_for_the_final_failure_is_cancelled, teardown),
        cmocka_unit_test_teardown(
            a_final_failure_that_waits_for_the_claim_of_a_later_phase_cancels_it, teardown),
        cmocka_unit_test_teardown(
            a_failure_and_an_opening_gate_never_start_what_the_failure_cancels, teardown),
        cmocka_unit_test_teardown(a_run_ends_when_its_end_and_its_last_task_meet, teardown),
        cmocka_unit_test_teardown(a_stopped_run_ends_when_its_end_and_its_last_task_meet, teardown),
        cmocka_unit_test_teardown(a_gate_waits_for_the_shared_lock_and_is_woken_by_its_release,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
