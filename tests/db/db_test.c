/* The output of a statement, and its input: results, promised row counts, errors, arrays. */
#include "base/str.h"
#include "db/columns.h"
#include "db/pipeline.h"
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

/* ---- results */

static void a_result_gives_its_values_by_row_and_column(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    assert_ok(db_script(db,
                        "SELECT 9223372036854775807 AS big, -1 AS small, NULL::text AS none, "
                        "true AS yes, 0.5::float8 AS half, E'a\\tb' AS text UNION ALL SELECT 0, 0, "
                        "'x', false, 1e300, ''",
                        &rows, &err),
              &err);
    assert_int_equal(db_rows(rows), 2);
    assert_int_equal(db_columns(rows), 6);
    assert_string_equal(db_column_name(rows, 0), "big");
    assert_true(db_int(rows, 0, 0) == INT64_MAX);
    assert_true(db_int(rows, 0, 1) == -1);
    assert_true(db_null(rows, 0, 2));
    assert_string_equal(db_text(rows, 0, 2), "");
    assert_int_equal(db_int(rows, 0, 2), 0);
    assert_int_equal(db_length(rows, 0, 2), 0);
    assert_false(db_null(rows, 1, 5)); /* empty is not NULL */
    assert_true(db_bool(rows, 0, 3));
    assert_false(db_bool(rows, 1, 3));
    assert_true(db_double(rows, 0, 4) > 0.49 && db_double(rows, 0, 4) < 0.51);
    assert_true(db_double(rows, 1, 4) > 9e299);
    assert_string_equal(db_text(rows, 0, 5), "a\tb");
    assert_int_equal(db_length(rows, 0, 5), 3);
    db_free(NULL);
    db_close(db);
    db_close(NULL);
}

static void an_integer_is_a_parameter(void **state)
{
    (void)state;
    assert_string_equal(DB_INT(INT64_MIN), "-9223372036854775808");
    assert_string_equal(DB_INT(INT64_MAX), "9223372036854775807");
    assert_string_equal(DB_INT(0), "0");
}

/* ---- statements: the promise of the first line is checked */

static struct sql_statement statement(const char *text, enum sql_rows rows, int params)
{
    static const char *last;
    static int number;
    static char name[40];
    if (last != text)
        (void)snprintf(name, sizeof name, "test_%d", ++number);
    last = text;
    return (struct sql_statement){
        .name = name, .text = text, .rows = rows, .params = params, .index = SQL_STATEMENT_COUNT};
}

static void what_a_statement_promises_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sql_rows rows;
        enum rc rc;
    } cases[] = {
        {"SELECT 1", SQL_ONE, RC_OK},
        {"SELECT 1 WHERE false", SQL_ONE, RC_FATAL},
        {"SELECT 1 UNION ALL SELECT 2", SQL_ONE, RC_FATAL},
        {"SELECT 3", SQL_MAYBE, RC_OK},
        {"SELECT 3 WHERE false", SQL_MAYBE, RC_NONE},
        {"SELECT 3 UNION ALL SELECT 4", SQL_MAYBE, RC_FATAL},
        {"SELECT 5 WHERE false", SQL_MANY, RC_OK},
        {"SELECT 6 UNION ALL SELECT 7", SQL_MANY, RC_OK},
        {"SET application_name = 'x'", SQL_NONE, RC_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct db *db = support_db(); /* the one free place for a statement that is not of sql/ */
        struct err err = {0};
        DB_RESULT_AUTO *result = NULL;
        struct sql_statement stmt = statement(cases[i].text, cases[i].rows, 0);
        assert_rc(db_run(db, &stmt, NULL, &result, &err), cases[i].rc, &err);
        assert_int_equal(result != NULL, cases[i].rc == RC_OK || cases[i].rc == RC_NONE);
        if (cases[i].rc == RC_FATAL)
            assert_int_equal(err.kind, ERR_INTERNAL);
        assert_rc(db_run(db, &stmt, NULL, NULL, &err), cases[i].rc,
                  &err); /* no caller wants rows */
        db_close(db);
    }
}

