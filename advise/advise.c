/* From the rows of finished runs to an advice, in four steps: read the phases of the newest runs,
 * let advise/simulate.c replay each run with every number of readers, add up, divide. Each run
 * weighs the same, also in the means of times. It proposes and changes nothing; `queue set`
 * does. */
#include "advise/advise.h"

#include "base/utf8.h"
#include "sql/sql.h"

#include <stdlib.h>
#include <string.h>

/* The first number of "12,34,5"; returns the text behind it. The statement sends the tasks of a
 * phase as three such lists in one row, because there may be 300,000 tasks. */
static const char *read_number(const char *text, int64_t *ret_number)
{
    char *end;
    *ret_number = strtoll(text, &end, 10);
    return *end == ',' ? end + 1 : end;
}

static void read_phase(const struct db_result *phases, int row, struct simulate_phase *phase)
{
    phase->order = db_int(phases, row, ADVISE_PHASES_ORDER);
    phase->first_us = db_int(phases, row, ADVISE_PHASES_FIRST_US);
    phase->last_us = db_int(phases, row, ADVISE_PHASES_LAST_US);
    phase->floor_us = db_int(phases, row, ADVISE_PHASES_FLOOR_US);
    phase->count = (int)db_int(phases, row, ADVISE_PHASES_ITEMS);
    /* One more, because a phase of external tasks has none, and calloc of 0 may return NULL. */
    phase->items = xcalloc((size_t)phase->count + 1, sizeof *phase->items);
    const char *ids = db_text(phases, row, ADVISE_PHASES_TASK_IDS);
    const char *starts = db_text(phases, row, ADVISE_PHASES_STARTS_US);
    const char *busy = db_text(phases, row, ADVISE_PHASES_BUSY_US);
    for (int i = 0; i < phase->count; i++) {
        ids = read_number(ids, &phase->items[i].task_id);
        starts = read_number(starts, &phase->items[i].start_us);
        busy = read_number(busy, &phase->items[i].busy_us);
    }
}

/* The run whose phases begin at row; returns where the next one's do. */
static int read_run(const struct db_result *phases, int row, struct simulate_run *run)
{
    int64_t run_no = db_int(phases, row, ADVISE_PHASES_RUN_NO);
    utf8_copy(run->run_id, sizeof run->run_id, db_text(phases, row, ADVISE_PHASES_RUN_ID));
    while (row + run->count < db_rows(phases) &&
           db_int(phases, row + run->count, ADVISE_PHASES_RUN_NO) == run_no)
        run->count++;
    run->phases = xcalloc((size_t)run->count, sizeof *run->phases);
    for (int i = 0; i < run->count; i++)
        read_phase(phases, row + i, &run->phases[i]);
    return row + run->count;
}

/* The longest first; of each order the longest of all runs. */
static void keep_straggler(struct advice *advice, const char *run_id,
                           const struct simulate_straggler *phase)
{
    struct advice_straggler *all = advice->stragglers;
    int at = 0;
    if (phase->readers == 0)
        return;
    for (int i = 0; i < advice->straggler_count; i++) {
        if (all[i].phase.order != phase->order)
            continue;
        if (all[i].phase.busy_us >= phase->busy_us)
            return;
        /* The shorter one of the same order leaves; the longer one is inserted below at its
         * place. */
        memmove(&all[i], &all[i + 1], (size_t)(--advice->straggler_count - i) * sizeof *all);
        break;
    }
    while (at < advice->straggler_count && all[at].phase.busy_us >= phase->busy_us)
        at++;
    if (at == ADVISE_STRAGGLERS)
        return;
    /* The list is full: its last, which is the shortest, leaves. */
    if (advice->straggler_count == ADVISE_STRAGGLERS)
        advice->straggler_count--;
    memmove(&all[at + 1], &all[at], (size_t)(advice->straggler_count - at) * sizeof *all);
    utf8_copy(all[at].run_id, sizeof all[at].run_id, run_id);
    all[at].phase = *phase;
    advice->straggler_count++;
}

/* Adds one run, which is measured, to the sums. */
static void take_run(struct advice *advice, const struct simulate_run *run)
{
    for (int i = 0; i < run->count; i++) {
        struct simulate_straggler straggler =
            simulate_straggler(run, &run->phases[i], advice->most);
        advice->tasks += run->phases[i].count;
        keep_straggler(advice, run->run_id, &straggler);
    }
    advice->runs++;
    advice->phases += run->count;
    advice->makespan_us += run->makespan_us;
    /* The replay with the real number of readers: its distance from makespan_us shows how far the
     * other figures can be trusted. */
    advice->replayed_us += simulate_makespan(run, run->readers);
    advice->work_us += run->work_us;
    advice->barrier_us += run->barrier_us;
    advice->handover_us += run->handover_us;
    advice->readers = run->readers > advice->readers ? run->readers : advice->readers;
    for (int readers = 1; readers <= advice->most; readers++)
        advice->makespans_us[readers - 1] += simulate_makespan(run, readers);
}

