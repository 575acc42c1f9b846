/* One run of the program: parse argv, prepare what the command's row says that it needs
 * (configuration, session, schema, Kafka), call its function, report the error, turn it into the
 * exit code. The rows are in cli/commands.c, the parser in cli/options.c, the exit codes in
 * cli/exit.c.
 *
 * The order of a call is fixed: settle_style before any output, the configuration before the
 * session, the session before the schema, and rights_hint before the session is closed. A command
 * gets all that its row needs and nothing else: a command with NEEDS_NOTHING works without a file,
 * a server and a network. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/remedies.h"
#include "cli/exit.h"
#include "cli/stop.h"
#include "cli/width.h"
#include "config/conninfo.h"
#include "db/backend.h"
#include "db/migrate.h"
#include "db/sqlstate.h"

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 100
#define PAUSE_LAST_MS  2000

void cli_config_wrong(void *context, const struct err *err)
{
    struct cli *cli = context;
    exit_report(stderr, err, cli->verbose > 0);
    cli_reported(cli, true);
}

void cli_reported(struct cli *cli, bool reported)
{
    cli->reported = reported;
}

/* -X key=value is kafka.key=value; both kinds keep their order. */
static int collect_settings(const struct cli *cli, char **ret_settings)
{
    int count = 0;
    for (int i = 0; i < cli->use_count; i++) {
        const char *name = cli->uses[i].spec->name;
        if (strcmp(name, "set") != 0 && strcmp(name, "property") != 0)
            continue;
        STR_AUTO setting = {0};
        str_format(&setting, "%s%s", *name == 'p' ? "kafka." : "", cli->uses[i].value);
        ret_settings[count++] = xstrdup(setting.data);
    }
    return count;
}

enum rc cli_config_load(struct cli *cli, config_report_fn *report, void *context,
                        struct config **ret_config, struct err *err)
{
    struct config *config = NULL;
    FREE_AUTO char **settings = xcalloc((size_t)cli->use_count + 1, sizeof *settings);
    int count = collect_settings(cli, settings);
    struct config_request request = {.path = cli_text(cli, "config"),
                                     .environ = environ,
                                     .set = (const char *const *)settings,
                                     .set_count = count,
                                     .report = report,
                                     .context = context};
    enum rc rc = config_load(&request, &config, err);
    for (int i = 0; i < count; i++)
        free(settings[i]);
    /* The order of precedence: defaults, file, environment, -s and -X, then the options of their
     * own. Each value keeps its origin, for config show --origin. */
    const char *dbname = cli_text(cli, "dbname"), *brokers = cli_text(cli, "brokers");
    if (rc == RC_OK && dbname != NULL)
        rc = config_set(config, "postgres", "conninfo", dbname, CONFIG_BY_OPTION, "--dbname", err);
    if (rc == RC_OK && brokers != NULL)
        rc = config_set(config, "kafka", "bootstrap.servers", brokers, CONFIG_BY_OPTION,
                        "--brokers", err);
    if (rc == RC_OK)
        *ret_config = config;
    else
        config_free(config);
    return rc;
}

void cli_configure_log(const struct cli *cli, const struct config *config)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", "off"};
    const char *level = config_get_text(config, "log", "level");
    enum log_level least = LOG_INFO;
    for (int i = 0; i < 5; i++)
        if (strcmp(level, levels[i]) == 0)
            least = (enum log_level)i;
    /* An option wins over [log] level, in both directions. */
    if (cli->verbose > 1)
        least = LOG_DEBUG;
    else if (cli->quiet && least < LOG_ERROR)
        least = LOG_ERROR;
    log_configure(least, strcmp(config_get_text(config, "log", "format"), "json") == 0);
}

/* librdkafka checks its properties itself; the error gets the file and line, or the option, that
 * set the wrong one. */
static enum rc set_kafka(struct cli *cli, struct err *err)
{
    const struct config_value *value;
    for (int i = 0; (value = config_at(cli->config, i)) != NULL; i++) {
        if (strcmp(value->section, "kafka") != 0)
            continue;
        enum rc rc = kafka_properties_set(&cli->kafka, value->key, value->value, err);
        if (rc != RC_OK) {
            (void)snprintf(err->object, sizeof err->object, "%s", value->where);
            return rc;
        }
    }
    if ((cli->command->needs & NEEDS_KAFKA) == NEEDS_KAFKA &&
        kafka_properties_get(&cli->kafka, "bootstrap.servers") == NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, "kafka.bootstrap.servers", REMEDY_DEV_BROKER,
                       "no broker is configured");
    return RC_OK;
}