static void a_word_that_the_contract_does_not_know_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"n", "verdict", NULL};
    static const char *const known[] = {"yes", "no", NULL};
    static const struct sql_words words[] = {{1, known}, {-1, NULL}};
    static const struct {
        const char *text;
        enum rc rc;
        int last; /* the word of the last row */
    } cases[] = {{"SELECT 1, 'yes'", RC_OK, 0},
                 {"VALUES (1, 'yes'), (2, 'no')", RC_OK, 1},
                 {"VALUES (1, 'yes'), (2, NULL)", RC_OK, -1},
                 {"VALUES (1, 'yes'), (2, 'perhaps')", RC_FATAL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct db *db = support_db();
        struct err err = {0};
        DB_RESULT_AUTO *result = NULL;
        struct sql_statement stmt = statement(cases[i].text, SQL_MANY, 0);
        stmt.columns = 2;
        stmt.names = names;
        stmt.words = words;
        assert_rc(db_run(db, &stmt, NULL, &result, &err), cases[i].rc, &err);
        if (cases[i].rc == RC_OK) {
            assert_int_equal(db_word(result, db_rows(result) - 1, 1), cases[i].last);
            assert_int_equal(db_word(result, 0, 0), -1); /* a column without words */
        } else
            assert_string_equal(err.message,
                                "\"verdict\" says \"perhaps\", which this version does not know");
        db_close(db);
    }
}

