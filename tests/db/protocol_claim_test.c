/* Claims, adoptions and completions of two sessions at once: each test stops one of them in the
 * middle of its transaction, lets the other one run into it, and names the expected outcome.
 * tests/sql/ has the cases of one session. */
#include "tests/db/other.h"
#include "tests/db/protocol.h"

static void two_claims_of_the_same_offsets_make_each_task_once(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    support_exec(one, "BEGIN");
    claim(one, queue, 0, 3, 100, 0);
    start(&other, two, claim_text(&sql, queue, 2, 0, 5, 100, 0)); /* the same three and two more */
    await_blocked(watcher, two, one);
    support_exec(one, "COMMIT");
    assert_string_equal(finish(&other), "claimed 2");
    assert_string_equal(support_text(watcher,
                                     "SELECT string_agg(kafka_offset || ':' || executor_no, ' ' "
                                     "ORDER BY kafka_offset) FROM lockstep.task WHERE queue_id = "
                                     "%lld",
                                     (long long)queue),
                        "0:1 1:1 2:1 3:2 4:2");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void a_claim_behind_one_that_rolls_back_takes_everything(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    support_exec(one, "BEGIN");
    claim(one, queue, 0, 3, 100, 0);
    start(&other, two, claim_text(&sql, queue, 2, 0, 5, 100, 0));
    await_blocked(watcher, two, one);
    support_exec(one, "ROLLBACK");
    assert_string_equal(finish(&other), "claimed 5");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

#define CLAIMERS 4
#define MESSAGES 200

struct claimer {
    struct db *db;
    int64_t queue;
    int number;
    pthread_t thread;
    enum rc rc;
    struct err err;
};

/* Claims one to five messages at a time of ever the same head, as executors with equal buffers
 * do. */
static void *claim_all(void *context)
{
    struct claimer *claimer = context;
    int at = 0;
    claimer->rc = RC_OK;
    for (unsigned i = 0; claimer->rc == RC_OK && at < MESSAGES; i++) {
        STR_AUTO sql = {0};
        STR_AUTO cursor = {0};
        DB_RESULT_AUTO *result = NULL, *next = NULL;
        int order = 100 * (at / 20 + 1), left = 20 - at % 20, want = 1 + (int)(i % 5);
        claimer->rc = db_script(claimer->db,
                                claim_text(&sql, claimer->queue, claimer->number, at,
                                           want < left ? want : left, order, order - 100),
                                &result, &claimer->err);
        str_format(&cursor, "SELECT next_offset FROM lockstep.queue WHERE queue_id = %lld",
                   (long long)claimer->queue);
        if (claimer->rc == RC_OK)
            claimer->rc = db_script(claimer->db, cursor.data, &next, &claimer->err);
        if (claimer->rc == RC_OK)
            at = (int)db_int(next, 0, 0);
    }
    return NULL;
}

static void claimers_that_race_for_every_message_lose_and_double_none(void **state)
{
    (void)state;
    struct db *watcher = support_db();
    int64_t queue = new_queue(watcher, "stop");
    struct claimer claimers[CLAIMERS];
    support_exec(watcher, "UPDATE lockstep.queue SET lookahead = 1000 WHERE queue_id = %lld",
                 (long long)queue);
    for (int i = 0; i < CLAIMERS; i++) {
        claimers[i] = (struct claimer){.db = support_db(), .queue = queue, .number = i + 1};
        assert_int_equal(pthread_create(&claimers[i].thread, NULL, claim_all, &claimers[i]), 0);
    }
    for (int i = 0; i < CLAIMERS; i++)
        (void)pthread_join(claimers[i].thread, NULL);
    for (int i = 0; i < CLAIMERS; i++) {
        assert_ok(claimers[i].rc, &claimers[i].err);
        db_close(claimers[i].db);
    }
    assert_string_equal(
        support_text(watcher,
                     "SELECT (count(*), count(DISTINCT kafka_offset), max(kafka_offset), "
                     "count(DISTINCT phase_id), bool_and(kafka_offset / 20 + 1 = \"order\" / 100), "
                     "(SELECT count(*) FROM lockstep.rejected_message r WHERE r.queue_id = "
                     "t.queue_id)) FROM lockstep.task t WHERE queue_id = %lld GROUP BY t.queue_id",
                     (long long)queue),
        "(200,200,199,10,t,0)");
    db_close(watcher);
}

static void an_adoption_does_not_wait_for_a_completion_and_leaves_it_alone(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    claim(one, queue, 0, 2, 100, 0); /* by an executor that is registered nowhere: dead */
    support_exec(one, "BEGIN; %s", complete_text(&sql, two, queue, 0));
    assert_string_equal(
        support_text(two,
                     "SELECT string_agg(kafka_offset::text, ' ') FROM lockstep.adopt(%lld, 2, "
                     "10, '{}')",
                     (long long)queue),
        "1");
    support_exec(one, "COMMIT");
    assert_string_equal(statuses(two, queue), "Completed Pending");
    db_close(one);
    db_close(two);
}

static void a_completion_that_waits_for_an_adoption_is_stale(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    STR_AUTO effect = {0};
    struct other other;
    claim(one, queue, 0, 1, 100, 0);
    (void)complete_text(&sql, one, queue, 0);
    support_exec(watcher, "CREATE TABLE effect (n int)");
    support_exec(two, "BEGIN; SELECT FROM lockstep.adopt(%lld, 2, 10, '{}')", (long long)queue);
    str_format(&effect, "BEGIN; INSERT INTO effect VALUES (1); %s; COMMIT", sql.data);
    start(&other, one, effect.data);
    await_blocked(watcher, one, two);
    support_exec(two, "COMMIT");
    (void)pthread_join(other.thread, NULL);
    assert_rc(other.rc, RC_REJECT, &other.err);
    assert_string_equal(other.err.code, "LS001");
    support_exec(one, "ROLLBACK");
    assert_int_equal(support_int(watcher, "SELECT count(*) FROM effect"), 0);
    assert_string_equal(statuses(watcher, queue), "Pending");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void two_completions_with_one_token_are_one(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db(), *watcher = support_db();
    int64_t queue = new_queue(one, "stop");
    STR_AUTO sql = {0};
    struct other other;
    claim(one, queue, 0, 1, 100, 0);
    (void)complete_text(&sql, one, queue, 0);
    support_exec(one, "BEGIN; %s", sql.data);
    start(&other, two, sql.data);
    await_blocked(watcher, two, one);
    support_exec(one, "COMMIT");
    (void)pthread_join(other.thread, NULL);
    assert_rc(other.rc, RC_REJECT, &other.err);
    assert_string_equal(other.err.code, "LS001");
    db_close(one);
    db_close(two);
    db_close(watcher);
}

static void two_adoptions_share_the_orphans(void **state)
{
    (void)state;
    struct db *one = support_db(), *two = support_db();
    int64_t queue = new_queue(one, "stop");
    static const char adopt[] = "SELECT string_agg(kafka_offset::text, ' ' ORDER BY kafka_offset) "
                                "FROM lockstep.adopt(%lld, %d, 2, '{}')";
    claim(one, queue, 0, 3, 100, 0);
    /* Both executors live from here on, so that neither takes what the other has. */
    for (int i = 1; i <= 3; i++)
        support_exec(one,
                     "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, "
                     "queues) VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}')");
    support_exec(one, "SELECT pg_advisory_lock(lockstep.lock_class('executor'), max(executor_no)) "
                      "FROM lockstep.executor");
    support_exec(two, "SELECT pg_advisory_lock(lockstep.lock_class('executor'), max(executor_no) - "
                      "1) FROM lockstep.executor");
    int last = (int)support_int(one, "SELECT max(executor_no) FROM lockstep.executor");
    support_exec(one, "BEGIN");
    assert_string_equal(support_text(one, adopt, (long long)queue, last), "0 1");
    assert_string_equal(support_text(two, adopt, (long long)queue, last - 1), "2");
    support_exec(one, "COMMIT");
    db_close(one);
    db_close(two);
}

/* S is tried, not waited for: another session waits at the gate behind the phase. */
static void s_is_tried_and_busy_leaves_none(void **state)
{
    (void)state;
    struct db *db = support_db(), *gate = support_db();
    int64_t queue = new_queue(db, "stop");
    STR_AUTO sql = {0};
    STR_AUTO adopt = {0};
    claim(db, queue, 0, 1, 100, 0);
    int64_t phase = phase_id(db, queue, 100);
    str_format(&adopt, "SELECT verdict || took_shared FROM lockstep.adopt(%lld, 2, 9, '{}')",
               (long long)queue);
    support_exec(db,
                 "UPDATE lockstep.task SET executor_no = NULL, token = NULL WHERE queue_id = %lld; "
                 "SELECT lockstep.unlock_shared(%lld)",
                 (long long)queue, (long long)phase);
    support_exec(gate, "SELECT lockstep_test.lock_intent(%lld, 1)", (long long)phase);
    assert_string_equal(support_text(db, "%s", claim_text(&sql, queue, 1, 1, 1, 100, 0)), "busy");
    assert_string_equal(support_text(db, "%s", adopt.data), "busyfalse");
    assert_int_equal(support_int(db, "SELECT next_offset FROM lockstep.queue WHERE queue_id = %lld",
                                 (long long)queue),
                     1);
    assert_int_equal(support_int(db, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                                     "AND pid = pg_backend_pid()"),
                     0);
    support_exec(gate, "SELECT lockstep.unlock_intent(%lld)", (long long)phase);
    assert_string_equal(support_text(db, "%s", adopt.data), "adoptedtrue");
    assert_true(support_int(db, "SELECT lockstep.unlock_shared(%lld)::int", (long long)phase));
    assert_string_equal(support_text(db, "%s", claim_text(&sql, queue, 1, 1, 1, 100, 0)),
                        "claimed 1");
    assert_true(support_int(db, "SELECT lockstep.unlock_shared(%lld)::int", (long long)phase));
    db_close(db);
    db_close(gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(s_is_tried_and_busy_leaves_none, teardown),
        cmocka_unit_test_teardown(two_claims_of_the_same_offsets_make_each_task_once, teardown),
        cmocka_unit_test_teardown(a_claim_behind_one_that_rolls_back_takes_everything, teardown),
        cmocka_unit_test_teardown(claimers_that_race_for_every_message_lose_and_double_none,
                                  teardown),
        cmocka_unit_test_teardown(an_adoption_does_not_wait_for_a_completion_and_leaves_it_alone,
                                  teardown),
        cmocka_unit_test_teardown(a_completion_that_waits_for_an_adoption_is_stale, teardown),
        cmocka_unit_test_teardown(two_completions_with_one_token_are_one, teardown),
        cmocka_unit_test_teardown(two_adoptions_share_the_orphans, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
