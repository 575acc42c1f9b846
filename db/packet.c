/* The start-up packet. A setting that is sent there is the session's default, so RESET ALL and
 * DISCARD ALL return to it; a SET behind the connection would be undone by them. It also wins over
 * ALTER ROLE ... SET and ALTER DATABASE ... SET. */
#include "db/packet.h"

#include "base/ascii.h"

#include <libpq-fe.h>
#include <string.h>

/* What every supported server knows: an unknown name would refuse the connection.
 * sql/session/settings.sql has the rest. */
struct setting {
    const char *name, *value;
};
static const struct setting settings[] = {
    {"role", "none"}, /* of the login, not of ALTER ROLE ... SET role */
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_read_only", "off"},
    {"default_transaction_deferrable", "off"},
    {"idle_in_transaction_session_timeout", "300000"},
    {"standard_conforming_strings", "on"},
    {"array_nulls", "on"},
    {"bytea_output", "hex"},
    {"DateStyle", "ISO, MDY"},
    {"IntervalStyle", "postgres"},
    {"log_parameter_max_length_on_error", "0"}, /* what is bound is shown to no SQL of users */
};

/* Where no SQL but ours runs: each statement of it has an index for all that it reads; so a plan
 * that was made while the tables were small or not analysed is the one that is right when they are
 * large. jit: a scan that cannot be avoided has an immense cost (enable_seqscan=off adds it), for
 * which jit would compile. */
static const struct setting plans[] = {
    {"enable_seqscan", "off"},
    {"enable_hashjoin", "off"},
    {"enable_mergejoin", "off"},
    {"max_parallel_workers_per_gather", "0"},
    {"jit", "off"},
};

/* A session that repeats its statements plans each of them once, and so do the functions that they
 * call; otherwise PostgreSQL plans the first five calls for their parameters, and an executor
 * starts with a tenth of a second of planning. No plan depends on the parameters (tests/e2e/plans
 * has both kinds); a statement that is sent once is better off with its own. */
static bool repeats(enum db_role role)
{
    return role == DB_CONTROL || role == DB_GATE || role == DB_LIVENESS || role == DB_RELAY ||
           role == DB_RETENTION || role == DB_DISPATCHER || role == DB_MONITOR ||
           role == DB_METRICS;
}

/* Only what belongs to the server and to lockstep_owner is found without its schema, so nothing
 * that another login has made. */
#define OUR_PATH "pg_catalog, pg_temp"

/* COMMITs of task sessions are asynchronous: a prefix survives a crash (DESIGN section 6,
 * Flush). */
static const char *synchronous_commit(enum db_role role)
{
    bool lazy = role == DB_READER || role == DB_CONTROL || role == DB_GATE;
    return lazy ? "off" : "on";
}

/* How long a statement of ours waits for a row that a session of others holds. The dispatcher has
 * other jobs; control, gates and the relay have other queues to work on, and their patience is
 * longer; a person and a producer get the name of the session that holds it. Tasks and migrations
 * wait. */
static const char *lock_timeout(enum db_role role)
{
    bool shared = role == DB_CONTROL || role == DB_GATE || role == DB_RELAY;
    bool impatient = role == DB_CLI || role == DB_PRODUCER;
    return role == DB_DISPATCHER ? "1s"
           : role == DB_CONSOLE  ? "4s" /* below statement_timeout, which names no holder */
           : shared              ? "2s"
           : impatient           ? "10s"
                                 : "0";
}

/* A request of the console's is answered or refused; nothing else is bounded by the server. */
static const char *statement_timeout(enum db_role role)
{
    return role == DB_CONSOLE ? "5s" : "0";
}

/* The server splits the options at spaces that have no backslash. */
static void add(struct str *options, const char *name, const char *value)
{
    str_format(options, "%s-c %s=", options->len > 0 ? " " : "", name);
    for (; *value != '\0'; value++) {
        if (ascii_space(*value) || *value == '\\')
            str_text(options, "\\");
        str_add(options, value, 1);
    }
}

/* Only libpq itself knows the options that a service file and the environment add: port 0 makes it
 * read them and connect to nothing. */
static void add_given(const char *conninfo, struct str *options)
{
    const char *const keys[] = {"dbname", "port", NULL};
    const char *const values[] = {conninfo, "0", NULL};
    PGconn *conn = PQconnectStartParams(keys, values, 1);
    PQconninfoOption *given = PQconninfo(conn);
    for (const PQconninfoOption *o = given; o != NULL && o->keyword != NULL; o++)
        if (strcmp(o->keyword, "options") == 0 && o->val != NULL)
            str_text(options, o->val);
    PQconninfoFree(given);
    PQfinish(conn);
}

void packet_options(const char *conninfo, enum db_role role, struct str *options)
{
    add_given(conninfo, options);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        add(options, settings[i].name, settings[i].value);
    add(options, "lock_timeout", lock_timeout(role));
    add(options, "statement_timeout", statement_timeout(role));
    add(options, "synchronous_commit", synchronous_commit(role));
    bool ours = role != DB_READER && role != DB_QUERY;
    if (ours)
        add(options, "search_path", OUR_PATH);
    /* a migration builds what others have indexes for */
    for (size_t i = 0; ours && role != DB_MIGRATE && i < sizeof plans / sizeof *plans; i++)
        add(options, plans[i].name, plans[i].value);
    if (repeats(role))
        add(options, "plan_cache_mode", "force_generic_plan");
}
