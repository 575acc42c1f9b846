/* ctest: timeout=180 long
 * The migrations of one database: several migrators at once, schemas that are behind, ahead or
 * altered. The roles, which belong to the whole cluster, are in migrate_roles_test.c. */
#include "tests/db/migrators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROWD 4

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static void everything_is_applied_once(void **state)
{
    (void)state;
    struct db *db = open_at(support_empty_database(), DB_MIGRATE);
    struct err err;
    assert_int_equal(up(db), SCRIPTS);
    assert_int_equal(up(db), 0);
    assert_ok(migrate_validate(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.migration"),
                     SQL_MIGRATION_COUNT);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.function_version"),
                     SQL_SCRIPT_COUNT - SQL_MIGRATION_COUNT);
    db_close(db);
}

static void several_migrators_at_once_apply_everything_once(void **state)
{
    (void)state;
    const char *where = support_empty_database();
    struct migrator crowd[CROWD] = {0};
    for (int i = 0; i < CROWD; i++)
        crowd[i].db = open_at(where, DB_MIGRATE);
    assert_int_equal(migrate_together(crowd, CROWD), SCRIPTS);
}

static void a_dry_run_shows_everything_and_changes_nothing(void **state)
{
    (void)state;
    struct db *db = open_at(support_empty_database(), DB_MIGRATE);
    struct err err;
    char *text = NULL;
    size_t len = 0;
    int applied = -1;
    FILE *show = open_memstream(&text, &len);
    assert_non_null(show);
    assert_ok(migrate_up(db, true, show, &applied, &err), &err);
    (void)fclose(show);
    assert_int_equal(applied, SCRIPTS);
    for (int i = 0; i < SQL_SCRIPT_COUNT; i++)
        assert_non_null(strstr(text, sql_scripts[i].text));
    free(text);
    assert_int_equal(
        support_int(db, "SELECT count(*) FROM pg_namespace WHERE nspname = 'lockstep'"), 0);
    db_close(db);
}

