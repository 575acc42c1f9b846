/* A statement that the server undoes for another session's sake (a deadlock, a serialization
 * failure) is repeated on its own session. It leaves nothing, no lock of a phase either, and db_run
 * reports nothing to its caller. */
#include "tests/db/other.h"
#include "tests/db/protocol.h"

#include "base/str.h"
#include "db/backend.h"

/* From now on the first writing of a table by this session's statements is undone, once for each
 * call. */
static void undo_first(struct db *db, const char *table, const char *code)
{
    support_exec(db,
                 "DROP SEQUENCE IF EXISTS public.undone CASCADE; CREATE SEQUENCE public.undone;"
                 "CREATE OR REPLACE FUNCTION public.undo() RETURNS trigger LANGUAGE plpgsql AS $$ "
                 "BEGIN IF nextval('public.undone') = 1 THEN RAISE 'made up' USING ERRCODE = '%s'; "
                 "END IF; RETURN NULL; END $$;"
                 "CREATE TRIGGER undo AFTER INSERT OR UPDATE OR DELETE ON lockstep.%s "
                 "FOR EACH STATEMENT EXECUTE FUNCTION public.undo()",
                 code, table);
}

static void undo_no_more(struct db *db, const char *table)
{
    assert_true(support_int(db, "SELECT last_value FROM public.undone") > 1);
    support_exec(db, "DROP TRIGGER undo ON lockstep.%s", table);
}

static int locks(struct db *watcher, struct db *of)
{
    return (int)support_int(
        watcher, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = %d",
        db_backend_pid(of));
}

static const char *asked(struct db *db, const struct sql_statement *stmt, const char *const *params)
{
    static char answer[100];
    DB_RESULT_AUTO *row = NULL;
    struct err err = {0};
    enum rc rc = db_run(db, stmt, params, &row, &err);
    assert_true(rc == RC_OK || rc == RC_NONE || (printf("%s: %s\n", err.code, err.message), false));
    (void)snprintf(answer, sizeof answer, "%s",
                   rc == RC_OK && db_rows(row) > 0 ? db_text(row, 0, 0) : "");
    return answer;
}

struct gating {
    struct db *db;
    char phase[24], verdict[24];
    enum rc rc;
    struct err err;
};

static void *gate(void *context)
{
    struct gating *gating = context;
    DB_RESULT_AUTO *row = NULL;
    gating->rc = db_run(gating->db, &sql_executor_gate, (const char *const[]){gating->phase, "500"},
                        &row, &gating->err);
    if (gating->rc == RC_OK)
        (void)snprintf(gating->verdict, sizeof gating->verdict, "%s", db_text(row, 0, 0));
    return NULL;
}

/* Two phases in hand, S of both; the first one's task is done. */
static int64_t two_phases(struct db *db)
{
    int64_t queue = new_queue(db, "stop");
    STR_AUTO sql = {0};
    claim(db, queue, 0, 1, 100, 0);
    claim(db, queue, 1, 1, 200, 100);
    support_exec(db, "%s", complete_text(&sql, db, queue, 0));
    return queue;
}

