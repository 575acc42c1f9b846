/**
 * What: shared by the tests of the protocol with several sessions: claims, ends and attempts as
 *   SQL text.
 * Invariants: a message's seq is its offset; every run here has the same id, each in a queue of its
 *   own.
 * Threads: the test's own; a statement on another thread: tests/db/other.h.
 * Ownership: texts are built in the caller's struct str; sessions are borrowed.
 * Failure: the test fails.
 */
#ifndef TESTS_DB_PROTOCOL_H
#define TESTS_DB_PROTOCOL_H

#include "base/str.h"
#include "tests/support/support.h"

#define UNUSED __attribute__((unused))

UNUSED static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

#define RUN "'11111111-1111-4111-8111-111111111111'"

/** A claim of `count` messages from offset `at` by an executor; the seq is the offset. */
UNUSED static const char *claim_text(struct str *to, int64_t queue, int executor, int at, int count,
                                     int order, int previous)
{
    str_clear(to);
    str_format(
        to,
        "SELECT c.verdict || coalesce(' ' || cardinality(c.task_ids), '') FROM "
        "lockstep.claim(%lld, "
        "%d, 0, ROW('task', " RUN
        ", NULL, %d, %d, ARRAY(SELECT generate_series(%d, %d)), ARRAY(SELECT "
        "generate_series(%d, %d)), array_fill('{}'::text, ARRAY[%d]), array_fill(NULL::text, "
        "ARRAY[%d]), array_fill(NULL::int, ARRAY[%d]), array_fill(NULL::text, ARRAY[%d]), 1, "
        "'\\x00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, "
        "false)::lockstep.segment, '{}') AS c",
        (long long)queue, executor, order, previous, at, at + count - 1, at, at + count - 1, count,
        count, count, count);
    return to->data;
}

UNUSED static const char *end_text(struct str *to, int64_t queue, int at, int tasks, int phases)
{
    str_clear(to);
    str_format(
        to,
        "SELECT concat_ws(' ', c.verdict, c.note) FROM lockstep.claim(%lld, 1, 0, ROW('end', " RUN
        ", NULL, NULL, NULL, ARRAY[%d], ARRAY[%d], ARRAY['{}'], '{}', '{}', '{}', 1, '\\x00', "
        "NULL, NULL, NULL, NULL, %d, %d, false, NULL, NULL, NULL, false, false)::lockstep.segment, "
        "'{}') AS c",
        (long long)queue, at, at, tasks, phases);
    return to->data;
}

UNUSED static int64_t new_queue(struct db *db, const char *on_failure)
{
    return support_int(
        db,
        "INSERT INTO lockstep.queue (name, topic, on_failure, max_attempts) VALUES ('%s', 't', "
        "'%s', 1) RETURNING "
        "queue_id",
        support_name("q"), on_failure);
}

UNUSED static void claim(struct db *db, int64_t queue, int at, int count, int order, int previous)
{
    STR_AUTO sql = {0};
    STR_AUTO expected = {0};
    str_format(&expected, "claimed %d", count);
    assert_string_equal(
        support_text(db, "%s", claim_text(&sql, queue, 1, at, count, order, previous)),
        expected.data);
}

/** A message of another run, of order 300. */
UNUSED static void claim_second(struct db *db, int64_t queue, int at)
{
    assert_string_equal(
        support_text(
            db,
            "SELECT verdict FROM lockstep.claim(%lld, 1, 0, ROW('task', "
            "'22222222-2222-4222-8222-222222222222', NULL, 300, 0, '{%d}', '{0}', '{\"{}\"}', "
            "'{a}', '{NULL}', '{NULL}', 1, '\\x00', NULL, NULL, NULL, NULL, NULL, NULL, "
            "NULL, NULL, NULL, NULL, false, false)::lockstep.segment, '{}')",
            (long long)queue, at),
        "claimed");
}

UNUSED static const char *complete_text(struct str *to, struct db *db, int64_t queue, int offset)
{
    str_clear(to);
    str_format(to, "SELECT lockstep.complete(%s)",
               support_text(db,
                            "SELECT task_id || ', ' || quote_literal(token) FROM lockstep.task "
                            "WHERE queue_id = %lld AND kafka_offset = %d",
                            (long long)queue, offset));
    return to->data;
}

UNUSED static const char *fail_text(struct str *to, struct db *db, int64_t queue, int offset)
{
    str_clear(to);
    str_format(to, "SELECT lockstep.fail(%s, true, 0, 'X', 'x', NULL, NULL, NULL)",
               support_text(db,
                            "SELECT task_id || ', ' || quote_literal(token) FROM lockstep.task "
                            "WHERE queue_id = %lld AND kafka_offset = %d",
                            (long long)queue, offset));
    return to->data;
}

UNUSED static int64_t phase_id(struct db *db, int64_t queue, int order)
{
    return support_int(
        db, "SELECT phase_id FROM lockstep.phase WHERE queue_id = %lld AND \"order\" = %d",
        (long long)queue, order);
}

UNUSED static const char *statuses(struct db *db, int64_t queue)
{
    return support_text(db,
                        "SELECT string_agg(status::text, ' ' ORDER BY kafka_offset) FROM "
                        "lockstep.task WHERE queue_id = %lld",
                        (long long)queue);
}

UNUSED static const char *run_status(struct db *db, int64_t queue)
{
    return support_text(db, "SELECT status FROM lockstep.run WHERE queue_id = %lld",
                        (long long)queue);
}

#endif
