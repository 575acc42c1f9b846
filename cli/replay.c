/* replay: options, plan and report; replay/replay.h reads the topic and decides for each message.
 * Without --execute it only shows the plan. An interrupted replay continues with --resume, which
 * every error names.
 *
 * The topic is only read: a replay inserts rows or reopens them, and executors run them. The end of
 * the command therefore does not mean that the tasks have run. A range is given in one of three
 * ways, by offsets, by times or by a run, which check_range separates before a server is asked. */
#include "base/number.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/stop.h"

#include "base/remedies.h"
#include "replay/replay.h"
#include "task/message.h"
#include "task/uuid.h"

#include <stdio.h>
#include <string.h>

static enum rc usage(struct err *err, const char *hint, const char *message)
{
    return err_set(err, RC_REJECT, ERR_USAGE, "replay",
                   hint != NULL ? hint : REMEDY_HELP_OF("replay"), "%s", message);
}

/* --execute begins a replay, --resume continues one, --abandon gives one up; without any of them
 * nothing is changed. */
static enum rc check_action(const struct cli *cli, bool ranged, struct err *err)
{
    bool resume = cli_has(cli, "resume"), abandon = cli_has(cli, "abandon");
    const char *reason = cli_text(cli, "reason");
    if (resume && abandon)
        return usage(err, NULL, "--resume and --abandon contradict each other");
    /* The replay's row has both; another range would be another replay. */
    if ((resume || abandon) && (ranged || cli_has(cli, "mode")))
        return usage(err, NULL,
                     "a replay that is under way has its range and mode: give the number alone");
    if (!resume && !abandon && cli_has(cli, "execute") && (reason == NULL || *reason == '\0'))
        return usage(err, "--reason TEXT: it is kept in the event log.",
                     "to replay, say why: --reason is needed");
    return RC_OK;
}

/* Offsets, times, or a run: one of them. */
static enum rc check_range(const struct cli *cli, struct err *err)
{
    bool offsets = cli_has(cli, "from-offset") || cli_has(cli, "to-offset");
    bool times = cli_has(cli, "from-time") || cli_has(cli, "to-time");
    bool run = cli_has(cli, "run"), ranged = offsets || times || run;
    if (cli_text(cli, "queue") == NULL)
        return usage(err, REMEDY_QUEUE_LIST, "which queue? --queue NAME is needed");
    if (offsets + times + run > 1)
        return usage(err, NULL, "give offsets, times or a run, not two of them");
    if (!ranged && !cli_has(cli, "resume") && !cli_has(cli, "abandon"))
        return usage(err, "--from-offset earliest --to-offset latest is everything.",
                     "which part? Give --from-offset and --to-offset, --from-time and --to-time, "
                     "or --run");
    if (cli_has(cli, "phase") && !run)
        return usage(err, NULL, "--phase needs --run");
    return check_action(cli, ranged, err);
}

/* cli/option_value.c has checked it: a number, or one of the words. */
static void offset_of(const struct cli *cli, const char *option, struct replay_place *place)
{
    const char *text = cli_text(cli, option);
    if (text != NULL)
        (void)replay_place_parse(text, place);
}

/* PostgreSQL reads the time, so words like yesterday and zones mean the same here as in every
 * statement. */
static enum rc time_of(struct cli *cli, const char *option, struct replay_place *place,
                       struct err *err)
{
    const char *text = cli_text(cli, option);
    DB_RESULT_AUTO *row = NULL;
    char name[40];
    if (text == NULL)
        return RC_OK;
    enum rc rc = db_run(cli->db, &sql_replay_time, (const char *const[]){text}, &row, err);
    if (rc == RC_REJECT) {
        (void)snprintf(name, sizeof name, "--%s", option);
        return err_set(err, RC_REJECT, ERR_USAGE, name,
                       "Write the time as PostgreSQL reads it: \"2026-05-04 13:00\", "
                       "\"2026-05-04T13:00:00Z\", "
                       "\"yesterday\".",
                       "there is no time \"%s\"", text);
    }
    if (rc == RC_OK)
        *place = (struct replay_place){REPLAY_TIME, db_int(row, 0, REPLAY_TIME_TIME_MS)};
    return rc;
}

/* A full id may be that of a run which the database has lost; the beginning of one is looked up. */
static enum rc run_of(struct cli *cli, char ret_run[40], struct err *err)
{
    const char *text = cli_text(cli, "run");
    struct run_row run;
    ret_run[0] = '\0';
    if (text == NULL)
        return RC_OK;
    if (uuid_valid(text)) {
        (void)snprintf(ret_run, 40, "%s", text);
        return RC_OK;
    }
    enum rc rc = find_run(cli, text, &run, err);
    if (rc == RC_OK)
        (void)snprintf(ret_run, 40, "%s", run.run_id);
    return rc;
}

/* One line for each run, order and treatment, which replay/report.c has counted. */
static enum rc print(struct cli *cli, const struct replay_report *report, struct err *err)
{
    static const char *const names[] = {"run_id", "order", "action", "why", "messages", "meaning"};
    struct table_style style = cli_style(cli);
    style.wrap = true;
    struct table *table = table_new(stdout, style, "uittit", names, 6, false);
    for (int i = 0; i < report->count; i++) {
        const struct replay_line *line = &report->lines[i];
        const char *cells[] = {
            *line->run ? line->run : NULL, line->order > 0 ? DB_INT(line->order) : NULL,
            replay_action(line),           replay_why(line),
            DB_INT(line->records),         replay_meaning(line)};
        table_row(table, cells);
    }
    return table_end(table, err);
}

