/* Task SQL: where one statement ends, refused ones, those that leave something in the session. */
#include "base/str.h"
#include "task/statement.h"
#include "tests/support/rc.h"

#include <ctype.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Splits sql and compares with the parts, which are joined by '|'. */
static void splits(const char *sql, const char *parts)
{
    FREE_AUTO struct statement *statements = NULL;
    int count = 0;
    struct err err = {0};
    STR_AUTO joined = {0};
    if (statement_split(sql, &statements, &count, &err) != RC_OK)
        fail_msg("%s: %s", sql, err.message);
    for (int i = 0; i < count; i++) {
        str_text(&joined, i ? "|" : "");
        str_add(&joined, statements[i].text, statements[i].len);
    }
    if (strcmp(joined.data, parts) != 0)
        fail_msg("%s: is split into %s", sql, joined.data);
}

static void whole(const char *sql)
{
    splits(sql, sql);
}

static void refused(const char *sql, const char *word)
{
    FREE_AUTO struct statement *statements = NULL;
    int count = 0;
    struct err err = {0};
    enum rc rc = statement_split(sql, &statements, &count, &err);
    if (rc != RC_REJECT || strstr(err.message, word) == NULL || err.hint[0] == '\0')
        fail_msg("%s: rc %s, message %s, hint %s", sql, rc_name(rc), err.message, err.hint);
    assert_int_equal(statement_split(sql, &statements, &count, NULL), RC_REJECT);
}

static void one(const char *sql, bool plain, bool changes_session)
{
    FREE_AUTO struct statement *statements = NULL;
    int count = 0;
    struct err err = {0};
    if (statement_split(sql, &statements, &count, &err) != RC_OK)
        fail_msg("%s: %s", sql, err.message);
    if (count != 1 || statements->plain != plain || statements->changes_session != changes_session)
        fail_msg("%s: %d statements, plain %d, changes_session %d", sql, count, statements->plain,
                 statements->changes_session);
}

static void statements_end_at_semicolons(void **state)
{
    (void)state;
    splits("SELECT 1", "SELECT 1");
    splits("SELECT 1;", "SELECT 1");
    splits(" \n SELECT 1 \t; ; ;;\n SELECT 2 ", "SELECT 1|SELECT 2");
    splits("INSERT INTO t VALUES (1);UPDATE t SET x=2;DELETE FROM t",
           "INSERT INTO t VALUES (1)|UPDATE t SET x=2|DELETE FROM t");
}

static void semicolons_in_strings_and_identifiers_do_not_split(void **state)
{
    (void)state;
    whole("SELECT ';'");
    whole("SELECT 'it''s; fine'");
    splits("SELECT 'a\\'; SELECT 2", "SELECT 'a\\'|SELECT 2"); /* standard_conforming_strings */
    whole("SELECT E'a\\'; SELECT 2'");
    whole("SELECT e'\\\\''; '");
    splits("SELECT E'\\\\'; SELECT 2", "SELECT E'\\\\'|SELECT 2");
    splits("SELECT type'a\\'; SELECT 2",
           "SELECT type'a\\'|SELECT 2"); /* no E string: the e ends a word */
    whole("SELECT U&'d\\0061; t'");
    whole("SELECT U&\"d\\0061; t\" FROM t");
    whole("SELECT B'01;', X'ff;', N'a;'");
    whole("SELECT \"a;\"\"b;\" FROM \"t;\"");
}

static void an_escape_string_that_goes_on_in_the_next_line_stays_one(void **state)
{
    (void)state;
    whole("SELECT E'a'\n'b\\'; SELECT 2'");
    whole("SELECT E'a' -- and;\n  'b\\'; SELECT 2'");
    splits("SELECT E'a' 'b\\'; SELECT 2", "SELECT E'a' 'b\\'|SELECT 2");
    splits("SELECT E'a'\n; SELECT 2", "SELECT E'a'|SELECT 2");
    splits("SELECT 'a'\n'b\\'; SELECT 2", "SELECT 'a'\n'b\\'|SELECT 2");
}

static void dollar_quotes_are_honoured(void **state)
{
    (void)state;
    whole("DO $$ BEGIN NULL; END $$");
    whole("SELECT $a$;$b$;$a $;$a$");
    whole("SELECT $\xc3\xa9_1$;$\xc3\xa9_1$");
    splits("SELECT $1; SELECT $2", "SELECT $1|SELECT $2");
    splits("SELECT a$b$; SELECT c$b$", "SELECT a$b$|SELECT c$b$"); /* $ continues a word */
    splits("SELECT $1a; SELECT 2", "SELECT $1a|SELECT 2");
}

