/* Every statement of sql/ fits the schema of today's migrations.
 * ctest: notsan */
#include "base/str.h"
#include "db/pipeline.h"
#include "db/session.h"
#include "tests/support/support.h"

#include <string.h>

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

/* Run as scripts, of several commands, which cannot be prepared. */
static bool is_script(const struct sql_statement *stmt)
{
    return strcmp(stmt->name, "migrate_ensure") == 0;
}

static void every_statement_can_be_prepared(void **state)
{
    (void)state;
    struct db *db = support_db();
    int refused = 0;
    for (int i = 0; i < SQL_STATEMENT_COUNT; i++) {
        struct err err;
        assert_int_equal(sql_statements[i]->index, i);
        if (is_script(sql_statements[i]))
            continue;
        if (db_prepare(db, sql_statements[i], &err) != RC_OK) {
            print_error("%s: %s %s\n", err.object, err.code, err.message);
            refused++;
        }
    }
    assert_int_equal(refused, 0);
    db_close(db);
}

static void every_statement_has_as_many_parameters_as_it_says(void **state)
{
    (void)state;
    struct db *db = support_db();
    int wrong = 0;
    for (int i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *stmt = sql_statements[i];
        struct err err;
        if (is_script(stmt))
            continue;
        assert_ok(db_prepare(db, stmt, &err), &err);
        int64_t there = support_int(
            db, "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = '%s'",
            stmt->name);
        if (there != stmt->params) {
            print_error("%s: %d parameters said, %d there\n", stmt->name, stmt->params, (int)there);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    db_close(db);
}

/* What the server says a prepared statement returns: its columns' names, as the contract lists
 * them. */
static void columns_of(struct db *db, const char *name, struct str *ret_text)
{
    PGresult *described = PQdescribePrepared(db->conn, name);
    assert_int_equal(PQresultStatus(described), PGRES_COMMAND_OK);
    for (int i = 0; i < PQnfields(described); i++)
        str_format(ret_text, "%s%s", i > 0 ? ", " : "", PQfname(described, i));
    PQclear(described);
}

static void every_statement_returns_the_columns_of_its_contract(void **state)
{
    (void)state;
    struct db *db = support_db();
    int wrong = 0;
    for (int i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *stmt = sql_statements[i];
        STR_AUTO there = {0}, said = {0};
        struct err err;
        if (is_script(stmt))
            continue;
        assert_ok(db_prepare(db, stmt, &err), &err);
        str_text(&there, "");
        str_text(&said, "");
        if (stmt->rows != SQL_NONE) /* what such a one returns is not read */
            columns_of(db, stmt->name, &there);
        for (int c = 0; c < stmt->columns; c++)
            str_format(&said, "%s%s", c > 0 ? ", " : "", stmt->names[c]);
        if (strcmp(there.data, said.data) != 0) {
            print_error("%s: its contract says (%s), the server (%s)\n", stmt->name, said.data,
                        there.data);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    db_close(db);
}

static void every_function_of_ours_names_its_groups_and_never_public(void **state)
{
    (void)state;
    struct db *db = support_db();
    assert_string_equal(
        support_text(db, "SELECT coalesce(string_agg(p.oid::regprocedure::text, ', '), '') FROM "
                         "pg_proc p WHERE p.pronamespace = 'lockstep'::regnamespace AND "
                         "has_function_privilege('public', p.oid, 'EXECUTE')"),
        "");
    assert_string_equal(
        support_text(db, "SELECT coalesce(string_agg(p.oid::regprocedure::text, ', '), '') FROM "
                         "pg_proc p WHERE p.pronamespace = 'lockstep'::regnamespace AND "
                         "p.proowner <> 'lockstep_owner'::regrole"),
        "");
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_statement_can_be_prepared, teardown),
        cmocka_unit_test_teardown(every_statement_has_as_many_parameters_as_it_says, teardown),
        cmocka_unit_test_teardown(every_statement_returns_the_columns_of_its_contract, teardown),
        cmocka_unit_test_teardown(every_function_of_ours_names_its_groups_and_never_public,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