/* The report in words, on stderr: the table is on stdout, and a program that reads it needs no
 * warning lines. */
static void say(struct cli *cli, const struct replay_report *report, bool acts, enum rc rc)
{
    if (report->readable < report->to)
        cli_say(
            cli,
            "lockstep: warning: from offset %lld on an open transaction holds the records back\n",
            (long long)report->readable);
    for (int i = 0; i < report->count; i++)
        /* The line counts messages that are no longer on the topic; the plan cannot name their
         * runs. */
        if (report->lines[i].why == REPLAY_LOOK_IS_DELETED)
            cli_say(cli, "lockstep: warning: of the range, %lld message%s no longer on the topic\n",
                    (long long)report->lines[i].records,
                    report->lines[i].records == 1 ? " is" : "s are");
    if (!acts) {
        cli_say(
            cli,
            "lockstep: offsets %lld to %lld: %lld message%s would be run, %lld skipped; nothing "
            "was changed (--execute --reason TEXT does it)\n",
            (long long)report->from, (long long)report->to, (long long)report->acted,
            NUMBER_S(report->acted), (long long)report->skipped);
        return;
    }
    cli_say(cli, "lockstep: replay %d: %lld message%s handed to the executors, %lld skipped%s\n",
            report->replay_id, (long long)report->acted, NUMBER_S(report->acted),
            (long long)report->skipped, rc == RC_OK ? "" : "; it is not finished");
    if (rc == RC_OK && report->wanted > report->to)
        cli_say(cli,
                "lockstep: warning: this replay was begun before and ends at offset %lld; offsets "
                "%lld to %lld are not in it\n",
                (long long)report->to, (long long)report->to, (long long)report->wanted);
    if (report->open_runs != NULL)
        cli_say(
            cli,
            "lockstep: warning: the range ends within these runs, and runs after them wait: %s\n"
            "  hint: replay what follows, or the whole run with --run\n",
            report->open_runs);
}

/* Called when the replay has waited for more than a moment, so that a command that prints nothing
 * does not seem to hang. */
static void on_waiting(void *context, enum replay_wait wait)
{
    cli_say(context, "lockstep: waiting: enough phases wait to be opened; %s\n",
            replay_wait_text(wait));
}

static void hint_resume(const struct replay_report *report, const char *queue, struct err *err)
{
    char how[160];
    (void)snprintf(how, sizeof how, REMEDY_REPLAY_RESUME, queue, report->replay_id);
    replay_hint(report, how, err);
}

/* The order matters: checks of options first, which need no server. */
static enum rc prepare(struct cli *cli, struct replay_options *options, struct queue_row *queue,
                       char run[40], struct err *err)
{
    enum rc rc = check_range(cli, err);
    /* Where an option is missing, the default of the caller stays: the whole log. */
    offset_of(cli, "from-offset", &options->from);
    offset_of(cli, "to-offset", &options->to);
    options->order = cli_int(cli, "phase", options->order);
    options->resume = (int)cli_int(cli, cli_has(cli, "abandon") ? "abandon" : "resume", 0);
    if (rc == RC_OK)
        rc = find_queue(cli, cli_text(cli, "queue"), queue, err);
    if (rc == RC_OK)
        rc = time_of(cli, "from-time", &options->from, err);
    if (rc == RC_OK)
        rc = time_of(cli, "to-time", &options->to, err);
    return rc == RC_OK ? run_of(cli, run, err) : rc;
}

enum rc command_replay(struct cli *cli, struct err *err)
{
    struct queue_row queue = {0};
    struct replay_report report = {0};
    char run[40];
    struct replay_options options = {
        .db = cli->db,
        .kafka = &cli->kafka,
        .queue = queue.name,
        .topic = queue.topic,
        .from = {REPLAY_EARLIEST, 0},
        .to = {REPLAY_LATEST, 0},
        .run = run,
        .order = -1,
        .reason = cli_text(cli, "reason"),
        .mode = cli_text(cli, "mode"),
        .context = cli,
        .waiting = on_waiting,
        .cancelled = stop_asked}; /* between its steps; each finished step stays */
    bool abandon = cli_has(cli, "abandon");
    bool acts = cli_has(cli, "execute") || abandon || cli_has(cli, "resume");
    enum rc rc = prepare(cli, &options, &queue, run, err);
    if (rc != RC_OK)
        return rc;
    options.queue_id = (int)queue.queue_id;
    options.partition = queue.partition;
    options.mode = options.mode ? options.mode : "missing";
    stop_catch();
    rc = abandon ? replay_abandon(&options, &report, err)
         : acts  ? replay_run(&options, &report, err)
                 : replay_preview(&options, &report, err);
    if (abandon && rc == RC_OK)
        cli_say(cli, "lockstep: replay %d is given up; what it did stays done\n", report.replay_id);
    /* A replay that has begun is reported even if it failed: part of it is done. */
    if (!abandon && (rc == RC_OK || report.replay_id > 0)) {
        struct err ignored;
        enum rc printed = print(cli, &report, rc == RC_OK ? err : &ignored);
        say(cli, &report, acts, rc);
        rc = rc == RC_OK ? printed : rc;
    }
    if (rc != RC_OK)
        hint_resume(&report, queue.name, err);
    replay_report_done(&report);
    return rc;
}
