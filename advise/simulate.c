/* Pure arithmetic; begin with simulate_phase(), which replays one phase by list scheduling, and
 * read simulate_measure() then, which finds its parameters in the runs themselves. Times of tasks
 * are taken as they were: that tasks get slower when more of them run at once is not modelled. */
#include "advise/simulate.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* OUTLIER and LEAST_US keep a pause of an operator out of the mean. NEAR: 5 % longer than the
 * longest task counts as no longer. KNEE_FACTOR: 10 % above the best makespan is good enough for
 * fewer readers. */
#define OUTLIER       20  /* times the median: a longer time was no handover */
#define LEAST_US      1e6 /* but so much may be */
#define FEW_BARRIERS  3   /* of fewer one pause can be the median */
#define FEW_HANDOVERS 2 /* times the readers: as well, a pause makes as many as there are readers */
#define NEAR          1.05
#define KNEE_FACTOR   1.1

/* Measured times of one kind. */
struct times {
    int64_t *us;
    int count;
    double most_us; /* a longer one counts as this */
};

struct measures {
    struct times handover, ramp, barrier;
};

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The times of a phase, sorted: starts, then ends. */
static int64_t *sorted_times(const struct simulate_phase *phase)
{
    size_t count = (size_t)phase->count;
    int64_t *times = xcalloc(2 * count + 1, sizeof *times);
    for (size_t i = 0; i < count; i++) {
        times[i] = phase->items[i].start_us;
        times[count + i] = phase->items[i].start_us + phase->items[i].busy_us;
    }
    qsort(times, count, sizeof *times, compare);
    qsort(times + count, count, sizeof *times, compare);
    return times;
}

/* A sweep over starts and ends in the order of time: of i + 1 tasks that have started, `ended` have
 * ended. An end at the moment of a start counts first: one reader can have run both. */
static int most_at_once(const struct simulate_phase *phase)
{
    FREE_AUTO int64_t *starts = sorted_times(phase);
    const int64_t *ends = starts + phase->count;
    int ended = 0, most = 0;
    for (int i = 0; i < phase->count; i++) {
        while (ended < i && ends[ended] <= starts[i])
            ended++;
        most = i + 1 - ended > most ? i + 1 - ended : most;
    }
    return most;
}

/* Times of one kind are alike but for a few. A time above OUTLIER medians, and above LEAST_US, was
 * a pause of an operator or a slow producer, which other runs will not have. Of fewer times than
 * `few` the median may be the pause itself. */
static void find_most(struct times *times, int few)
{
    times->most_us = LEAST_US;
    if (times->count < few)
        return;
    qsort(times->us, (size_t)times->count, sizeof *times->us, compare);
    double most_us = OUTLIER * (double)times->us[(times->count - 1) / 2];
    times->most_us = most_us > LEAST_US ? most_us : LEAST_US;
}

static double mean(const struct times *times, double most_us)
{
    double sum = 0;
    for (int i = 0; i < times->count; i++)
        sum += (double)times->us[i] > most_us ? most_us : (double)times->us[i];
    return times->count > 0 ? sum / times->count : 0;
}

/* A reader that ends a task gets its next one, so the (n + readers)-th start follows the n-th end,
 * and the time between them is a handover. The first `readers` starts need no end before them: the
 * time from the first to the last of them is the ramp. */
static void collect(const struct simulate_run *run, struct measures *measures)
{
    struct times *handover = &measures->handover, *ramp = &measures->ramp;
    struct times *barrier = &measures->barrier;
    for (int i = 1; i < run->count; i++)
        barrier->us[barrier->count++] = run->phases[i].first_us - run->phases[i - 1].last_us;
    for (int i = 0; i < run->count; i++) {
        const struct simulate_phase *phase = &run->phases[i];
        if (phase->floor_us > 0) /* its readers waited for something else, too */
            continue;
        FREE_AUTO int64_t *starts = sorted_times(phase);
        const int64_t *ends = starts + phase->count;
        int first = phase->count < run->readers ? phase->count : run->readers;
        if (first > 1)
            ramp->us[ramp->count++] = starts[first - 1] - starts[0];
        for (int n = 0; n + first < phase->count; n++)
            handover->us[handover->count++] = starts[n + first] - ends[n];
    }
}

/* With room for the times of all these runs. */
static struct measures measures_new(const struct simulate_run *runs, int count)
{
    size_t items = 1, phases = 1;
    for (int r = 0; r < count; r++) {
        phases += (size_t)runs[r].count;
        for (int i = 0; i < runs[r].count; i++)
            items += (size_t)runs[r].phases[i].count;
    }
    struct measures measures = {0};
    measures.handover.us = xcalloc(items, sizeof *measures.handover.us);
    measures.ramp.us = xcalloc(phases, sizeof *measures.ramp.us);
    measures.barrier.us = xcalloc(phases, sizeof *measures.barrier.us);
    return measures;
}

static void measures_done(struct measures *measures)
{
    free(measures->handover.us);
    free(measures->ramp.us);
    free(measures->barrier.us);
}

