/* Finished runs, replayed with other numbers of readers. */
#include "advise/simulate.h"
#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS 1000

/* A run of as many phases of `count` tasks each. */
static struct simulate_run made(int phases, int count)
{
    struct simulate_run run = {.count = phases};
    run.phases = xcalloc((size_t)phases, sizeof *run.phases);
    for (int i = 0; i < phases; i++) {
        run.phases[i].order = 10 * (i + 1);
        run.phases[i].count = count;
        run.phases[i].items = xcalloc((size_t)count + 1, sizeof *run.phases[i].items);
        for (int n = 0; n < count; n++)
            run.phases[i].items[n].task_id = 100 * i + n;
    }
    return run;
}

/* Lets it run as an executor does: with the measures of then. */
static void ran(struct simulate_run *run, int readers, int handover_ms, int ramp_ms, int barrier_ms)
{
    int64_t begin = 0;
    for (int i = 0; i < run->count; i++) {
        struct simulate_phase *phase = &run->phases[i];
        int64_t free_at[64], last = begin;
        for (int r = 0; r < readers; r++)
            free_at[r] = begin + (int64_t)ramp_ms * MS * r / (readers > 1 ? readers - 1 : 1);
        for (int n = 0; n < phase->count; n++) {
            int first = 0;
            for (int r = 1; r < readers; r++)
                first = free_at[r] < free_at[first] ? r : first;
            phase->items[n].start_us = free_at[first];
            int64_t end = free_at[first] + phase->items[n].busy_us;
            last = end > last ? end : last;
            free_at[first] = end + (int64_t)handover_ms * MS;
        }
        phase->first_us = begin;
        phase->last_us = last;
        begin = last + (int64_t)barrier_ms * MS;
    }
    simulate_measure(run, 1);
}

static void assert_near(double found, double wanted_ms)
{
    if (fabs(found - wanted_ms * MS) > 10) /* times are whole microseconds */
        fail_msg("%.3f ms instead of %.3f", found / MS, wanted_ms);
}

static void tasks_go_in_their_order_to_the_reader_that_is_free_first(void **state)
{
    (void)state;
    static const int64_t busy[] = {30, 10, 20, 40};
    struct simulate_run run = made(1, 4);
    for (int n = 0; n < 4; n++)
        run.phases[0].items[n].busy_us = busy[n] * MS;
    ran(&run, 1, 0, 0, 0);
    assert_near(simulate_makespan(&run, 1), 100);
    assert_near(simulate_makespan(&run, 2), 70); /* 30 and then 40; 10, 20 */
    assert_near(simulate_makespan(&run, 3), 50); /* 10 and then 40 */
    assert_near(simulate_makespan(&run, 4), 40);
    assert_near(simulate_makespan(&run, 64), 40);
    simulate_done(&run);
    simulate_done(&run);
}

static void a_run_is_measured_and_takes_as_long_as_it_took(void **state)
{
    (void)state;
    for (int readers = 1; readers <= 8; readers *= 2) {
        struct simulate_run run = made(5, 24);
        srand(7);
        for (int i = 0; i < run.count; i++)
            for (int n = 0; n < 24; n++)
                run.phases[i].items[n].busy_us = (20 + rand() % 80) * MS;
        ran(&run, readers, 3, readers > 1 ? 2 : 0, 5);
        assert_int_equal(run.readers, readers);
        assert_near(run.handover_us, 3);
        assert_near(run.ramp_us, readers > 1 ? 2 : 0);
        assert_near(run.barrier_us, 4 * 5);
        assert_near(simulate_makespan(&run, readers), run.makespan_us / MS);
        simulate_done(&run);
    }
}

static void what_is_measured_with_one_number_holds_for_another(void **state)
{
    (void)state;
    struct simulate_run one = made(3, 40), other = made(3, 40);
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 40; n++)
            one.phases[i].items[n].busy_us = other.phases[i].items[n].busy_us =
                (10 + n * 7 % 50) * MS;
    ran(&one, 2, 1, 0, 4);
    ran(&other, 8, 1, 0, 4);
    assert_near(simulate_makespan(&one, 8), other.makespan_us / MS);
    assert_near(simulate_makespan(&other, 2), one.makespan_us / MS);
    simulate_done(&one);
    simulate_done(&other);
}

static void more_readers_are_never_slower(void **state)
{
    (void)state;
    struct simulate_run run = made(2, 200);
    srand(11);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 200; n++)
            run.phases[i].items[n].busy_us = 1 + rand() % 1000;
    ran(&run, 4, 0, 0, 1);
    for (int readers = 2; readers <= 64; readers++)
        assert_true(simulate_makespan(&run, readers) <= simulate_makespan(&run, readers - 1));
    simulate_done(&run);
}

/* All starts from a task of a phase on, and the phases behind, happen an hour later. */
static void pause(struct simulate_run *run, int phase, int from)
{
    static const int64_t hour_us = 3600000LL * MS;
    for (int i = phase; i < run->count; i++) {
        for (int n = i == phase ? from : 0; n < run->phases[i].count; n++)
            run->phases[i].items[n].start_us += hour_us;
        if (i > phase || from == 0)
            run->phases[i].first_us += hour_us;
        run->phases[i].last_us += hour_us;
    }
}

