/* check --security: rights by which one role could become another, as the database finds them
 * (sql/security/). Two grades: 2 and above fails, 1 warns. A plain check asks only for rights to
 * create objects (check_rights with only_creation).
 *
 * It has an option of its own because it judges all roles of the database, not only those that this
 * configuration names. */
#include "cli/check.h"

#include <stdio.h>
#include <string.h>

static enum topic_grade grade_of(int64_t grade)
{
    return grade >= 2 ? TOPIC_FAIL : TOPIC_WARN;
}

int check_rights(struct check *check, const char *task_login, bool only_creation)
{
    struct err err;
    DB_RESULT_AUTO *found = NULL;
    const char *const params[] = {task_login, only_creation ? "true" : "false"};
    if (db_run(check->cli->db, &sql_security_findings, params, &found, &err) != RC_OK) {
        check_failed(check, "security", &err);
        return 1;
    }
    for (int i = 0; i < db_rows(found); i++)
        check_report(check, grade_of(db_int(found, i, SECURITY_FINDINGS_GRADE)),
                     db_text(found, i, SECURITY_FINDINGS_SUBJECT),
                     db_text(found, i, SECURITY_FINDINGS_HINT), "%s",
                     db_text(found, i, SECURITY_FINDINGS_FINDING));
    return db_rows(found);
}

/* Asks a session of task_conninfo for its login: a connection string may name none, or a
 * service. */
static bool task_login(struct check *check, bool is_executor, char ret_login[64])
{
    const char *conninfo = config_get_text(check->cli->config, "postgres", "task_conninfo");
    if (*conninfo == '\0' && !is_executor) /* a login that runs no task SQL */
        return false;
    if (*conninfo == '\0') {
        check_report(check, TOPIC_FAIL, "task SQL",
                     "[postgres] task_conninfo = a login role that is a member of lockstep_task",
                     "task_conninfo is not set: task SQL runs with the executor's rights");
        return false;
    }
    struct err err;
    struct db *db = NULL;
    DB_RESULT_AUTO *server = NULL;
    enum rc rc = db_open(conninfo, DB_CLI, &db, &err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_view_server, NULL, &server, &err);
    if (rc == RC_OK)
        (void)snprintf(ret_login, 64, "%s", db_text(server, 0, VIEW_SERVER_LOGIN));
    else
        check_failed(check, "task SQL", &err);
    db_close(db);
    return rc == RC_OK;
}

void check_security(struct check *check, bool is_executor)
{
    char login[64];
    bool known = task_login(check, is_executor, login);
    if (!known)
        check_skipped(check, "task login", NULL, "its memberships and rights: it is not known");
    if (check_rights(check, known ? login : NULL, false) == 0)
        check_report(check, TOPIC_OK, "security", NULL, "no right lets one role become another");
}
