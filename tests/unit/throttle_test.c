/* Sign-ins that fail: how long the next one waits, and that no one can shorten it for another. */
#include "console/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define S 1000000LL

static bool try(struct throttle *throttle, const char *name, enum throttle_outcome outcome,
                int64_t now_us, int *ret_wait_s)
{
    bool may = throttle_begin(throttle, name, now_us, ret_wait_s);
    if (may)
        throttle_end(throttle, name, outcome, now_us);
    return may;
}

static void each_failure_costs_twice_as_much(void **state)
{
    struct throttle throttle = {.seed = 1};
    int64_t now_us = 1000 * S;
    int wait_s;
    (void)state;
    for (int64_t cost_us = S / 2; cost_us < 60 * S; cost_us *= 2) {
        assert_true(try(&throttle, "ada", THROTTLE_FAILED, now_us, &wait_s));
        assert_false(try(&throttle, "ada", THROTTLE_FAILED, now_us + cost_us - 1, &wait_s));
        assert_int_equal(wait_s, 1);
        now_us += cost_us;
    }
    assert_true(try(&throttle, "ada", THROTTLE_FAILED, now_us, &wait_s));
    assert_false(try(&throttle, "ada", THROTTLE_FAILED, now_us, &wait_s));
    assert_int_equal(wait_s, 60);
    now_us += 700 * S; /* all is forgotten */
    assert_true(try(&throttle, "ada", THROTTLE_FAILED, now_us, &wait_s));
    assert_true(try(&throttle, "ada", THROTTLE_DONE, now_us + S / 2, &wait_s));
    assert_true(try(&throttle, "ada", THROTTLE_DONE, now_us + S / 2, &wait_s));
}

static void of_one_name_one_tries_at_a_time(void **state)
{
    struct throttle throttle = {.seed = 1};
    int wait_s;
    (void)state;
    assert_true(throttle_begin(&throttle, "ada", S, &wait_s));
    assert_false(throttle_begin(&throttle, "ada", S, &wait_s));
    assert_int_equal(wait_s, 0);
    throttle_end(&throttle, "ada", THROTTLE_UNKNOWN, S);
    assert_true(throttle_begin(&throttle, "ada", S, &wait_s));
}

/* Any number of names may come in between, at any times. */
static void other_names_do_not_shorten_a_wait(void **state)
{
    struct throttle throttle = {.seed = 1};
    int64_t now_us = 1000 * S;
    int wait_s, ada = 0;
    char name[24];
    (void)state;
    for (int i = 0; i < 7; i++, now_us += 100 * S)
        assert_true(try(&throttle, "ada", THROTTLE_FAILED, now_us, &wait_s));
    now_us -= 100 * S; /* the last of them costs 32 s */
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof name, "name %d", i);
        (void)try(&throttle, name, THROTTLE_FAILED, now_us + i * 32LL * S / 20000, &wait_s);
        ada += try(&throttle, "ada", THROTTLE_FAILED, now_us + i * 32LL * S / 20000, &wait_s);
    }
    assert_int_equal(ada, 0);
}

static void names_that_are_new_fail_together_once_a_second(void **state)
{
    struct throttle throttle = {.seed = 1};
    int64_t now_us = 1000 * S;
    int wait_s, tried = 0;
    char name[24];
    (void)state;
    assert_true(try(&throttle, "ada", THROTTLE_DONE, now_us, &wait_s));
    for (int i = 0; i < 10000; i++) { /* in a hundred seconds */
        (void)snprintf(name, sizeof name, "name %d", i);
        tried += try(&throttle, name, THROTTLE_FAILED, now_us + i * S / 100, &wait_s);
    }
    assert_in_range(tried, 100, 100 + THROTTLE_BURST);
    /* Who has signed in before comes in meanwhile, a new one when it is its turn. */
    assert_true(try(&throttle, "ada", THROTTLE_DONE, now_us + 100 * S, &wait_s));
    assert_false(try(&throttle, "eve", THROTTLE_DONE, now_us + 99 * S + S / 2, &wait_s));
    assert_in_range(wait_s, 1, 2);
    now_us += 100 * S + 2 * S;
    for (int i = 0; i < 100; i++) { /* a success costs nothing */
        (void)snprintf(name, sizeof name, "good %d", i);
        assert_true(try(&throttle, name, THROTTLE_DONE, now_us, &wait_s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_costs_twice_as_much),
        cmocka_unit_test(of_one_name_one_tries_at_a_time),
        cmocka_unit_test(other_names_do_not_shorten_a_wait),
        cmocka_unit_test(names_that_are_new_fail_together_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
