/* publish: options and talk; producer/publish.h does the work and calls back. The run's id is alone
 * on stdout, so that a script can keep it; progress, faults and notices go to stderr. On a terminal
 * progress is one line that is drawn again, elsewhere a line for each stage.
 *
 * rejected redrive publishes through the same function, so its progress and faults look the same.
 * Callbacks run in the command's thread, between steps of the publisher; they print and decide
 * nothing. */
#include "cli/publish.h"
#include "base/number.h"

#include "cli/commands.h"
#include "cli/find.h"
#include "cli/stop.h"
#include "cli/width.h"
#include "config/conninfo.h"
#include "task/message.h"
#include "task/uuid.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct talk {
    struct cli *cli;
    enum publish_stage stage;
    bool live;           /* stderr is a terminal: one line that is drawn again */
    bool drawn, started; /* dry run: the heading is out */
    int64_t phases, faults;
    char message[sizeof((struct err *)NULL)->message]; /* of the last fault */
    struct table *table;                               /* dry run for programs: its phases */
};

static void on_fault(void *context, const struct publish_fault *fault)
{
    struct talk *talk = context;
    talk->faults++;
    (void)snprintf(talk->message, sizeof talk->message, "%s", fault->message);
    /* "FILE:LINE: ", as compilers write it: editors jump to the line. */
    STR_AUTO text = {0};
    const char *before = err_before(fault->path, fault->message);
    str_format(&text, "%s:%lld: %s%s%s\n", fault->source, (long long)fault->line, before,
               *before ? ": " : "", fault->message);
    if (*fault->hint)
        str_format(&text, "  hint: %s\n", fault->hint);
    width_print(stderr, text.data, true);
}

/* Called often; off a terminal it prints only when the stage changes and has a first number. */
static void on_progress(void *context, const struct publish_progress *progress)
{
    static const char *const stages[] = {"reading", "waiting for the queue's producer lock",
                                         "sending", "waiting for the run's end"};
    struct talk *talk = context;
    bool news = !talk->drawn || talk->stage != progress->stage;
    /* A line "sending: 0 tasks" in a log file has no news. */
    bool empty = (progress->stage == PUBLISH_READING && progress->read == 0) ||
                 (progress->stage == PUBLISH_SENDING && progress->sent == 0) ||
                 (progress->stage == PUBLISH_WAITING && *progress->run_status == '\0');
    if (talk->cli->quiet || (!talk->live && (!news || empty)))
        return;
    talk->stage = progress->stage;
    talk->drawn = true;
    if (talk->live)
        (void)fprintf(stderr, "\r\033[K");
    (void)fprintf(stderr, "lockstep: %s", stages[progress->stage]);
    if (progress->stage == PUBLISH_READING)
        (void)fprintf(stderr, ": %lld task%s", (long long)progress->read, NUMBER_S(progress->read));
    else if (progress->stage == PUBLISH_SENDING && progress->total >= 0)
        (void)fprintf(stderr, ": %lld of %lld task%s", (long long)progress->sent,
                      (long long)progress->total, NUMBER_S(progress->total));
    else if (progress->stage == PUBLISH_SENDING)
        (void)fprintf(stderr, ": %lld task%s", (long long)progress->sent, NUMBER_S(progress->sent));
    else if (progress->stage == PUBLISH_WAITING)
        (void)fprintf(stderr, ": %s", progress->run_status);
    if (!talk->live)
        (void)fputc('\n', stderr);
    (void)fflush(stderr);
}

static void on_phase(void *context, const struct publish_phase *phase)
{
    struct talk *talk = context;
    if (talk->cli->output != OUTPUT_TABLE) {
        const char *cells[] = {DB_INT(phase->order), DB_INT(phase->previous_order),
                               DB_INT(phase->tasks)};
        table_row(talk->table, cells);
        return;
    }
    if (!talk->started)
        (void)printf("%20s %20s %12s\n", "ORDER", "PREVIOUS ORDER", "TASKS");
    talk->started = true;
    talk->phases++;
    (void)printf("%20lld %20lld %12lld\n", (long long)phase->order,
                 (long long)phase->previous_order, (long long)phase->tasks);
}

static void on_notice(void *context, const char *text)
{
    struct talk *talk = context;
    /* The line of progress is wiped, or the notice would be written into it. */
    if (talk->live && talk->drawn)
        (void)fprintf(stderr, "\r\033[K");
    (void)fprintf(stderr, "lockstep: ");
    width_print(stderr, text, true);
    (void)fputc('\n', stderr);
}

static enum rc check_source(const struct cli *cli, struct err *err)
{
    if (cli_text(cli, "queue") == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "publish", REMEDY_QUEUE_LIST,
                       "which queue? --queue NAME is needed");
    bool file = cli->argument_count > 0, query = cli_text(cli, "query") != NULL;
    /* A resume without a source reads the file that the run was published from. */
    if (file == query && (file || cli_text(cli, "resume") == NULL))
        return err_set(err, RC_REJECT, ERR_USAGE, "publish", REMEDY_HELP_OF("publish"),
                       "what is to be published? Give a FILE, - for standard input, or --query");
    if (cli_text(cli, "on-failure") != NULL && cli_text(cli, "resume") != NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, "--on-failure", "Leave it out.",
                       "a run that is resumed keeps the policy with which it began");
    return RC_OK;
}

