/* report: counts by run, order, action and reason. A hash finds the line to count in, because a
 * range may have as many lines as runs times orders. */
#include "replay/report.h"
#include "replay/reading.h"

#include "base/utf8.h"
#include "db/sqlstate.h"

#include <stdlib.h>
#include <string.h>

/* The words of sql/functions/replay/replay_judge.sql, as sentences for people. A pair without a
 * sentence is shown by its words alone. */
static const char *const meanings[][3] = {
    [REPLAY_LOOK_IS_MISSING] = {[REPLAY_LOOK_IS_MAKE] = "it has no row",
                                [REPLAY_LOOK_IS_SKIP] = "it has no row: take mode missing"},
    [REPLAY_LOOK_IS_DUPLICATE] = {[REPLAY_LOOK_IS_MAKE] = "repeats another one: only recorded",
                                  [REPLAY_LOOK_IS_SKIP] = "repeats another one"},
    [REPLAY_LOOK_IS_FAILED] = {[REPLAY_LOOK_IS_REOPEN] = "finally failed",
                               [REPLAY_LOOK_IS_SKIP] = "failed: take mode failed"},
    [REPLAY_LOOK_IS_CANCELLED] = {[REPLAY_LOOK_IS_REOPEN] = "cancelled because of a failure",
                                  [REPLAY_LOOK_IS_SKIP] =
                                      "cancelled: by an operator, or its run lost messages"},
    [REPLAY_LOOK_IS_DONE] =
        {[REPLAY_LOOK_IS_REOPEN] = "done, and to be done again", [REPLAY_LOOK_IS_SKIP] = "done"},
    [REPLAY_LOOK_IS_UNFINISHED] = {[REPLAY_LOOK_IS_SKIP] = "not finished: runs anyway"},
    [REPLAY_LOOK_IS_AHEAD] = {[REPLAY_LOOK_IS_SKIP] = "not claimed yet: executors will"},
    [REPLAY_LOOK_IS_REJECTED] = {[REPLAY_LOOK_IS_SKIP] = "rejected: `rejected list` shows it"},
    [REPLAY_LOOK_IS_NOT_NEEDED] = {[REPLAY_LOOK_IS_REOPEN] =
                                       "was for a failure, and nothing had failed: judged again",
                                   [REPLAY_LOOK_IS_SKIP] =
                                       "was for a failure, and nothing had failed"},
    [REPLAY_LOOK_IS_DIFFERS] =
        {[REPLAY_LOOK_IS_SKIP] = "its row holds another message: is this the topic it came from?"},
    [REPLAY_LOOK_IS_NO_BEGINNING] =
        {[REPLAY_LOOK_IS_SKIP] = "what comes before it in its run is missing: begin earlier"},
    [REPLAY_LOOK_IS_RETENTION] =
        {[REPLAY_LOOK_IS_SKIP] = "its run has ended, and its queue does not keep it any longer"},
    [REPLAY_LOOK_IS_CONTINUED] = {[REPLAY_LOOK_IS_SKIP] =
                                      "its run continued without it: publish it again"},
    [REPLAY_LOOK_IS_DELETED] = {[REPLAY_LOOK_IS_SKIP] = "no longer on the topic: retention"},
};

/** The words come from the contract of the statement, so that SQL and C have one list (sql.h). */
static const char *word(enum replay_look_columns column, unsigned word)
{
    const struct sql_words *known = sql_replay_look.words;
    while (known->column != (int)column)
        known++;
    return known->words[word];
}

const char *replay_action(const struct replay_line *line)
{
    return word(REPLAY_LOOK_ACTION, line->action);
}

const char *replay_why(const struct replay_line *line)
{
    return word(REPLAY_LOOK_WHY, line->why);
}

const char *replay_meaning(const struct replay_line *line)
{
    const char *meaning = meanings[line->why][line->action];
    return meaning != NULL ? meaning : "";
}

const char *replay_wait_text(enum replay_wait wait)
{
    static const char *const texts[] = {[REPLAY_WAIT_WORK] =
                                            "the executors are at work on what is there",
                                        [REPLAY_WAIT_PAUSED] = "the queue is paused",
                                        [REPLAY_WAIT_NO_EXECUTOR] = "no executor serves the queue"};
    return texts[wait];
}

uint32_t replay_hash(const char *key, uint32_t seed)
{
    uint32_t hash = 2166136261U ^ seed; /* FNV-1a */
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619U;
    return hash;
}

static uint32_t place(const struct replay_line *line)
{
    /* All four parts that make a line one line; the run is the only text. */
    return replay_hash(line->run,
                       (uint32_t)line->order * 31U ^ ((uint32_t)line->why * 3U + line->action));
}

/* Open addressing; the table has twice as many places as lines, so an empty one is always found. */
static int *slot_of(struct replay_report *report, const struct replay_line *wanted)
{
    uint32_t at = place(wanted);
    for (;; at++) {
        int *slot = &report->slots[at % (uint32_t)report->slot_count];
        const struct replay_line *line = *slot > 0 ? &report->lines[*slot - 1] : NULL;
        if (line == NULL || (line->order == wanted->order && line->action == wanted->action &&
                             line->why == wanted->why && strcmp(line->run, wanted->run) == 0))
            return slot;
    }
}

static void grow(struct replay_report *report)
{
    /* A line for each run, order, treatment and reason: the number is known only at the end. */
    report->cap = report->cap > 0 ? report->cap * 2 : 64;
    report->lines = xrealloc(report->lines, (size_t)report->cap, sizeof *report->lines);
    /* The places depend on the size of the table, so all lines are placed once more. */
    free(report->slots);
    report->slot_count = report->cap * 2;
    report->slots = xcalloc((size_t)report->slot_count, sizeof *report->slots);
    for (int i = 0; i < report->count; i++)
        *slot_of(report, &report->lines[i]) = i + 1;
}

void report_add(struct replay_report *report, const struct replay_line *line)
{
    if (report->count == report->cap)
        grow(report);
    int *slot = slot_of(report, line);
    if (*slot == 0) {
        report->lines[report->count++] = *line;
        *slot = report->count;
    } else {
        report->lines[*slot - 1].records += line->records;
    }
    /* Each record is in one of the two totals. */
    *(line->action == REPLAY_LOOK_IS_SKIP ? &report->skipped : &report->acted) += line->records;
}

void replay_report_done(struct replay_report *report)
{
    free(report->lines);
    free(report->slots);
    free(report->open_runs);
    *report = (struct replay_report){0};
}

void replay_hint(const struct replay_report *report, const char *how, struct err *err)
{
    char said[301], hint[sizeof err->hint];
    /* Of an earlier epoch of the topic: each try ends with this error, which has its own hint. */
    if (report->replay_id == 0 || sqlstate_is(err, SQLSTATE_NO_SENSE))
        return;
    size_t len = strlen(err->hint);
    const char *between = len == 0 ? "" : err->hint[len - 1] == '.' ? " " : ". ";
    utf8_copy(said, sizeof said, err->hint);
    utf8_format(hint, sizeof hint, "%s%s%s", said, between, how);
    utf8_copy(err->hint, sizeof err->hint, hint);
}
