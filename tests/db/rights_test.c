/* ctest: timeout=120
 * What each group role can do, as docs/explanation/guarantees.md has it: every line of its table is
 * tried as every role. */
#include "tests/db/roles.h"

#include <stdlib.h>

#define COLUMNS 6

/* A statement is permitted if it is not refused for want of a right, although it may have other
 * errors. Tried in a transaction that is rolled back. */
static const struct act {
    const char *name, *sql;
} acts[] = {
    {"read queues and runs", "SELECT FROM lockstep.queue JOIN lockstep.run_status ON true"},
    {"read what a task says and how it ended", "SELECT payload, status, error FROM lockstep.task"},
    {"read the token of an attempt", "SELECT token FROM lockstep.task"},
    {"end an attempt whose token it holds", "SELECT lockstep.complete(1, " TOKEN ")"},
    {"write a row of a run, phase or task",
     "UPDATE lockstep.task SET name = 'x'; UPDATE lockstep.phase SET opened_at = now(); UPDATE "
     "lockstep.run SET "
     "name = 'x'"},
    {"write an event in the name of another",
     "INSERT INTO lockstep.event_log (event, actor) VALUES ('x', 'dba')"},
    {"publish from SQL with enqueue",
     "SELECT lockstep.enqueue('q', ARRAY['{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb])"},
    {"note a publishing, with the producers' lock",
     "SELECT pg_try_advisory_xact_lock(lockstep.lock_class('producer'), 1), "
     "lockstep.publish_start(1, " WRONG
     ", NULL, 'stop', 'finite', NULL, NULL, NULL, NULL, NULL, 0)"},
    {"redrive rejected messages",
     "SELECT lockstep.redrive_begin(1, '{}', " WRONG ", false, 'x', true)"},
    {"replay",
     "SELECT lockstep.replay_begin(1, NULL, 'missing', 0, 10, NULL, NULL, 'x', false, false)"},
    {"create and change queues", "INSERT INTO lockstep.queue (name, topic) VALUES ('r', 't'); "
                                 "UPDATE lockstep.queue SET max_readers = 2"},
    {"delete a queue with its tasks", "SELECT lockstep.queue_delete(1)"},
    {"cancel a run", "SELECT lockstep.run_cancel(" TOKEN ", 'x', 'q')"},
    {"take an external task", "SELECT lockstep.next_task('q', 'w')"},
    {"make a foreign key to the task",
     "CREATE TABLE mine (x bigint REFERENCES lockstep.task (task_id))"},
    {"make something in the schema lockstep", "CREATE TABLE lockstep.mine ()"},
    {"become lockstep_owner", "SET ROLE lockstep_owner"},
};

static bool permitted(struct db *db, const char *sql)
{
    struct err err = {0}, ignored;
    assert_ok(db_script(db, "BEGIN", NULL, &ignored), &ignored);
    enum rc rc = db_script(db, sql, NULL, &err);
    assert_ok(db_script(db, "ROLLBACK; RESET ROLE", NULL, &ignored), &ignored);
    if (rc != RC_OK && strcmp(err.code, "42501") != 0)
        print_message("%s\n  %s %s\n", sql, err.code, err.message);
    return rc == RC_OK || strcmp(err.code, "42501") != 0;
}

/* The words of "| act | yes | no ... |"; false: another line. */
static bool read_line(char *line, const char *act, bool ret_yes[COLUMNS])
{
    size_t len = strlen(act);
    if (strncmp(line, "| ", 2) != 0 || strncmp(line + 2, act, len) != 0 ||
        strncmp(line + 2 + len, " |", 2) != 0)
        return false;
    char *at = line + 2 + len + 2;
    for (int i = 0; i < COLUMNS; i++) {
        char word[8];
        int used = 0;
        assert_int_equal(sscanf(at, " %7s |%n", word, &used), 1);
        assert_true(strcmp(word, "yes") == 0 || strcmp(word, "no") == 0);
        ret_yes[i] = word[0] == 'y';
        at += used;
    }
    return true;
}

/* Also counts the lines of the table: none is without its act here. */
static int find_line(const char *act, bool ret_yes[COLUMNS], bool *ret_found)
{
    FILE *page = fopen(LOCKSTEP_SOURCE "/docs/explanation/guarantees.md", "r");
    char line[1000];
    bool inside = false;
    int lines = 0;
    assert_non_null(page);
    *ret_found = false;
    while (fgets(line, sizeof line, page) != NULL) {
        inside = strncmp(line, "| act | executor | task | producer | operator | monitor | worker |",
                         66) == 0 ||
                 (inside && line[0] == '|');
        lines += inside;
        *ret_found |= inside && read_line(line, act, ret_yes);
    }
    (void)fclose(page);
    return lines - 2;
}

static void each_role_can_do_what_the_table_says_and_nothing_else(void **state)
{
    struct house *house = *state;
    static const char *const groups[COLUMNS] = {"lockstep_executor", "lockstep_task",
                                                "lockstep_producer", "lockstep_operator",
                                                "lockstep_monitor",  "lockstep_worker"};
    int wrong = 0, count = (int)(sizeof acts / sizeof *acts);
    support_exec(house->admin, "GRANT CREATE ON SCHEMA public TO PUBLIC");
    for (int c = 0; c < COLUMNS; c++) {
        struct db *db = login(house, groups[c], DB_CLI);
        support_exec(db, "SET search_path = public");
        for (int i = 0; i < count; i++) {
            bool yes[COLUMNS], found;
            assert_int_equal(find_line(acts[i].name, yes, &found), count);
            assert_true(found);
            if (permitted(db, acts[i].sql) == yes[c])
                continue;
            print_error("%s: \"%s\" is %s, the table says otherwise\n", groups[c], acts[i].name,
                        yes[c] ? "refused" : "permitted");
            wrong++;
        }
        db_close(db);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_role_can_do_what_the_table_says_and_nothing_else,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