static void a_gate_that_is_undone_is_repeated_and_has_its_lock_once(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db();
    int64_t queue = two_phases(watcher);
    support_exec(watcher, "SELECT pg_advisory_unlock_all()");
    undo_first(watcher, "phase", "40P01");
    assert_string_equal(asked(db, &sql_executor_gate,
                              (const char *const[]){DB_INT(phase_id(watcher, queue, 200)), "500"}),
                        "opened");
    undo_no_more(watcher, "phase");
    assert_int_equal(locks(watcher, db), 1);
    support_exec(db, "SELECT lockstep.unlock_intent(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    assert_int_equal(locks(watcher, db), 0);
    db_close(db);
    db_close(watcher);
}

static void a_release_that_is_undone_in_its_gate_has_released_nothing_before(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db();
    int64_t queue = two_phases(db);
    const char *next = DB_INT(phase_id(watcher, queue, 200));
    undo_first(watcher, "phase", "40001");
    assert_string_equal(asked(db, &sql_executor_release,
                              (const char *const[]){DB_INT(phase_id(watcher, queue, 100)), "true",
                                                    "true", NULL, next}),
                        "t");
    undo_no_more(watcher, "phase");
    assert_int_equal(locks(watcher, db), 2); /* S of the next phase, IX of the one before */
    support_exec(db, "SELECT lockstep.unlock_intent(%lld), lockstep.unlock_shared(%s)",
                 (long long)phase_id(watcher, queue, 100), next);
    assert_int_equal(locks(watcher, db), 0);
    db_close(db);
    db_close(watcher);
}

/* The claim behind everything that it writes, so that its lock was taken before. */
static void a_claim_that_is_undone_is_repeated_and_has_its_lock_once(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db();
    int64_t queue = new_queue(watcher, "stop");
    STR_AUTO queue_no = {0};
    str_format(&queue_no, "%lld", (long long)queue);
    undo_first(watcher, "task", "40P01");
    const char *params[31] = {
        queue_no.data, "1",   "0",      "task",   "11111111-1111-4111-8111-111111111111",
        NULL,          "100", "0",      "{0}",    "{0}",
        "{\"{}\"}",    "{a}", "{NULL}", "{NULL}", "1",
        "\\x00",       "{}"};
    params[23] = params[27] = params[28] = params[29] = params[30] = "false";
    assert_string_equal(asked(db, &sql_executor_claim, params), "claimed");
    undo_no_more(watcher, "task");
    assert_int_equal(locks(watcher, db), 1);
    support_exec(db, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    assert_int_equal(locks(watcher, db), 0);
    assert_int_equal(support_int(watcher, "SELECT count(*) FROM lockstep.task WHERE queue_id = %s",
                                 queue_no.data),
                     1);
    db_close(db);
    db_close(watcher);
}

static void an_adoption_that_is_undone_is_repeated_and_has_its_lock_once(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db();
    int64_t queue = new_queue(watcher, "stop");
    claim(watcher, queue, 0, 1, 100, 0);
    support_exec(watcher, "SELECT pg_advisory_unlock_all()");
    undo_first(watcher, "task", "40P01");
    assert_string_equal(
        asked(db, &sql_executor_adopt, (const char *const[]){DB_INT(queue), "2", "10", "{}", "{}"}),
        "adopted");
    undo_no_more(watcher, "task");
    assert_int_equal(locks(watcher, db), 1);
    support_exec(db, "SELECT lockstep.unlock_shared(%lld)",
                 (long long)phase_id(watcher, queue, 100));
    assert_int_equal(locks(watcher, db), 0);
    db_close(db);
    db_close(watcher);
}

static void what_is_undone_in_a_block_is_not_repeated(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db();
    int64_t queue = two_phases(watcher);
    struct err err = {0};
    support_exec(watcher, "SELECT pg_advisory_unlock_all()");
    undo_first(watcher, "phase", "40P01");
    support_exec(db, "BEGIN");
    assert_rc(db_run(db, &sql_executor_gate,
                     (const char *const[]){DB_INT(phase_id(watcher, queue, 200)), "500"}, NULL,
                     &err),
              RC_RETRY, &err);
    support_exec(db, "ROLLBACK");
    assert_int_equal(locks(watcher, db), 0);
    support_exec(watcher, "DROP TRIGGER undo ON lockstep.phase");
    db_close(db);
    db_close(watcher);
}

/* A real one: of the three rows that the gate of a second run takes, a hostile session has the last
 * one and asks for the first. The one in between is held until it does, so that the gate closes the
 * circle, and is the one who looks for it. */
static void a_gate_that_a_hostile_session_makes_the_victim_opens_its_phase(void **state)
{
    (void)state;
    struct db *db = support_db(), *watcher = support_db(), *hostile = support_db(),
              *third = support_db();
    int64_t queue = new_queue(watcher, "stop");
    STR_AUTO sql = {0};
    struct other other;
    struct gating gating = {.db = db};
    pthread_t thread;
    claim(watcher, queue, 0, 1, 100, 0);
    claim_second(watcher, queue, 1);
    support_exec(watcher, "%s", complete_text(&sql, watcher, queue, 0));
    int64_t next = phase_id(watcher, queue, 300), before = phase_id(watcher, queue, 100);
    support_exec(watcher,
                 "UPDATE lockstep.run SET end_offset = 1, ended_at = now(), status = 'Completed' "
                 "WHERE queue_id = %lld AND first_offset = 0; SELECT pg_advisory_unlock_all()",
                 (long long)queue);
    support_exec(db, "SET deadlock_timeout = '10ms'");
    support_exec(hostile,
                 "SET deadlock_timeout = '10min'; BEGIN; SELECT FROM lockstep.phase WHERE phase_id "
                 "= %lld FOR UPDATE",
                 (long long)next);
    support_exec(third, "BEGIN; SELECT FROM lockstep.phase WHERE phase_id = %lld FOR UPDATE",
                 (long long)before);
    (void)snprintf(gating.phase, sizeof gating.phase, "%lld", (long long)next);
    assert_int_equal(pthread_create(&thread, NULL, gate, &gating), 0);
    await_blocked(watcher, db, third);
    str_clear(&sql);
    str_format(&sql,
               "SELECT run_no FROM lockstep.run WHERE queue_id = %lld AND first_offset = 1 FOR "
               "UPDATE; COMMIT",
               (long long)queue);
    start(&other, hostile, sql.data);
    await_blocked(watcher, hostile, db);
    support_exec(third, "COMMIT");
    (void)finish(&other);
    (void)pthread_join(thread, NULL);
    assert_ok(gating.rc, &gating.err);
    assert_string_equal(gating.verdict, "opened");
    assert_int_equal(locks(watcher, db), 1);
    db_close(db);
    db_close(hostile);
    db_close(third);
    db_close(watcher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_gate_that_is_undone_is_repeated_and_has_its_lock_once,
                                  teardown),
        cmocka_unit_test_teardown(a_release_that_is_undone_in_its_gate_has_released_nothing_before,
                                  teardown),
        cmocka_unit_test_teardown(a_claim_that_is_undone_is_repeated_and_has_its_lock_once,
                                  teardown),
        cmocka_unit_test_teardown(an_adoption_that_is_undone_is_repeated_and_has_its_lock_once,
                                  teardown),
        cmocka_unit_test_teardown(what_is_undone_in_a_block_is_not_repeated, teardown),
        cmocka_unit_test_teardown(a_gate_that_a_hostile_session_makes_the_victim_opens_its_phase,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
