#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kafka/bounded.h"

#include <poll.h>
#include <unistd.h>

struct call {
    int until_readable,
        left; /* the job ends when the first can be read; leave writes to the second */
    bool ran;
};

static void wait_for_byte(void *argument)
{
    struct call *call = argument;
    struct pollfd wait = {.fd = call->until_readable, .events = POLLIN};
    if (call->until_readable >= 0)
        (void)poll(&wait, 1, -1);
    call->ran = true;
}

static void leave(void *argument)
{
    const struct call *call = argument;
    (void)!write(call->left, call->ran ? "y" : "n", 1);
}

static void pipes_open(int go[2], int left[2])
{
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(left), 0);
}

static void pipes_close(const int go[2], const int left[2])
{
    close(go[0]);
    close(go[1]);
    close(left[0]);
    close(left[1]);
}

static void a_job_that_ends_is_waited_for_and_its_argument_stays_the_callers(void **state)
{
    (void)state;
    int left[2];
    assert_int_equal(pipe(left), 0);
    struct call call = {-1, left[1], false};
    assert_true(kafka_bounded(wait_for_byte, leave, &call, 20000));
    assert_true(call.ran);
    struct pollfd none = {.fd = left[0], .events = POLLIN};
    assert_int_equal(poll(&none, 1, 0), 0);
    close(left[0]);
    close(left[1]);
}

static void a_job_that_hangs_is_left_behind_and_leaves_when_it_ends(void **state)
{
    (void)state;
    int go[2], left[2];
    char byte = 0;
    pipes_open(go, left);
    static struct call call;
    call = (struct call){go[0], left[1], false};
    assert_false(kafka_bounded(wait_for_byte, leave, &call, 20));
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(read(left[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    pipes_close(go, left);
}

static void a_job_that_was_started_is_over_when_it_has_ended_or_its_time_is_up(void **state)
{
    (void)state;
    int go[2], left[2];
    char byte = 0;
    pipes_open(go, left);
    struct call ends = {go[0], left[1], false};
    static struct call hangs;
    hangs = ends;
    struct kafka_bounded *first = kafka_bounded_start(wait_for_byte, leave, &ends, 20000);
    assert_false(kafka_bounded_over(first));
    assert_int_equal(write(go[1], "x", 1), 1); /* no thread reads it */
    while (!kafka_bounded_over(first)) {
    }
    assert_true(kafka_bounded_end(first));
    assert_int_equal(read(go[0], &byte, 1), 1);
    struct kafka_bounded *second = kafka_bounded_start(wait_for_byte, leave, &hangs, 20);
    while (!kafka_bounded_over(second)) {
    }
    assert_false(kafka_bounded_end(second));
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(read(left[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    pipes_close(go, left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_ends_is_waited_for_and_its_argument_stays_the_callers),
        cmocka_unit_test(a_job_that_hangs_is_left_behind_and_leaves_when_it_ends),
        cmocka_unit_test(a_job_that_was_started_is_over_when_it_has_ended_or_its_time_is_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