/* A server without a free connection, that starts, or that is a standby refuses for now: a daemon
 * waits, because its supervisor would only start it again. */
static enum rc open_session(struct cli *cli, const char *conninfo, struct err *err)
{
    bool primary = (cli->command->needs & NEEDS_PRIMARY) != 0;
    bool patient = (cli->command->needs & NEEDS_PATIENCE) != 0;
    int pause_ms = PAUSE_FIRST_MS;
    enum rc rc;
    while ((rc = db_open(conninfo, primary ? DB_MIGRATE : DB_CLI, &cli->db, err)) == RC_RETRY &&
           patient) {
        log_err(LOG_WARN, "database_not_ready", NULL, err);
        (void)poll(NULL, 0, pause_ms);
        pause_ms = backoff_next(pause_ms, PAUSE_FIRST_MS, PAUSE_LAST_MS);
    }
    return rc;
}

/* Only the zone of the session changes: the tables show PostgreSQL's own text of each time. */
static enum rc use_zone(struct cli *cli, const char *zone, struct err *err)
{
    struct err why;
    enum rc rc = db_run(cli->db, &sql_view_time_zone, (const char *const[]){zone}, NULL, &why);
    if (rc == RC_OK || !sqlstate_is(&why, SQLSTATE_INVALID_PARAMETER_VALUE)) {
        if (rc != RC_OK && err != NULL)
            *err = why;
        return rc;
    }
    return err_set(err, RC_REJECT, ERR_USAGE, "--time-zone", "Write a name such as Europe/Berlin.",
                   "there is no time zone \"%s\"", zone);
}

enum rc cli_connect(struct cli *cli, struct err *err)
{
    STR_AUTO conninfo = {0};
    config_conninfo(cli->config, &conninfo);
    enum rc rc = open_session(cli, conninfo.data, err);
    const char *zone = cli_text(cli, "time-zone");
    if (rc == RC_OK && zone != NULL)
        rc = use_zone(cli, zone, err);
    /* Also after a reconnect: the server may have been migrated meanwhile. */
    if (rc == RC_OK && (cli->command->needs & NEEDS_SCHEMA) == NEEDS_SCHEMA)
        rc = migrate_validate(cli->db, err);
    return rc;
}

void cli_log_database(const struct cli *cli)
{
    const struct db_place place = db_place(cli->db);
    log_event(LOG_INFO, "database", "host", place.host, "port", place.port, "dbname", place.dbname,
              "login", db_login(cli->db), NULL);
}

/* A daemon opens sessions of its own: the command's would only idle. */
void cli_disconnect(struct cli *cli)
{
    db_close(cli->db);
    cli->db = NULL;
}

enum rc cli_reconnect(struct cli *cli, struct err *err)
{
    cli_disconnect(cli);
    return cli_connect(cli, err);
}

enum rc cli_reconnect_within(struct cli *cli, int patience_ms, int every_ms, struct err *err)
{
    for (int64_t until_us = clock_boot_us() + patience_ms * 1000LL;;) {
        enum rc rc = cli_reconnect(cli, err);
        if ((rc != RC_LOST && rc != RC_RETRY) || clock_boot_us() >= until_us || stop_requested())
            return rc;
        stop_wait(every_ms);
    }
}

/* option_value has checked the word. */
static enum output output_of(const struct cli *cli)
{
    static const char *const names[] = {"table", "json", "jsonl", "csv"};
    const char *name = cli_text(cli, "output");
    for (int i = 0; name != NULL && i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum output)i;
    return OUTPUT_TABLE;
}

static void settle_style(struct cli *cli)
{
    /* no-color.org: set and not empty means no colour. */
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    cli->output = output_of(cli);
    cli->quiet = cli_has(cli, "quiet");
    cli->wide = cli_has(cli, "wide");
    cli->color = isatty(STDOUT_FILENO) && !cli_has(cli, "no-color") &&
                 (no_color == NULL || *no_color == '\0') &&
                 (term == NULL || strcmp(term, "dumb") != 0);
    /* -v -v: the number of uses is the level. */
    while (cli_repeated(cli, "verbose", cli->verbose) != NULL)
        cli->verbose++;
}

