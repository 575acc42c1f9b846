/* When a trouble that continues is logged. */
#include "base/outage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define S 1000000LL

static struct err because(const char *code)
{
    struct err err = {.kind = ERR_DB_DOWN};
    (void)strncpy(err.code, code, sizeof err.code - 1);
    return err;
}

static void lines_come_ever_later_up_to_five_minutes(void **state)
{
    (void)state;
    struct outage outage = {0};
    struct err why = because("57P03");
    int said = 0;
    int64_t last_us = 0, longest_us = 0;
    for (int64_t us = 1; us < 3600 * S; us += S / 10)
        if (outage_must_log(&outage, &why, us)) {
            if (said > 0 && us - last_us > longest_us)
                longest_us = us - last_us;
            last_us = us;
            said++;
        }
    assert_in_range(said, 15, 22);
    assert_in_range(longest_us, 300 * S, 301 * S);
}

static void another_cause_is_told_at_once_and_by_itself(void **state)
{
    (void)state;
    struct outage outage = {0};
    struct err one = because("57P03"), two = because("");
    assert_true(outage_must_log(&outage, &one, 10 * S));
    assert_false(outage_must_log(&outage, &one, 10 * S + 1));
    assert_true(outage_must_log(&outage, &two, 10 * S + 2));
    assert_false(outage_must_log(&outage, &one, 10 * S + 3)); /* it does not come in turns */
    assert_false(outage_must_log(&outage, &two, 10 * S + 4));
    assert_true(outage_must_log(&outage, &one, 11 * S + 5));
    for (char code[2] = "a"; code[0] < 'z'; code[0]++) { /* more than there is room for */
        struct err other = because(code);
        (void)outage_must_log(&outage, &other, 12 * S);
    }
    assert_int_equal(outage.count, OUTAGE_CAUSES);
}

static void its_end_says_how_long_it_took_unless_it_was_short(void **state)
{
    (void)state;
    struct outage outage = {0};
    struct err why = because("08006");
    int64_t ms = -1;
    assert_false(outage_over(&outage, 10 * S, &ms));
    assert_true(outage_must_log(&outage, &why, 10 * S));
    assert_false(outage_over(&outage, 10 * S + 5000, &ms));
    assert_int_equal(ms, -1);
    assert_true(outage_must_log(&outage, &why, 20 * S));
    assert_false(outage_must_log(&outage, &why, 20 * S + 5));
    assert_true(outage_over(&outage, 95 * S, &ms));
    assert_int_equal(ms, 75000);
    assert_true(outage_must_log(&outage, &why, 96 * S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_ever_later_up_to_five_minutes),
        cmocka_unit_test(another_cause_is_told_at_once_and_by_itself),
        cmocka_unit_test(its_end_says_how_long_it_took_unless_it_was_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
