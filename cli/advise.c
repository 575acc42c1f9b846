/* queue advise: a table of makespans for 1 to N readers, and below it where readers do not help.
 * The figures are advise/'s, from measured task times; -o json prints the document that the console
 * shows, too. It changes nothing: queue set --max-readers does.
 *
 * The figures are a replay of measured tasks with another number of readers, in memory; no query of
 * a user runs. */
#include "advise/advise.h"
#include "base/number.h"

#include "cli/commands.h"
#include "cli/find.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

/* Of 64 numbers those that a person compares, with that of the measurement and the knee. */
static bool is_shown(const struct cli *cli, const struct advice *advice, int readers)
{
    static const int shown[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
    bool is = cli->output != OUTPUT_TABLE || cli->wide || readers == advice->most ||
              readers == advice->knee || readers == advice->readers;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        is = is || readers == shown[i];
    return is;
}

static enum rc print_readers(const struct cli *cli, const struct advice *advice, struct err *err)
{
    static const char *const names[] = {"readers", "makespan_s", "cost_s", "idle_percent", "note"};
    struct table *table = table_new(stdout, cli_style(cli), "iiiit", names, 5, false);
    for (int n = 1; n <= advice->most; n++) {
        char readers[16], makespan[32], cost[32], idle[16];
        if (!is_shown(cli, advice, n))
            continue;
        (void)snprintf(readers, sizeof readers, "%d", n);
        (void)snprintf(makespan, sizeof makespan, "%.3f", advice->makespans_us[n - 1] / 1e6);
        (void)snprintf(cost, sizeof cost, "%.3f", n * advice->makespans_us[n - 1] / 1e6);
        (void)snprintf(idle, sizeof idle, "%.1f", advice_idle(advice, n) * 100);
        table_row(table,
                  (const char *const[]){readers, makespan, cost, idle,
                                        n == advice->knee && n == advice->readers ? "measured, knee"
                                        : n == advice->knee                       ? "knee"
                                        : n == advice->readers                    ? "measured"
                                                                                  : ""});
    }
    return table_end(table, err);
}

/* For people: the runs that the figures come from, and the phases in which more readers do not
 * help. */
static void print_words(const struct advice *advice)
{
    (void)printf("\n%d run%s, %lld attempt%s, at most %d reader%s busy at once\n", advice->runs,
                 NUMBER_S(advice->runs), (long long)advice->tasks, NUMBER_S(advice->tasks),
                 advice->readers, NUMBER_S(advice->readers));
    (void)printf(
        "of one run: makespan %.3f s (%.3f s when replayed), work %.3f s, barriers %.3f s\n",
        advice->makespan_us / 1e6, advice->replayed_us / 1e6, advice->work_us / 1e6,
        advice->barrier_us / 1e6);
    if (advice->knee < advice->most)
        (void)printf("knee: %d reader%s; up to %d, no number is faster by a tenth\n", advice->knee,
                     NUMBER_S(advice->knee), advice->most);
    for (int i = 0; i < advice->straggler_count; i++) {
        const struct advice_straggler *one = &advice->stragglers[i];
        (void)printf(
            "order %lld: task %lld alone takes %.3f s; more than %d reader%s do not help\n",
            (long long)one->phase.order, (long long)one->phase.task_id, one->phase.busy_us / 1e6,
            one->phase.readers, one->phase.readers == 1 ? "" : "s");
    }
}

static enum rc print_document(const struct cli *cli, const char *queue,
                              const struct advice_bounds *bounds, struct err *err)
{
    STR_AUTO document = {0};
    enum rc rc = advise_document(cli->db, queue, bounds, &document, err);
    if (rc != RC_OK)
        return rc;
    (void)printf("%s\n", document.data);
    return table_check(stdout, err);
}

enum rc command_queue_advise(struct cli *cli, struct err *err)
{
    struct queue_row queue;
    struct advice *advice = NULL;
    const struct advice_bounds bounds = {.runs = (int)cli_int(cli, "runs", ADVISE_RUNS),
                                         .readers = (int)cli_int(cli, "readers", ADVISE_READERS),
                                         .tasks = ADVISE_TASKS};
    enum rc rc = find_queue(cli, cli->arguments[0], &queue, err);
    /* The document has every number of readers and is the console's; the other forms print the
     * table. */
    if (rc == RC_OK && cli->output == OUTPUT_JSON)
        return print_document(cli, queue.name, &bounds, err);
    if (rc == RC_OK)
        rc = advise_queue(cli->db, queue.queue_id, &bounds, &advice, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_FAILED, queue.name, REMEDY_RUN_LIST,
                       "no run that could be replayed has ended");
    if (rc == RC_OK)
        rc = print_readers(cli, advice, err);
    if (rc == RC_OK && cli->output == OUTPUT_TABLE) {
        print_words(advice);
        rc = table_check(stdout, err);
    }
    advice_free(advice);
    return rc;
}