/* Kafka is only configured here. A client is opened by the command that uses it, so a broker that
 * is down hurts no other command. */
static enum rc run_command(struct cli *cli, struct err *err)
{
    unsigned needs = cli->command->needs;
    enum rc rc = RC_OK;
    if (needs & NEEDS_CONFIG)
        rc = cli_config_load(cli, cli_config_wrong, cli, &cli->config, err);
    if (rc == RC_OK && (needs & NEEDS_CONFIG)) {
        cli_configure_log(cli, cli->config);
        rc = set_kafka(cli, err);
    }
    if (rc == RC_OK && (needs & NEEDS_DB) == NEEDS_DB)
        rc = cli_connect(cli, err);
    return rc == RC_OK ? cli->command->run(cli, err) : rc;
}

/* Help and version need nothing of the rest: no file, no server. */
static enum rc help_or_run(struct cli *cli, struct err *err)
{
    settle_style(cli);
    if (cli->help && cli->command != NULL)
        help_command(stdout, cli->command);
    else if (cli->help && cli->noun != NULL)
        help_noun(stdout, cli->noun);
    else if (cli_has(cli, "version"))
        (void)puts("lockstep " LOCKSTEP_VERSION);
    /* "lockstep -d db" forgot its command: the help of the program would hide that. */
    else if (cli->command == NULL && !cli_has(cli, "help") && cli->use_count > 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "", "lockstep --help", "no command is given");
    else if (cli->command == NULL)
        help_program(stdout);
    else
        return run_command(cli, err);
    return table_check(stdout, err);
}

/* A program reads the JSON log of a daemon line by line, so the reason of its end is one more
 * event. */
static void report(const struct cli *cli, const struct err *err)
{
    bool daemon = cli->command != NULL && (cli->command->needs & NEEDS_PATIENCE) != 0;
    if (daemon && log_errors_as_json())
        log_err(LOG_ERROR, "daemon_failed", NULL, err);
    else
        exit_report(stderr, err, cli->verbose > 0);
}

int cli_main(int argc, char **argv)
{
    /* Only LC_CTYPE, which says whether the terminal takes UTF-8: a decimal comma of LC_NUMERIC
     * would break JSON and SQL. */
    (void)setlocale(LC_CTYPE, "");
    /* A reader that has left is an error of a write (EPIPE), which table_check knows; a signal
     * would end the process in the middle of a transaction. */
    (void)signal(SIGPIPE, SIG_IGN);
    struct cli cli = {0};
    struct err err = {0};
    enum rc rc = options_parse(&cli, argc, argv, &err);
    if (rc == RC_OK)
        rc = help_or_run(&cli, &err);
    /* Before the session is closed, which knows the login. */
    rights_hint(&cli, &err);
    int code = exit_of(rc, &err);
    if (rc != RC_OK && rc != RC_NONE && !cli.reported)
        report(&cli, &err);
    db_close(cli.db);
    kafka_properties_done(&cli.kafka);
    config_free(cli.config);
    options_free(&cli);
    return code;
}

/* Through width_print, because names and messages of users may be in it. */
void cli_say(const struct cli *cli, const char *fmt, ...)
{
    if (cli->quiet)
        return;
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    int len = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (len < 0)
        return;
    width_print(stderr, text, true);
    free(text);
}

/* The style that the options ask for; a command adds wrap or shorts. */
struct table_style cli_style(const struct cli *cli)
{
    return (struct table_style){.output = cli->output, .color = cli->color, .wide = cli->wide};
}

enum rc cli_print(struct cli *cli, const struct db_result *result, struct err *err)
{
    return table_result(stdout, cli_style(cli), result, false, err);
}

enum rc cli_print_list(struct cli *cli, const struct db_result *result, const char *shorts,
                       struct err *err)
{
    struct table_style style = cli_style(cli);
    style.shorts = shorts;
    return table_result(stdout, style, result, false, err);
}

enum rc cli_print_wrapped(struct cli *cli, const struct db_result *result, const char *shorts,
                          struct err *err)
{
    struct table_style style = cli_style(cli);
    style.shorts = shorts;
    style.wrap = true;
    return table_result(stdout, style, result, false, err);
}