static struct simulate_run of_50_ms(int phases, int count)
{
    struct simulate_run run = made(phases, count);
    for (int i = 0; i < phases; i++)
        for (int n = 0; n < count; n++)
            run.phases[i].items[n].busy_us = 50 * MS;
    return run;
}

static void a_pause_is_no_handover_where_all_readers_have_one(void **state)
{
    (void)state;
    struct simulate_run run = of_50_ms(1, 8);
    ran(&run, 4, 3, 0, 0);
    pause(&run, 0, 4); /* each reader has one handover, and it is the pause */
    simulate_measure(&run, 1);
    assert_near(run.handover_us, 1000);
    assert_near(simulate_makespan(&run, 1), 8 * 50 + 7 * 1000);
    simulate_done(&run);
}

static void a_pause_is_no_barrier_where_there_is_one_barrier(void **state)
{
    (void)state;
    struct simulate_run run = of_50_ms(2, 4);
    ran(&run, 2, 0, 0, 10);
    pause(&run, 1, 0);
    simulate_measure(&run, 1);
    assert_near(run.barrier_us, 1000);
    simulate_done(&run);
}

static void the_other_runs_show_what_is_a_pause(void **state)
{
    (void)state;
    struct simulate_run runs[5];
    for (int i = 0; i < 5; i++) {
        runs[i] = of_50_ms(2, 8);
        ran(&runs[i], 4, 100, 0, 200);
    }
    pause(&runs[0], 1, 0);
    pause(&runs[1], 0, 4);
    simulate_measure(runs, 5);
    assert_near(runs[0].barrier_us, 20 * 200);
    assert_near(runs[0].handover_us, 100);
    assert_near(runs[1].barrier_us, 200);
    assert_near(runs[1].handover_us, (4 * 20 * 100 + 4 * 100) / 8);
    assert_near(runs[2].barrier_us, 200);
    for (int i = 0; i < 5; i++)
        simulate_done(&runs[i]);
}

static void a_pause_between_two_phases_is_no_barrier(void **state)
{
    (void)state;
    struct simulate_run run = of_50_ms(3, 4);
    ran(&run, 2, 0, 0, 10);
    pause(&run, 2, 0);
    simulate_measure(&run, 1);
    assert_near(run.barrier_us, 10 + 1000);
    simulate_done(&run);
}

static void what_takes_no_reader_takes_as_long_with_any_number(void **state)
{
    (void)state;
    struct simulate_run run = made(2, 4);
    for (int n = 0; n < 4; n++)
        run.phases[0].items[n].busy_us = 50 * MS;
    run.phases[0].floor_us = 300 * MS;
    run.phases[1].count = 0; /* external tasks only */
    run.phases[1].floor_us = 70 * MS;
    ran(&run, 2, 0, 0, 0);
    assert_near(simulate_makespan(&run, 1), 300 + 70);
    assert_near(simulate_makespan(&run, 4), 300 + 70);
    simulate_done(&run);
}

static void a_phase_is_bound_by_its_straggler_from_some_number_of_readers_on(void **state)
{
    (void)state;
    struct simulate_run run = made(2, 9);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 9; n++)
            run.phases[i].items[n].busy_us = (i == 0 && n == 0 ? 400 : 100) * MS;
    ran(&run, 1, 0, 0, 0);
    struct simulate_straggler found = simulate_straggler(&run, &run.phases[0], 64);
    assert_int_equal(found.order, 10);
    assert_int_equal(found.task_id, 0);
    assert_near(found.busy_us, 400);
    assert_int_equal(found.readers, 3);
    assert_int_equal(simulate_straggler(&run, &run.phases[0], 2).readers, 0);
    assert_int_equal(simulate_straggler(&run, &run.phases[1], 64).readers, 0); /* all alike */
    simulate_done(&run);
}

static void from_the_knee_on_no_number_is_faster_by_a_tenth(void **state)
{
    (void)state;
    static const double makespans[] = {100, 50, 34, 26, 25, 24.5, 24, 24};
    assert_int_equal(simulate_knee(makespans, 8), 4);
    assert_int_equal(simulate_knee(makespans, 3), 3);
    assert_int_equal(simulate_knee(makespans, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_go_in_their_order_to_the_reader_that_is_free_first),
        cmocka_unit_test(a_run_is_measured_and_takes_as_long_as_it_took),
        cmocka_unit_test(what_is_measured_with_one_number_holds_for_another),
        cmocka_unit_test(more_readers_are_never_slower),
        cmocka_unit_test(a_pause_is_no_handover_where_all_readers_have_one),
        cmocka_unit_test(a_pause_is_no_barrier_where_there_is_one_barrier),
        cmocka_unit_test(the_other_runs_show_what_is_a_pause),
        cmocka_unit_test(a_pause_between_two_phases_is_no_barrier),
        cmocka_unit_test(what_takes_no_reader_takes_as_long_with_any_number),
        cmocka_unit_test(a_phase_is_bound_by_its_straggler_from_some_number_of_readers_on),
        cmocka_unit_test(from_the_knee_on_no_number_is_faster_by_a_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