static void measure_work(struct simulate_run *run)
{
    run->readers = 1;
    run->work_us = 0;
    for (int i = 0; i < run->count; i++) {
        int most = most_at_once(&run->phases[i]);
        run->readers = most > run->readers ? most : run->readers;
        for (int n = 0; n < run->phases[i].count; n++)
            run->work_us += (double)run->phases[i].items[n].busy_us;
    }
    run->makespan_us =
        run->count == 0 ? 0
                        : (double)(run->phases[run->count - 1].last_us - run->phases[0].first_us);
}

/* bounds: of the times of all runs. */
static void measure_waits(struct simulate_run *run, const struct measures *bounds)
{
    struct measures own = measures_new(run, 1);
    collect(run, &own);
    run->handover_us = mean(&own.handover, bounds->handover.most_us);
    run->ramp_us = mean(&own.ramp, bounds->ramp.most_us);
    /* The sum, with outliers cut. */
    run->barrier_us = mean(&own.barrier, bounds->barrier.most_us) * own.barrier.count;
    measures_done(&own);
}

void simulate_measure(struct simulate_run *runs, int count)
{
    struct measures all = measures_new(runs, count);
    int readers = 1;
    for (int r = 0; r < count; r++) {
        measure_work(&runs[r]);
        readers = runs[r].readers > readers ? runs[r].readers : readers;
        collect(&runs[r], &all);
    }
    find_most(&all.handover, FEW_HANDOVERS * readers);
    find_most(&all.ramp, FEW_BARRIERS);
    find_most(&all.barrier, FEW_BARRIERS);
    for (int r = 0; r < count; r++)
        measure_waits(&runs[r], &all);
    measures_done(&all);
}

/* The readers' times at which each is free, as a heap: the reader that is free first is at its top.
 * Its time becomes `time`. */
static void replace_first(double *free_at, int readers, double time)
{
    int at = 0;
    for (int child = 1; child < readers; child = 2 * at + 1) {
        if (child + 1 < readers && free_at[child + 1] < free_at[child])
            child++;
        if (free_at[child] >= time)
            break;
        free_at[at] = free_at[child];
        at = child;
    }
    free_at[at] = time;
}

double simulate_phase(const struct simulate_run *run, const struct simulate_phase *phase,
                      int readers)
{
    int used = readers < phase->count ? readers : phase->count;
    double span = (double)phase->floor_us;
    FREE_AUTO double *free_at = xcalloc((size_t)used + 1, sizeof *free_at);
    for (int i = 1; i < used; i++)
        /* Readers begin one after the other, evenly over the ramp. An ascending array is a heap
         * already. */
        free_at[i] = run->ramp_us * i / (used - 1);
    for (int i = 0; i < phase->count; i++) {
        double end = free_at[0] + (double)phase->items[i].busy_us;
        span = end > span ? end : span;
        /* The handover belongs to the reader, not to the phase: after the last task there is
         * none. */
        replace_first(free_at, used, end + run->handover_us);
    }
    return span;
}

/* Barriers and handovers are kept as they were measured: they are properties of the machine and not
 * of the number of readers. */
double simulate_makespan(const struct simulate_run *run, int readers)
{
    double makespan = run->barrier_us;
    for (int i = 0; i < run->count; i++)
        makespan += simulate_phase(run, &run->phases[i], readers);
    return makespan;
}

static const struct simulate_item *longest(const struct simulate_phase *phase, double *ret_median)
{
    const struct simulate_item *item = &phase->items[0];
    FREE_AUTO int64_t *busy = xcalloc((size_t)phase->count, sizeof *busy);
    for (int i = 0; i < phase->count; i++) {
        busy[i] = phase->items[i].busy_us;
        item = busy[i] > item->busy_us ? &phase->items[i] : item;
    }
    qsort(busy, (size_t)phase->count, sizeof *busy, compare);
    *ret_median = (double)busy[(phase->count - 1) / 2];
    return item;
}

struct simulate_straggler simulate_straggler(const struct simulate_run *run,
                                             const struct simulate_phase *phase, int most)
{
    struct simulate_straggler found = {.order = phase->order};
    double median;
    if (phase->count < 2)
        return found;
    const struct simulate_item *item = longest(phase, &median);
    found.task_id = item->task_id;
    found.busy_us = (double)item->busy_us;
    /* A task that is hardly longer than the others holds up nothing that more readers could not
     * cure. */
    if (found.busy_us < 2 * median)
        return found;
    /* The straggler may be the last that is handed out, at the end of the ramp. */
    double bound = found.busy_us * NEAR + run->ramp_us;
    int low = 1, high = most; /* a phase takes no longer with more readers */
    if (simulate_phase(run, phase, most) > bound)
        return found;
    while (low < high) {
        int middle = (low + high) / 2;
        if (simulate_phase(run, phase, middle) <= bound)
            high = middle;
        else
            low = middle + 1;
    }
    found.readers = low;
    return found;
}

int simulate_knee(const double *makespans, int most)
{
    int readers = 1;
    /* Compared with the makespan of all `most` readers, which is the least: more readers make no
     * phase longer here. */
    while (readers < most && makespans[readers - 1] > KNEE_FACTOR * makespans[most - 1])
        readers++;
    return readers;
}

void simulate_done(struct simulate_run *run)
{
    for (int i = 0; i < run->count; i++)
        free(run->phases[i].items);
    free(run->phases);
    run->phases = NULL;
    run->count = 0;
}