static void comments_hide_semicolons_and_nest(void **state)
{
    (void)state;
    whole("SELECT 1 -- ; no");
    splits("SELECT 1 -- ; no\r; SELECT 2", "SELECT 1 -- ; no|SELECT 2");
    whole("SELECT /* ; /* ; */ ; */ 1");
    whole("/* hint; */ SELECT 1");
    whole("SELECT 1 +/* ; */ 1");
    whole("SELECT '/*', 1 --';");
    splits("SELECT 1/2; SELECT 3 - -4", "SELECT 1/2|SELECT 3 - -4");
}

static void a_rule_and_a_body_in_sql_keep_their_semicolons(void **state)
{
    (void)state;
    whole("CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; INSERT INTO v VALUES (1))");
    splits("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 "
           "END; END; "
           "SELECT 2",
           "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 "
           "END; END|SELECT 2");
    splits("create or replace procedure p() begin /* x */ atomic insert into t select (case 1 when "
           "1 then 2 end) "
           "as end; select x.end, x.case from x; end; select 2",
           "create or replace procedure p() begin /* x */ atomic insert into t select (case 1 when "
           "1 then 2 end) "
           "as end; select x.end, x.case from x; end|select 2");
    splits("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 2'; SELECT 3",
           "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 2'|SELECT 3");
    splits("CREATE TABLE atomic (begin int); SELECT 1", "CREATE TABLE atomic (begin int)|SELECT 1");
    /* unbalanced: one text, which the server refuses */
    whole("SELECT (1; COMMIT");
    splits("SELECT 1); SELECT 2", "SELECT 1)|SELECT 2");
}

static void transaction_control_is_refused_wherever_it_hides(void **state)
{
    (void)state;
    refused("BEGIN", "BEGIN");
    refused("begin transaction read only", "BEGIN");
    refused("START TRANSACTION", "START TRANSACTION");
    refused("COMMIT", "COMMIT");
    refused("COMMIT PREPARED 'x'", "COMMIT");
    refused("COMMIT AND CHAIN", "COMMIT");
    refused("END", "END");
    refused("ROLLBACK", "ROLLBACK");
    refused("ROLLBACK TO SAVEPOINT a", "ROLLBACK");
    refused("ABORT", "ABORT");
    refused("SAVEPOINT a", "SAVEPOINT");
    refused("RELEASE a", "RELEASE");
    refused("PREPARE TRANSACTION 'x'", "PREPARE TRANSACTION");
    refused("prepare /* */ transaction 'x'", "PREPARE TRANSACTION");
    refused("INSERT INTO t VALUES (1); CoMmIt", "COMMIT");
    refused("/* a /* b */ c */ -- d\n COMMIT;", "COMMIT");
    refused("SELECT 'a\\'; COMMIT; --'", "COMMIT");
    refused("SELECT $$a$$; COMMIT", "COMMIT");
    refused("(COMMIT)", "COMMIT");
    refused(";;COMMIT", "COMMIT");
    refused("SELECT E'a'\n'b'; COMMIT", "COMMIT");
}

static void the_refusal_names_the_statement_and_what_to_do(void **state)
{
    (void)state;
    FREE_AUTO struct statement *statements = NULL;
    int count;
    struct err err = {0};
    assert_int_equal(statement_split("SELECT 1; SELECT 2; COMMIT", &statements, &count, &err),
                     RC_REJECT);
    assert_string_equal(err.object, "statement 3");
    assert_string_equal(err.message, "COMMIT is not allowed in the SQL of a task");
    assert_non_null(strstr(err.hint, "the executor itself commits"));
}