static void to_means(struct advice *advice)
{
    double runs = advice->runs;
    advice->phases /= runs;
    advice->makespan_us /= runs;
    advice->replayed_us /= runs;
    advice->work_us /= runs;
    advice->barrier_us /= runs;
    advice->handover_us /= runs;
    for (int i = 0; i < advice->most; i++)
        advice->makespans_us[i] /= runs;
    advice->knee = simulate_knee(advice->makespans_us, advice->most);
}

enum rc advise_queue(struct db *db, int64_t queue_id, const struct advice_bounds *bounds,
                     struct advice **ret_advice, struct err *err)
{
    DB_RESULT_AUTO *phases = NULL;
    enum rc rc =
        db_run(db, &sql_advise_phases,
               (const char *const[]){DB_INT(queue_id), DB_INT(bounds->runs), DB_INT(bounds->tasks)},
               &phases, err);
    if (rc != RC_OK)
        return rc;
    if (db_rows(phases) == 0)
        return RC_NONE;
    struct advice *advice = xcalloc(1, sizeof *advice);
    advice->most = bounds->readers;
    /* All are read before any is measured: their times together show which of them are pauses. */
    struct simulate_run *runs = xcalloc((size_t)bounds->runs, sizeof *runs);
    int count = 0;
    for (int row = 0; row < db_rows(phases); count++)
        row = read_run(phases, row, &runs[count]);
    simulate_measure(runs, count);
    for (int i = 0; i < count; i++) {
        take_run(advice, &runs[i]);
        simulate_done(&runs[i]);
    }
    free(runs);
    to_means(advice);
    *ret_advice = advice;
    return RC_OK;
}

void advice_free(struct advice *advice)
{
    free(advice);
}

double advice_idle(const struct advice *advice, int readers)
{
    /* Reader time that is paid for, against work_us, the reader time that tasks used. */
    double cost = readers * advice->makespans_us[readers - 1];
    return cost > 0 && advice->work_us < cost ? 1 - advice->work_us / cost : 0;
}

/* advice NULL: there is no run. */
static void print_json(struct str *out, const struct advice *advice, int64_t most_tasks,
                       int64_t larger_runs)
{
    str_format(out, "{\"most_tasks\":%lld,\"larger_runs\":%lld,", (long long)most_tasks,
               (long long)larger_runs);
    if (advice == NULL) {
        str_text(out, "\"runs\":0,\"tasks\":0,\"measured\":null,\"readers\":[],\"knee\":null,"
                      "\"stragglers\":[]}");
        return;
    }
    str_format(out,
               "\"runs\":%d,\"tasks\":%lld,\"measured\":{\"readers\":%d,\"makespan_s\":%.6f,"
               "\"replayed_s\":%.6f,\"work_s\":%.6f,"
               "\"barrier_s\":%.6f,\"handover_s\":%.6f,\"phases\":%.6g},\"readers\":[",
               advice->runs, (long long)advice->tasks, advice->readers, advice->makespan_us / 1e6,
               advice->replayed_us / 1e6, advice->work_us / 1e6, advice->barrier_us / 1e6,
               advice->handover_us / 1e6, advice->phases);
    for (int n = 1; n <= advice->most; n++)
        str_format(out, "%s{\"readers\":%d,\"makespan_s\":%.6f,\"cost_s\":%.6f,\"idle\":%.4f}",
                   n > 1 ? "," : "", n, advice->makespans_us[n - 1] / 1e6,
                   n * advice->makespans_us[n - 1] / 1e6, advice_idle(advice, n));
    str_format(out, "],\"knee\":%d,\"stragglers\":[", advice->knee);
    for (int i = 0; i < advice->straggler_count; i++) {
        const struct advice_straggler *one = &advice->stragglers[i];
        str_format(
            out,
            "%s{\"run_id\":\"%s\",\"order\":%lld,\"task_id\":%lld,\"seconds\":%.6f,\"readers\":%d}",
            i > 0 ? "," : "", one->run_id, (long long)one->phase.order,
            (long long)one->phase.task_id, one->phase.busy_us / 1e6, one->phase.readers);
    }
    str_text(out, "]}");
}

enum rc advise_document(struct db *db, const char *queue, const struct advice_bounds *bounds,
                        struct str *out, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    DB_RESULT_AUTO *larger = NULL;
    struct advice *advice = NULL;
    enum rc rc = db_run(db, &sql_queue_find, (const char *const[]){queue}, &row, err);
    if (rc != RC_OK)
        return rc;
    /* A run with more tasks than the limit is not replayed; the document says how many there are,
     * so that an advice from small runs alone can be recognised. */
    rc = db_run(db, &sql_advise_larger,
                (const char *const[]){db_text(row, 0, QUEUE_FIND_QUEUE_ID), DB_INT(bounds->tasks)},
                &larger, err);
    if (rc != RC_OK)
        return rc;
    rc = advise_queue(db, db_int(row, 0, QUEUE_FIND_QUEUE_ID), bounds, &advice, err);
    if (rc != RC_OK && rc != RC_NONE)
        return rc;
    print_json(out, advice, bounds->tasks, db_int(larger, 0, ADVISE_LARGER_RUNS));
    advice_free(advice);
    return RC_OK;
}
