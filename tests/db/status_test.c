/* The statuses of a task and the ways between them stand in five places: tests/support/status.c,
 * the two tables of the schema, the guard on lockstep.task and docs/reference/states.md. They must
 * say the same. */
#include "base/str.h"
#include "tests/support/status.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static void the_names_are_those_of_the_type_in_its_order(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    assert_ok(db_script(db, "SELECT unnest(enum_range(NULL::lockstep.status))", &rows, &err), &err);
    assert_int_equal(db_rows(rows), TASK_STATUS_COUNT);
    for (int i = 0; i < TASK_STATUS_COUNT; i++)
        assert_string_equal(db_text(rows, i, 0), task_status_name((enum task_status)i));
    db_close(db);
}

static void a_name_is_parsed_and_a_strange_one_is_not(void **state)
{
    (void)state;
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        enum task_status status = TASK_STATUS_COUNT;
        assert_true(task_status_parse(task_status_name((enum task_status)i), &status));
        assert_int_equal(status, i);
    }
    enum task_status untouched = TASK_PAUSED;
    assert_false(task_status_parse("pending", &untouched));
    assert_false(task_status_parse("", &untouched));
    assert_false(task_status_parse("Pending ", &untouched));
    assert_int_equal(untouched, TASK_PAUSED);
}

static void the_classification_is_that_of_the_table(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    assert_ok(db_script(db,
                        "SELECT status, is_processable, is_finished, is_editable, description "
                        "FROM lockstep.task_status ORDER BY status",
                        &rows, &err),
              &err);
    assert_int_equal(db_rows(rows), TASK_STATUS_COUNT);
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        enum task_status status;
        assert_true(task_status_parse(db_text(rows, i, 0), &status));
        assert_int_equal(task_status_is_processable(status), db_bool(rows, i, 1));
        assert_int_equal(task_status_is_finished(status), db_bool(rows, i, 2));
        assert_int_equal(task_status_is_editable(status), db_bool(rows, i, 3));
        assert_string_equal(task_status_description(status), db_text(rows, i, 4));
    }
    db_close(db);
}

static void the_transitions_are_those_of_the_table(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    int ours = 0;
    assert_ok(db_script(db, "SELECT from_status, to_status, why FROM lockstep.status_transition",
                        &rows, &err),
              &err);
    for (int i = 0; i < db_rows(rows); i++) {
        enum task_status from, to;
        assert_true(task_status_parse(db_text(rows, i, 0), &from));
        assert_true(task_status_parse(db_text(rows, i, 1), &to));
        assert_non_null(task_status_transition(from, to));
        assert_string_equal(task_status_transition(from, to), db_text(rows, i, 2));
    }
    for (int i = 0; i < TASK_STATUS_COUNT * TASK_STATUS_COUNT; i++)
        ours += task_status_transition((enum task_status)(i / TASK_STATUS_COUNT),
                                       (enum task_status)(i % TASK_STATUS_COUNT)) != NULL;
    assert_int_equal(db_rows(rows), ours);
    db_close(db);
}

static void the_guard_lets_pass_what_is_legal_and_nothing_else(void **state)
{
    (void)state;
    struct db *db = support_db();
    for (int i = 0; i < TASK_STATUS_COUNT * TASK_STATUS_COUNT; i++) {
        enum task_status from = (enum task_status)(i / TASK_STATUS_COUNT);
        enum task_status to = (enum task_status)(i % TASK_STATUS_COUNT);
        STR_AUTO sql = {0};
        struct err err;
        int64_t id = support_int(
            db,
            "INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, \"order\", "
            "kafka_offset, payload) VALUES (1, 1, 1, '%s', 1, %d, '{}') RETURNING task_id",
            task_status_name(from), i);
        str_format(&sql, "UPDATE lockstep.task SET status = '%s' WHERE task_id = %lld",
                   task_status_name(to), (long long)id);
        bool legal = from == to || task_status_transition(from, to) != NULL;
        enum rc rc = db_script(db, sql.data, NULL, &err);
        if ((rc == RC_OK) != legal)
            print_error("%s -> %s\n", task_status_name(from), task_status_name(to));
        assert_rc(rc, legal ? RC_OK : RC_REJECT, &err);
        if (!legal)
            assert_string_equal(err.code, "23514");
        assert_string_equal(support_text(db,
                                         "SELECT status FROM lockstep.task WHERE task_id = %lld",
                                         (long long)id),
                            task_status_name(legal ? to : from));
    }
    db_close(db);
}

/** Cells of a table's row, without the blanks around them; returns how many. */
static int cells(char *line, char *ret_cells[], int most)
{
    int count = 0;
    for (char *save = NULL, *cell = strtok_r(line, "|\n", &save); cell != NULL && count < most;
         cell = strtok_r(NULL, "|\n", &save)) {
        while (*cell == ' ')
            cell++;
        for (size_t n = strlen(cell); n > 0 && cell[n - 1] == ' '; n--)
            cell[n - 1] = '\0';
        ret_cells[count++] = cell;
    }
    return count;
}

static void the_manual_says_the_same(void **state)
{
    (void)state;
    FILE *file = fopen(LOCKSTEP_SOURCE "/docs/reference/states.md", "r");
    char line[1000], *cell[8];
    int told_statuses = 0, told_transitions = 0, ours = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        enum task_status from, to;
        int count = line[0] == '|' ? cells(line, cell, 8) : 0;
        if (count == 5 && task_status_parse(cell[0], &from)) {
            told_statuses++;
            assert_string_equal(cell[1], task_status_is_processable(from) ? "yes" : "no");
            assert_string_equal(cell[2], task_status_is_finished(from) ? "yes" : "no");
            assert_string_equal(cell[3], task_status_is_editable(from) ? "yes" : "no");
            assert_string_equal(cell[4], task_status_description(from));
        } else if (count == 4 && task_status_parse(cell[0], &from)) {
            told_transitions++;
            assert_true(task_status_parse(cell[1], &to));
            assert_non_null(task_status_transition(from, to));
            assert_string_equal(cell[2], task_status_transition(from, to));
            assert_true(cell[3][0] != '\0');
        }
    }
    (void)fclose(file);
    for (int i = 0; i < TASK_STATUS_COUNT * TASK_STATUS_COUNT; i++)
        ours += task_status_transition((enum task_status)(i / TASK_STATUS_COUNT),
                                       (enum task_status)(i % TASK_STATUS_COUNT)) != NULL;
    assert_int_equal(told_statuses, TASK_STATUS_COUNT);
    assert_int_equal(told_transitions, ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_names_are_those_of_the_type_in_its_order, teardown),
        cmocka_unit_test(a_name_is_parsed_and_a_strange_one_is_not),
        cmocka_unit_test_teardown(the_classification_is_that_of_the_table, teardown),
        cmocka_unit_test_teardown(the_transitions_are_those_of_the_table, teardown),
        cmocka_unit_test_teardown(the_guard_lets_pass_what_is_legal_and_nothing_else, teardown),
        cmocka_unit_test(the_manual_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