/* PUBLISH_AUTO: by the name of the file. */
static enum publish_format format_of(const struct cli *cli)
{
    const char *format = cli_text(cli, "format");
    if (format == NULL)
        return PUBLISH_AUTO;
    return strcmp(format, "csv") == 0 ? PUBLISH_CSV : PUBLISH_JSONL;
}

/* The run's id is alone on stdout, unless a format for programs is asked for. */
static void answer(const struct cli *cli, const struct publish_result *result, bool waited)
{
    const char *status = waited ? result->status : "";
    if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_JSONL)
        (void)printf("{\"run_id\":\"%s\",\"tasks\":%lld,\"phases\":%lld,\"status\":%s%s%s}\n",
                     result->run, (long long)result->tasks, (long long)result->phases,
                     *status ? "\"" : "", *status ? status : "null", *status ? "\"" : "");
    else if (cli->output == OUTPUT_CSV)
        (void)printf("run_id,tasks,phases,status\n%s,%lld,%lld,%s\n", result->run,
                     (long long)result->tasks, (long long)result->phases, status);
    else
        (void)printf("%s\n", result->run);
    cli_say(cli, "lockstep: published %lld task%s in %lld phase%s%s%s\n", (long long)result->tasks,
            NUMBER_S(result->tasks), (long long)result->phases, NUMBER_S(result->phases),
            waited ? ", the run is " : "", status);
}

/* Without its id the run is hard to find again: if stdout does not take it, it goes to stderr. */
static enum rc answered(const struct cli *cli, const struct publish_result *result, bool waited,
                        enum rc rc, struct err *err)
{
    answer(cli, result, waited);
    /* An earlier error is kept: it is the more important one. */
    enum rc shown = table_check(stdout, rc == RC_OK ? err : NULL);
    if (shown == RC_FATAL)
        (void)fprintf(stderr, "lockstep: the run is %s\n", result->run);
    return rc == RC_OK && shown == RC_FATAL ? shown : rc;
}

/* The error is the only fault of the source, and nothing was added to it: it is on stderr already.
 * The detail of a stream's error says how much was published before the fault, and of which run. */
static bool is_fault(const struct talk *talk, const struct err *err)
{
    return talk->faults == 1 && *err->detail == '\0' && strcmp(err->message, talk->message) == 0;
}

enum rc publish_and_report(struct cli *cli, struct publish_options *options, struct err *err)
{
    struct talk talk = {.cli = cli, .live = isatty(STDERR_FILENO) != 0};
    STR_AUTO conninfo = {0};
    struct publish_result result = {.first_offset = -1};
    config_conninfo(cli->config, &conninfo);
    stop_catch();
    /* SIGINT cancels a statement that waits, for example for the producer lock of the queue. */
    stop_interrupts();
    options->conninfo = conninfo.data ? conninfo.data : "";
    options->kafka = &cli->kafka;
    options->dry_run = cli_has(cli, "dry-run");
    options->wait = cli_has(cli, "wait");
    options->wait_timeout_ms = (int)cli_int(cli, "timeout", -1);
    options->context = &talk;
    options->fault = on_fault;
    options->notice = on_notice;
    options->progress = on_progress;
    options->phase = on_phase;
    options->cancelled = stop_asked;
    static const char *const columns[] = {"order", "previous_order", "tasks"};
    if (options->dry_run && cli->output != OUTPUT_TABLE)
        talk.table = table_new(stdout, cli_style(cli), "iii", columns, 3, false);
    enum rc rc = publish_run(options, &result, err);
    if (talk.table != NULL) {
        enum rc shown = table_end(talk.table, rc == RC_OK ? err : NULL);
        rc = rc == RC_OK && shown != RC_NONE ? shown : rc;
    }
    cli_reported(cli, rc != RC_OK && is_fault(&talk, err));
    if (talk.live && talk.drawn)
        (void)fprintf(stderr, "\r\033[K");
    if (options->dry_run && rc == RC_OK)
        cli_say(cli, "lockstep: %lld task%s in %lld phase%s; nothing was published\n",
                (long long)result.tasks, NUMBER_S(result.tasks), (long long)result.phases,
                NUMBER_S(result.phases));
    else if (result.run[0] != '\0' && (rc == RC_OK || result.status[0] != '\0'))
        rc = answered(cli, &result, options->wait, rc, err);
    return rc;
}

enum rc command_publish(struct cli *cli, struct err *err)
{
    struct run_row resumed = {0};
    const char *resume = cli_text(cli, "resume");
    enum rc rc = check_source(cli, err);
    /* A whole id may be that of a run which this database does not have yet. */
    if (rc == RC_OK && resume != NULL && !uuid_valid(resume)) {
        rc = find_run(cli, resume, &resumed, err);
        resume = resumed.run_id;
    }
    if (rc != RC_OK)
        return rc;
    const char *unfinished = cli_text(cli, "unfinished");
    struct publish_options options = {
        .queue = cli_text(cli, "queue"),
        .path = cli->argument_count > 0 ? cli->arguments[0] : NULL,
        .format = format_of(cli),
        .query = cli_text(cli, "query"),
        .run = cli_text(cli, "run"),
        .name = cli_text(cli, "name"),
        .on_failure = cli_text(cli, "on-failure"),
        .resume = resume,
        .stream = cli_has(cli, "stream"),
        .refuse_unfinished = unfinished != NULL && strcmp(unfinished, "refuse") == 0,
        .lock_wait_ms = cli_has(cli, "no-wait-lock") ? 0 : PUBLISH_LOCK_WAIT_MS};
    return publish_and_report(cli, &options, err);
}
