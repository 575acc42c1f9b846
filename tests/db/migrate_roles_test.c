/* ctest: timeout=180 long
 * The roles, which belong to the whole cluster, and the login that migrates: each test starts a
 * server of its own (tests/db/private_server). */
#include "base/str.h"
#include "tests/db/migrators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char home[64], conninfo[256]; /* of the private server, if one runs */

static void read_line(FILE *from, char *to, size_t size)
{
    to[0] = '\0';
    if (fgets(to, (int)size, from) != NULL)
        to[strcspn(to, "\n")] = '\0';
}

static int stop_private(void **state)
{
    (void)state;
    STR_AUTO command = {0};
    str_format(&command, "bash '%s/tests/db/private_server' stop %s", LOCKSTEP_SOURCE, home);
    return system(command.data);
}

/** A fresh cluster with the databases one and two. */
static int start_private(void **state)
{
    (void)state;
    STR_AUTO command = {0};
    struct db *db = NULL;
    struct err err;
    str_format(&command, "bash '%s/tests/db/private_server' postgres", LOCKSTEP_SOURCE);
    FILE *pipe = popen(command.data, "r");
    assert_non_null(pipe);
    read_line(pipe, home, sizeof home);
    read_line(pipe, conninfo, sizeof conninfo);
    assert_int_equal(pclose(pipe), 0);
    assert_ok(db_open(conninfo, DB_CLI, &db, &err), &err);
    support_exec(db, "CREATE DATABASE one");
    support_exec(db, "CREATE DATABASE two");
    db_close(db);
    return 0;
}

static struct db *open_private(const char *rest)
{
    STR_AUTO where = {0};
    str_format(&where, "%s %s", conninfo, rest);
    return open_at(where.data, DB_MIGRATE);
}

static void two_migrators_on_two_databases_of_a_new_cluster_make_the_roles_once(void **state)
{
    (void)state;
    struct migrator crowd[4] = {0};
    for (int i = 0; i < 4; i++)
        crowd[i].db = open_private(i % 2 ? "dbname=one" : "dbname=two");
    assert_int_equal(migrate_together(crowd, 4), 2 * SCRIPTS);
}

static void a_login_role_with_a_group_roles_name_is_refused_and_nothing_is_left(void **state)
{
    (void)state;
    struct db *db = open_private("dbname=one");
    struct err err;
    int applied = -1;
    support_exec(db, "CREATE ROLE lockstep_operator LOGIN");
    assert_rc(migrate_up(db, false, NULL, &applied, &err), RC_REJECT, &err);
    assert_non_null(strstr(err.message, "lockstep_operator"));
    assert_non_null(strstr(err.hint, "ALTER ROLE lockstep_operator NOLOGIN"));
    assert_string_equal(err.object, sql_scripts[0].name);
    support_exec(db, "%s", err.hint);
    assert_int_equal(up(db), SCRIPTS);
    db_close(db);
}