static void an_empty_database_is_not_valid_and_says_what_to_do(void **state)
{
    (void)state;
    struct db *db = open_at(support_empty_database(), DB_CLI);
    struct err err;
    assert_rc(migrate_validate(db, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_SCHEMA);
    assert_non_null(strstr(err.hint, "lockstep migrate up"));
    db_close(db);
}

static void the_list_tells_what_is_applied_and_what_is_to_come(void **state)
{
    (void)state;
    struct db *db = open_at(support_empty_database(), DB_MIGRATE);
    struct err err;
    for (int round = 0; round < 2; round++) {
        FREE_AUTO struct migrate_item *items = NULL;
        int count = 0;
        assert_ok(migrate_list(db, &items, &count, &err), &err);
        assert_int_equal(count, SCRIPTS);
        for (int i = 0; i < count; i++) {
            assert_int_equal(items[i].state, round ? MIGRATE_APPLIED : MIGRATE_PENDING);
            assert_int_equal(items[i].applied_at[0] != '\0', round);
        }
        assert_string_equal(items[0].name, sql_scripts[0].name);
        assert_int_equal(items[0].version, 1);
        if (round == 0)
            (void)up(db);
    }
    db_close(db);
}

/** Neither validate nor up accepts the schema; both say this. */
static void refused_as(struct db *db, const char *words)
{
    struct err err;
    int applied = -1;
    assert_rc(migrate_validate(db, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_SCHEMA);
    assert_non_null(strstr(err.message, words));
    assert_rc(migrate_up(db, false, NULL, &applied, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_SCHEMA);
    assert_non_null(strstr(err.message, words));
    assert_true(err.hint[0] != '\0');
    assert_int_equal(applied, -1);
}

static void a_newer_schema_is_refused(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    support_exec(db,
                 "INSERT INTO lockstep.migration (version, name, checksum) VALUES (%d, 'x', '')",
                 SQL_MIGRATION_COUNT + 1);
    refused_as(db, "newer than this program");
    db_close(db);
}

static void a_migration_with_another_text_is_refused(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    support_exec(db, "UPDATE lockstep.migration SET checksum = 'x' WHERE version = 1");
    refused_as(db, "another text");
    db_close(db);
}

static void a_migration_with_another_name_is_refused_and_kept_aside(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    struct err err;
    support_exec(db, "UPDATE lockstep.migration SET name = '0001_roles' WHERE version = 1");
    refused_as(db, "migration 1 of the schema is 0001_roles, that of this program is "
                   "0001_baseline");
    assert_rc(migrate_validate(db, &err), RC_FATAL, &err);
    assert_non_null(strstr(err.hint, "ALTER SCHEMA lockstep RENAME TO lockstep_before; "));
    support_exec(db, "ALTER SCHEMA lockstep RENAME TO lockstep_before");
    assert_int_equal(up(db), SCRIPTS);
    assert_ok(migrate_validate(db, &err), &err);
    db_close(db);
}

static void a_schema_that_is_behind_is_not_valid_and_up_mends_it(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    struct err err;
    support_exec(db, "UPDATE lockstep.function_version SET checksum = 'x' WHERE name = 'claim'; "
                     "DROP FUNCTION lockstep.is_finished; DELETE FROM lockstep.function_version "
                     "WHERE name = 'is_finished'");
    assert_rc(migrate_validate(db, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_SCHEMA);
    assert_non_null(strstr(err.message, "not current"));
    assert_int_equal(up(db), 2);
    assert_ok(migrate_validate(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT lockstep.is_finished('Failed')::int"), 1);
    db_close(db);
}

static void a_function_whose_text_changed_keeps_what_users_were_granted_on_it(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    support_exec(db, "GRANT EXECUTE ON FUNCTION lockstep.enqueue TO pg_monitor; "
                     "GRANT SELECT ON lockstep.rejected TO pg_monitor");
    changed(db, "enqueue");
    changed(db, "rejected");
    assert_int_equal(up(db), 2);
    assert_int_equal(
        support_int(db,
                    "SELECT count(*) FROM pg_proc p WHERE proname = 'enqueue' AND pronamespace "
                    "= 'lockstep'::regnamespace AND has_function_privilege('pg_monitor', p.oid, "
                    "'EXECUTE') AND has_table_privilege('pg_monitor', 'lockstep.rejected', "
                    "'SELECT')"),
        1);
    db_close(db);
}

static void a_function_with_other_parameters_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    struct err err;
    /* As an older version had them: other types, another name, another result; other columns. */
    support_exec(
        db, "CREATE FUNCTION lockstep.is_finished(status text, int) RETURNS boolean LANGUAGE sql "
            "AS 'SELECT true'; ALTER FUNCTION lockstep.is_finished(text, int) OWNER TO "
            "lockstep_owner; DROP FUNCTION lockstep.phase_key; CREATE FUNCTION "
            "lockstep.phase_key(other bigint, lock int) RETURNS bigint LANGUAGE sql AS "
            "'SELECT 1::bigint'; ALTER FUNCTION lockstep.phase_key(bigint, int) OWNER TO "
            "lockstep_owner; DROP VIEW lockstep.rejected; CREATE VIEW lockstep.rejected AS "
            "SELECT 1 AS one; ALTER VIEW lockstep.rejected OWNER TO lockstep_owner");
    changed(db, "is_finished");
    changed(db, "phase_key");
    changed(db, "rejected");
    assert_int_equal(up(db), 3);
    assert_ok(migrate_validate(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT count(*) FROM pg_proc WHERE pronamespace = "
                                     "'lockstep'::regnamespace AND proname = 'is_finished'"),
                     1);
    assert_string_equal(support_text(db, "SELECT pg_typeof(lockstep.phase_key(1, 0))::text"),
                        "integer");
    assert_int_equal(support_int(db, "SELECT count(\"offset\") FROM lockstep.rejected"), 0);
    assert_int_equal(support_int(db, "SELECT has_function_privilege('lockstep_executor', "
                                     "'lockstep.phase_key(bigint, int)', 'EXECUTE')::int + "
                                     "has_table_privilege('lockstep_producer', "
                                     "'lockstep.rejected', 'SELECT')::int"),
                     2);
    db_close(db);
}

static void a_function_or_view_that_is_no_longer_ours_is_dropped(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    struct err err;
    support_exec(db, "CREATE FUNCTION lockstep.old() RETURNS int LANGUAGE sql AS 'SELECT 1'; "
                     "CREATE FUNCTION lockstep.old(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; "
                     "CREATE VIEW lockstep.older AS SELECT 1; "
                     "ALTER FUNCTION lockstep.old() OWNER TO lockstep_owner; "
                     "ALTER FUNCTION lockstep.old(int) OWNER TO lockstep_owner; "
                     "ALTER VIEW lockstep.older OWNER TO lockstep_owner; "
                     "INSERT INTO lockstep.function_version (name, checksum, release) "
                     "VALUES ('old', 'x', '0.0.9'), ('older', 'x', '0.1'), "
                     "('gone_before', 'x', '0')");
    assert_ok(migrate_validate(db, &err), &err);
    assert_int_equal(up(db), 3);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.function_version "
                                     "WHERE checksum <> ''"),
                     SQL_SCRIPT_COUNT - SQL_MIGRATION_COUNT);
    assert_ok(migrate_validate(db, &err), &err);
    assert_int_equal(up(db), 0);
    assert_int_equal(support_int(db,
                                 "SELECT (SELECT count(*) FROM pg_proc WHERE proname = 'old') + "
                                 "(SELECT count(*) FROM pg_class WHERE relname = 'older')"),
                     0);
    db_close(db);
}

static void a_function_that_a_newer_release_dropped_is_not_made_again(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    support_exec(db, "DROP FUNCTION lockstep.is_finished(lockstep.status); UPDATE "
                     "lockstep.function_version SET checksum = '', release = '999.0' WHERE name = "
                     "'is_finished'");
    refused_as(db, "is_finished is of lockstep 999.0");
    support_exec(db, "UPDATE lockstep.function_version SET release = '0.0.1' WHERE name = "
                     "'is_finished'");
    assert_int_equal(up(db), 1); /* it came back */
    db_close(db);
}

static void a_function_of_a_newer_release_is_refused_and_stays(void **state)
{
    (void)state;
    struct db *db = open_at(support_database(), DB_MIGRATE);
    struct err err;
    support_exec(db,
                 "UPDATE lockstep.function_version SET release = '0.10.0' WHERE name = 'claim'");
    assert_ok(migrate_validate(db, &err), &err); /* its text is the same */
    changed(db, "claim");
    refused_as(db, "claim is of lockstep 0.10.0");
    support_exec(db,
                 "UPDATE lockstep.function_version SET release = '0.0.10' WHERE name = 'claim'");
    assert_int_equal(up(db), 1);
    support_exec(db, "CREATE FUNCTION lockstep.later() RETURNS int LANGUAGE sql AS 'SELECT 1'; "
                     "ALTER FUNCTION lockstep.later() OWNER TO lockstep_owner; "
                     "INSERT INTO lockstep.function_version (name, checksum, release) "
                     "VALUES ('later', 'x', '2.0.0')");
    refused_as(db, "later is of lockstep 2.0.0");
    assert_int_equal(support_int(db, "SELECT lockstep.later()"), 1);
    db_close(db);
}

/** scripts/schema.py prints the difference, and the command that renews the file. */
static void the_scripts_add_up_to_the_schema_that_is_written_down(void **state)
{
    (void)state;
    const char *where = support_empty_database();
    struct db *db = open_at(where, DB_MIGRATE);
    STR_AUTO command = {0};
    (void)up(db);
    db_close(db);
    str_format(&command, "python3 '%s/scripts/schema.py' --check '%s'", LOCKSTEP_SOURCE, where);
    assert_int_equal(system(command.data), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(everything_is_applied_once, teardown),
        cmocka_unit_test_teardown(several_migrators_at_once_apply_everything_once, teardown),
        cmocka_unit_test_teardown(a_dry_run_shows_everything_and_changes_nothing, teardown),
        cmocka_unit_test_teardown(an_empty_database_is_not_valid_and_says_what_to_do, teardown),
        cmocka_unit_test_teardown(the_list_tells_what_is_applied_and_what_is_to_come, teardown),
        cmocka_unit_test_teardown(a_newer_schema_is_refused, teardown),
        cmocka_unit_test_teardown(a_migration_with_another_text_is_refused, teardown),
        cmocka_unit_test_teardown(a_migration_with_another_name_is_refused_and_kept_aside,
                                  teardown),
        cmocka_unit_test_teardown(a_schema_that_is_behind_is_not_valid_and_up_mends_it, teardown),
        cmocka_unit_test_teardown(a_function_whose_text_changed_keeps_what_users_were_granted_on_it,
                                  teardown),
        cmocka_unit_test_teardown(a_function_with_other_parameters_takes_the_place_of_the_old_one,
                                  teardown),
        cmocka_unit_test_teardown(a_function_or_view_that_is_no_longer_ours_is_dropped, teardown),
        cmocka_unit_test_teardown(a_function_of_a_newer_release_is_refused_and_stays, teardown),
        cmocka_unit_test_teardown(a_function_that_a_newer_release_dropped_is_not_made_again,
                                  teardown),
        cmocka_unit_test_teardown(the_scripts_add_up_to_the_schema_that_is_written_down, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