static void what_makes_the_record_of_a_task_impossible_is_refused(void **state)
{
    (void)state;
    refused("SET TRANSACTION READ ONLY", "SET TRANSACTION");
    refused("SET LOCAL TRANSACTION READ ONLY", "SET TRANSACTION");
    refused("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION");
    refused("SET transaction_read_only = on", "SET transaction_read_only");
    refused("SET LOCAL transaction_isolation TO 'serializable'", "SET transaction_isolation");
    refused("SET \"transaction_deferrable\" TO on", "SET transaction_deferrable");
    refused("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET SESSION CHARACTERISTICS");
    refused("SET SESSION AUTHORIZATION bob", "SET SESSION AUTHORIZATION");
    refused("SET LOCAL SESSION AUTHORIZATION bob", "SET SESSION AUTHORIZATION");
    refused("SET SESSION SESSION AUTHORIZATION DEFAULT", "SET SESSION AUTHORIZATION");
    refused("SET session_authorization = 'bob'", "SET session_authorization");
    refused("RESET SESSION AUTHORIZATION", "RESET SESSION AUTHORIZATION");
    refused("RESET session_authorization", "RESET session_authorization");
    refused("DISCARD ALL", "DISCARD");
    refused("DEALLOCATE ALL", "DEALLOCATE ALL");
    refused("deallocate prepare all", "DEALLOCATE ALL");
    one("ALTER ROLE ALL PASSWORD NULL", false, false);
    one("ALTER TABLE current_user SET (fillfactor = 50)", false, false);
    refused("SET U&\"transaction_read_only\" = on", "SET U&");
    refused("SET LOCAL U&\"\\0074ransaction_read_only\" TO on", "SET U&");
    refused("RESET u&\"session_authorization\"", "RESET U&");
    refused("ALTER ROLE CURRENT_USER SET search_path = other", "ALTER ROLE");
    refused("alter user session_user reset all", "ALTER ROLE");
    refused("ALTER ROLE ALL IN DATABASE d SET work_mem = '1GB'", "ALTER ROLE");
}

static void copy_from_and_to_the_client_is_refused(void **state)
{
    (void)state;
    refused("COPY t FROM STDIN", "COPY");
    refused("COPY t FROM stdout", "COPY");
    refused("COPY t TO STDIN", "COPY");
    refused("copy t (a, b) from stdin with (format csv)", "COPY");
    refused("COPY (SELECT 1) TO STDOUT", "COPY");
    one("COPY t FROM '/tmp/stdin'", false, false);
    one("COPY t (stdin) TO '/tmp/x'", false, false);
    one("SELECT stdin FROM stdout", true, false);
}

static void what_has_no_end_is_refused_with_its_place(void **state)
{
    (void)state;
    refused("SELECT 'a", "string without an end; it starts at byte 7");
    refused("SELECT 'a''", "string");
    refused("SELECT E'a\\'", "string");
    refused("SELECT E'a\\", "string");
    refused("SELECT E'a'\n'b", "string");
    refused("SELECT \"a", "identifier in double quotes");
    refused("SELECT $a$ $b$", "dollar-quoted string");
    refused("SELECT $$ $", "dollar-quoted string");
    refused("SELECT 1 /* /* */", "comment without an end; it starts at byte 9");
    refused("/*", "comment");
    refused("", "no statement");
    refused(" ;; -- nothing\n /* at all */ ;", "no statement");
}

static void plain_statements_are_those_that_share_an_implicit_transaction(void **state)
{
    (void)state;
    one("SELECT 1", true, false);
    one("((SELECT 1) UNION SELECT 2)", true, false);
    one("insert into t values (1)", true, false);
    one("UPDATE t SET x = 1", true, false);
    one("UPDATE t SET listen = 1, load = 2, reset = 3", true, false);
    one("DELETE FROM t", true, false);
    one("MERGE INTO t USING s ON true WHEN MATCHED THEN UPDATE SET x = 1", true, false);
    one("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", true, false);
    one("VALUES (1)", true, false);
    one("TABLE t", true, false);
    one("CREATE TABLE t (x int)", false, false);
    one("VACUUM t", false, false);
    one("\"select\" 1", true, false); /* the server refuses it */
}

