/* Pure arithmetic; begin with simulate_phase(), which replays one phase by list scheduling, and
 * read simulate_measure() then, which finds its parameters in the run itself. Times of tasks are
 * taken as they were: that tasks get slower when more of them run at once is not modelled. */
#include "advise/simulate.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* OUTLIER and LEAST_US keep a pause of an operator out of the mean. NEAR: 5 % longer than the
 * longest task counts as no longer. KNEE_FACTOR: 10 % above the best makespan is good enough for
 * fewer readers. */
#define OUTLIER     20  /* times the median: a longer time was no handover */
#define LEAST_US    1e6 /* but so much may be */
#define NEAR        1.05
#define KNEE_FACTOR 1.1

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

/* The mean of times that are alike but for a few. A time above OUTLIER medians, and above LEAST_US,
 * counts as that bound: it was a pause of an operator or a slow producer, which other runs will not
 * have. */
static double mean(int64_t *times, int count)
{
    double sum = 0;
    if (count == 0)
        return 0;
    qsort(times, (size_t)count, sizeof *times, compare);
    double most = OUTLIER * (double)times[(count - 1) / 2];
    most = most > LEAST_US ? most : LEAST_US;
    for (int i = 0; i < count; i++)
        sum += (double)times[i] > most ? most : (double)times[i];
    return sum / count;
}

/* A reader that ends a task gets its next one, so the (n + readers)-th start follows the n-th end,
 * and the time between them is a handover. The first `readers` starts need no end before them: the
 * time from the first to the last of them is the ramp. */
static void measure_readers(struct simulate_run *run)
{
    int items = 0, gaps = 0, ramps = 0;
    for (int i = 0; i < run->count; i++)
        items += run->phases[i].count;
    FREE_AUTO int64_t *gap = xcalloc((size_t)items + 1, sizeof *gap);
    FREE_AUTO int64_t *ramp = xcalloc((size_t)run->count + 1, sizeof *ramp);
    for (int i = 0; i < run->count; i++) {
        const struct simulate_phase *phase = &run->phases[i];
        if (phase->floor_us > 0) /* its readers waited for something else, too */
            continue;
        FREE_AUTO int64_t *starts = sorted_times(phase);
        const int64_t *ends = starts + phase->count;
        int first = phase->count < run->readers ? phase->count : run->readers;
        if (first > 1)
            ramp[ramps++] = starts[first - 1] - starts[0];
        for (int n = 0; n + first < phase->count; n++)
            gap[gaps++] = starts[n + first] - ends[n];
    }
    run->handover_us = mean(gap, gaps);
    run->ramp_us = mean(ramp, ramps);
}

static void measure_barriers(struct simulate_run *run)
{
    int count = 0;
    FREE_AUTO int64_t *barrier = xcalloc((size_t)run->count + 1, sizeof *barrier);
    for (int i = 1; i < run->count; i++)
        barrier[count++] = run->phases[i].first_us - run->phases[i - 1].last_us;
    /* The sum, with outliers cut. */
    run->barrier_us = mean(barrier, count) * count;
    run->makespan_us =
        run->count == 0 ? 0
                        : (double)(run->phases[run->count - 1].last_us - run->phases[0].first_us);
}

void simulate_measure(struct simulate_run *run)
{
    run->readers = 1;
    run->work_us = 0;
    for (int i = 0; i < run->count; i++) {
        int most = most_at_once(&run->phases[i]);
        run->readers = most > run->readers ? most : run->readers;
        for (int n = 0; n < run->phases[i].count; n++)
            run->work_us += (double)run->phases[i].items[n].busy_us;
    }
    measure_readers(run);
    measure_barriers(run);
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