static void a_failed_statement_tells_code_detail_and_hint(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    support_exec(db, "CREATE TABLE once (n int PRIMARY KEY); INSERT INTO once VALUES (1)");
    assert_rc(db_script(db, "INSERT INTO once VALUES (1)", NULL, &err), RC_REJECT, &err);
    assert_string_equal(err.code, "23505");
    assert_non_null(strstr(err.message, "duplicate key"));
    assert_string_equal(err.detail, "Key (n)=(1) already exists.");
    assert_rc(db_script(db,
                        "DO $$ BEGIN RAISE 'mine' USING ERRCODE = 'LS001', HINT = 'do this', "
                        "DETAIL = 'so it is'; END $$",
                        NULL, &err),
              RC_REJECT, &err);
    assert_string_equal(err.code, "LS001");
    assert_string_equal(err.message, "mine");
    assert_string_equal(err.hint, "do this");
    assert_string_equal(err.detail, "so it is");
    assert_non_null(strstr(err.context, "PL/pgSQL function"));
    assert_rc(db_script(db, "SELECT FROM lockstep.nothing", NULL, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_SCHEMA);
    db_close(db);
}

/* ---- arrays: every value comes out unchanged */

static void assert_round_trip(struct db *db, const char *array, const char *text)
{
    struct sql_statement stmt = statement("SELECT cardinality($1::text[]), ($1::text[])[1], "
                                          "($1::text[])[3] IS NULL, ($1::text[])[2]",
                                          SQL_ONE, 1);
    struct err err;
    DB_RESULT_AUTO *row = NULL;
    const char *const params[] = {array};

    assert_ok(db_run(db, &stmt, params, &row, &err), &err);
    assert_int_equal(db_int(row, 0, 0), 3);
    assert_string_equal(db_text(row, 0, 1), text);
    assert_true(db_bool(row, 0, 2));
    assert_string_equal(db_text(row, 0, 3), text);
}

static void every_text_round_trips_through_an_array(void **state)
{
    (void)state;
    struct db *db = support_db();
    static const char *const nasty[] = {"",
                                        "NULL",
                                        "null",
                                        " ",
                                        " leading and trailing ",
                                        ",",
                                        "{",
                                        "}",
                                        "{}",
                                        "{a,b}",
                                        "\"",
                                        "\"\"",
                                        "\\",
                                        "\\\\",
                                        "\\\"",
                                        "a\\",
                                        "\\x41",
                                        "'",
                                        "''",
                                        "$1",
                                        "$$",
                                        "\n",
                                        "\r\n\t\v\f\b",
                                        "\x01\x1f\x7f",
                                        "%s",
                                        "--",
                                        "/*",
                                        "\xc3\xa4",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xef\xbb\xbf",
                                        "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++) {
        STR_AUTO array = {0};
        db_array_start(&array);
        db_array_text(&array, nasty[i], strlen(nasty[i]));
        db_array_text(&array, nasty[i], strlen(nasty[i]));
        db_array_text(&array, NULL, 0);
        db_array_end(&array);
        assert_round_trip(db, array.data, nasty[i]);
    }
    char all[128];
    STR_AUTO array = {0};
    for (int c = 1; c < 128; c++)
        all[c - 1] = (char)c;
    all[127] = '\0';
    db_array_start(&array);
    db_array_text(&array, all, 127);
    db_array_text(&array, all, 127);
    db_array_text(&array, NULL, 0);
    db_array_end(&array);
    assert_round_trip(db, array.data, all);
    db_close(db);
}

static void every_byte_round_trips_through_an_array_and_a_parameter(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    unsigned char all[256];
    STR_AUTO array = {0};
    STR_AUTO bytes = {0};
    DB_RESULT_AUTO *row = NULL;
    struct sql_statement stmt =
        statement("SELECT ($1::bytea[])[1] = $2::bytea, ($1::bytea[])[2] IS NULL, "
                  "length(($1::bytea[])[3]), (SELECT bool_and(get_byte($2, i) = i) FROM "
                  "generate_series(0, 255) AS i), length($2)",
                  SQL_ONE, 2);
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    db_array_start(&array);
    db_array_bytes(&array, all, sizeof all);
    db_array_bytes(&array, NULL, 0);
    db_array_bytes(&array, "", 0);
    db_array_end(&array);
    db_bytea(&bytes, all, sizeof all);
    const char *const params[] = {array.data, bytes.data};
    assert_ok(db_run(db, &stmt, params, &row, &err), &err);
    assert_true(db_bool(row, 0, 0));
    assert_true(db_bool(row, 0, 1));
    assert_int_equal(db_int(row, 0, 2), 0);
    assert_true(db_bool(row, 0, 3));
    assert_int_equal(db_int(row, 0, 4), 256);
    db_close(db);
}

static void integers_round_trip_through_an_array_also_when_there_are_none(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    STR_AUTO array = {0};
    struct sql_statement stmt =
        statement("SELECT coalesce(array_to_string($1::bigint[], ' ', 'null'), '')", SQL_ONE, 1);
    static const char *const expected[] = {"", "-9223372036854775808 null 9223372036854775807"};
    for (int i = 0; i < 2; i++) {
        DB_RESULT_AUTO *row = NULL;
        db_array_start(&array); /* starts again */
        if (i == 1) {
            db_array_int(&array, INT64_MIN);
            db_array_text(&array, NULL, 0);
            db_array_int(&array, INT64_MAX);
        }
        db_array_end(&array);
        const char *const params[] = {array.data};
        assert_ok(db_run(db, &stmt, params, &row, &err), &err);
        assert_string_equal(db_text(row, 0, 0), expected[i]);
    }
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_result_gives_its_values_by_row_and_column, teardown),
        cmocka_unit_test(an_integer_is_a_parameter),
        cmocka_unit_test_teardown(what_a_statement_promises_is_checked, teardown),
        cmocka_unit_test_teardown(a_word_that_the_contract_does_not_know_is_refused, teardown),
        cmocka_unit_test_teardown(a_failed_statement_tells_code_detail_and_hint, teardown),
        cmocka_unit_test_teardown(every_text_round_trips_through_an_array, teardown),
        cmocka_unit_test_teardown(every_byte_round_trips_through_an_array_and_a_parameter,
                                  teardown),
        cmocka_unit_test_teardown(integers_round_trip_through_an_array_also_when_there_are_none,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