static void who_may_not_make_roles_is_told_who_may(void **state)
{
    (void)state;
    struct db *admin = open_private("dbname=one");
    struct err err;
    int applied = -1;
    support_exec(admin, "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE one TO plain");
    struct db *plain = open_private("dbname=one user=plain");
    assert_rc(migrate_up(plain, false, NULL, &applied, &err), RC_FATAL, &err);
    assert_non_null(strstr(err.message, "CREATE ROLE lockstep_owner NOLOGIN;"));
    assert_non_null(strstr(err.message, "CREATE ROLE lockstep_worker NOLOGIN;"));
    assert_non_null(strstr(err.message, "GRANT lockstep_task TO lockstep_executor;"));
    assert_non_null(strstr(err.message, "GRANT lockstep_owner TO plain;"));
    assert_non_null(strstr(err.message, "GRANT CREATE ON DATABASE one TO lockstep_owner;"));
    assert_non_null(strstr(err.hint, "lockstep migrate roles --show-sql"));
    /* One visit to the administrator is enough. */
    const char *text = strstr(err.message, "CREATE ROLE");
    support_exec(admin, "%s", text);
    assert_int_equal(up(plain), SCRIPTS);
    assert_int_equal(
        support_int(admin, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0);
    db_close(plain);
    db_close(admin);
}

static void an_administrator_makes_the_roles_and_a_plain_user_migrates(void **state)
{
    (void)state;
    struct db *admin = open_private("dbname=one");
    support_exec(admin,
                 "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE one TO plain; CREATE ROLE "
                 "lockstep_owner; CREATE ROLE lockstep_executor; CREATE ROLE lockstep_task; CREATE "
                 "ROLE lockstep_producer; CREATE ROLE lockstep_operator; CREATE ROLE "
                 "lockstep_monitor; CREATE ROLE lockstep_worker; GRANT lockstep_task TO "
                 "lockstep_executor; GRANT lockstep_owner "
                 "TO plain; GRANT CREATE ON DATABASE one TO lockstep_owner");
    struct db *plain = open_private("dbname=one user=plain");
    struct err err;
    assert_int_equal(up(plain), SCRIPTS);
    assert_ok(migrate_validate(plain, &err), &err);
    db_close(plain);
    db_close(admin);
}

static void a_login_that_may_create_roles_migrates(void **state)
{
    (void)state;
    struct db *admin = open_private("dbname=one");
    struct err err;
    support_exec(admin, "CREATE ROLE maker LOGIN CREATEROLE; ALTER DATABASE one OWNER TO maker");
    struct db *maker = open_private("dbname=one user=maker");
    assert_int_equal(up(maker), SCRIPTS);
    assert_ok(migrate_validate(maker, &err), &err);
    db_close(maker);
    db_close(admin);
}

/* The bookkeeping is the owner's work, so a trigger on it has no other rights. */
static void what_a_superuser_migrates_runs_as_the_owner(void **state)
{
    (void)state;
    struct db *db = open_private("dbname=one");
    assert_int_equal(up(db), SCRIPTS);
    support_exec(db,
                 "CREATE TABLE public.who (name text); GRANT ALL ON public.who TO lockstep_owner; "
                 "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS "
                 "'BEGIN INSERT INTO public.who VALUES (current_user); RETURN NULL; END'; "
                 "CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON "
                 "lockstep.function_version FOR EACH ROW EXECUTE FUNCTION public.note(); "
                 "INSERT INTO lockstep.function_version (name, checksum, release) "
                 "VALUES ('gone_before', 'x', '0')");
    changed(db, "claim");
    support_exec(db, "TRUNCATE public.who");
    assert_int_equal(up(db), 2);
    assert_string_equal(support_text(db, "SELECT string_agg(name, ' ') FROM public.who"),
                        "lockstep_owner lockstep_owner");
    db_close(db);
}

static void a_schema_of_another_login_is_refused(void **state)
{
    (void)state;
    struct db *db = open_private("dbname=one");
    struct err err;
    int applied = -1;
    support_exec(db, "CREATE ROLE other; CREATE SCHEMA lockstep AUTHORIZATION other; "
                     "SET ROLE other; CREATE TABLE lockstep.migration (version int); RESET ROLE");
    assert_rc(migrate_up(db, false, NULL, &applied, &err), RC_FATAL, &err);
    assert_non_null(strstr(err.message, "it belongs to other"));
    support_exec(db, "%s", strstr(err.hint, "DROP SCHEMA"));
    assert_int_equal(up(db), SCRIPTS);
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            two_migrators_on_two_databases_of_a_new_cluster_make_the_roles_once, start_private,
            stop_private),
        cmocka_unit_test_setup_teardown(
            a_login_role_with_a_group_roles_name_is_refused_and_nothing_is_left, start_private,
            stop_private),
        cmocka_unit_test_setup_teardown(a_login_that_may_create_roles_migrates, start_private,
                                        stop_private),
        cmocka_unit_test_setup_teardown(what_a_superuser_migrates_runs_as_the_owner, start_private,
                                        stop_private),
        cmocka_unit_test_setup_teardown(a_schema_of_another_login_is_refused, start_private,
                                        stop_private),
        cmocka_unit_test_setup_teardown(who_may_not_make_roles_is_told_who_may, start_private,
                                        stop_private),
        cmocka_unit_test_setup_teardown(an_administrator_makes_the_roles_and_a_plain_user_migrates,
                                        start_private, stop_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