static void what_leaves_something_in_the_session_is_flagged(void **state)
{
    (void)state;
    static const char *const other[] = {
        "SET search_path = x",
        "SET LOCAL work_mem = '1MB'",
        "SET ROLE bob",
        "RESET ALL",
        "LISTEN a",
        "UNLISTEN *",
        "LOAD 'x'",
        "PREPARE a AS SELECT 1",
        "DEALLOCATE a",
        "DECLARE c CURSOR FOR SELECT 1",
        "DO $$ BEGIN NULL; END $$",
        "CALL p()",
        "CREATE TEMP TABLE t (x int)",
        "create temporary view v as select 1",
        "CREATE LOCAL TEMPORARY TABLE t (x int)",
        "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
        "CREATE TEMP SEQUENCE s",
        "CREATE TABLE pg_temp.t (x int)",
        "CREATE FUNCTION pg_temp.f() RETURNS int AS '' LANGUAGE sql",
        "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE SELECT set_config('a', 'b', false)"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        one(other[i], false, true);
    static const char *const plain[] = {
        "SELECT set_config('search_path', 'x', false)",
        "SELECT pg_catalog . SET_CONFIG('a', 'b', false)",
        "SELECT \"set_config\"('a', 'b', false)",
        "SELECT U&\"set\\005fconfig\"('a', 'b', false)",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_try_advisory_lock_shared(1, 2)",
        "SELECT pg_advisory_unlock_all()",
        "SELECT setseed(0.5)",
        "UPDATE pg_catalog.pg_settings SET setting = 'other' WHERE name = 'search_path'",
        "update \"pg_settings\" set setting = 'on'",
        "SELECT dblink_connect('a', 'b')",
        "SELECT dblink_connect_u('a')",
        "SELECT 1 INTO TEMP t",
        "SELECT 1 AS a INTO LOCAL TEMPORARY t",
        "SELECT 1 INTO pg_temp.t",
        "WITH a AS (SELECT 1) SELECT * INTO temporary TABLE t FROM a",
        "INSERT INTO t SELECT pg_advisory_lock_shared(1)"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        one(plain[i], true, true);
}

static void what_only_looks_like_it_is_not_flagged(void **state)
{
    (void)state;
    one("SELECT 'set_config', $$pg_advisory_lock$$ -- setseed", true, false);
    one("SELECT pg_advisory_xact_lock(1), pg_try_advisory_xact_lock_shared(2)", true, false);
    one("SELECT temp, temporary FROM t WHERE temp > 1", true, false);
    one("INSERT INTO t (temp) VALUES (1)", true, false);
    one("SELECT my_set_config()", true, false);
    one("ALTER TABLE t SET (fillfactor = 70)", false, false);
}

static void a_long_hostile_text_takes_linear_time_and_no_stack(void **state)
{
    (void)state;
    enum { SIZE = 1000000 };
    FREE_AUTO char *text = xmalloc(SIZE + 1);
    static const char *const patterns[] = {"(",       "/*", "*/", "$a$b",      "'", "\"",
                                           "E'\\'\n", "a;", "--", "case end ", "$"};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t n = strlen(patterns[p]);
        for (size_t i = 0; i < SIZE; i++)
            text[i] = patterns[p][i % n];
        text[SIZE] = '\0';
        FREE_AUTO struct statement *statements = NULL;
        int count;
        struct err err;
        enum rc rc = statement_split(text, &statements, &count, &err);
        assert_true(rc == RC_OK || rc == RC_REJECT);
    }
}

/** The locale's own i without a dot would let "commit" through, if it were asked. */
static void the_locale_plays_no_part(void **state)
{
    (void)state;
    char directory[] = "/tmp/lockstep-locale-XXXXXX";
    assert_non_null(mkdtemp(directory));
    STR_AUTO make = {0}, drop = {0};
    str_format(&make, "localedef -i tr_TR -f UTF-8 %s/tr_TR.UTF-8 >/dev/null 2>&1", directory);
    str_format(&drop, "rm -rf %s", directory);
    bool made = system(make.data) == 0;
    (void)setenv("LOCPATH", directory, 1);
    made = made && setlocale(LC_ALL, "tr_TR.UTF-8") != NULL;
    assert_int_equal(system(drop.data), 0);
    if (!made)
        skip(); /* no localedef here */
    assert_int_equal(toupper('i'), 'i');
    refused("insert into t values (1); commit", "COMMIT");
    refused("begin", "BEGIN");
    refused("discard all", "DISCARD");
    refused("set session authorization bob", "SET SESSION AUTHORIZATION");
    one("select set_config('a', 'b', false)", true, true);
    one("listen i", false, true);
    (void)setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_end_at_semicolons),
        cmocka_unit_test(semicolons_in_strings_and_identifiers_do_not_split),
        cmocka_unit_test(an_escape_string_that_goes_on_in_the_next_line_stays_one),
        cmocka_unit_test(dollar_quotes_are_honoured),
        cmocka_unit_test(comments_hide_semicolons_and_nest),
        cmocka_unit_test(a_rule_and_a_body_in_sql_keep_their_semicolons),
        cmocka_unit_test(transaction_control_is_refused_wherever_it_hides),
        cmocka_unit_test(the_refusal_names_the_statement_and_what_to_do),
        cmocka_unit_test(what_makes_the_record_of_a_task_impossible_is_refused),
        cmocka_unit_test(copy_from_and_to_the_client_is_refused),
        cmocka_unit_test(what_has_no_end_is_refused_with_its_place),
        cmocka_unit_test(plain_statements_are_those_that_share_an_implicit_transaction),
        cmocka_unit_test(what_leaves_something_in_the_session_is_flagged),
        cmocka_unit_test(what_only_looks_like_it_is_not_flagged),
        cmocka_unit_test(the_locale_plays_no_part),
        cmocka_unit_test(a_long_hostile_text_takes_linear_time_and_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
