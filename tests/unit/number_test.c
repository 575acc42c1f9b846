/* Whole numbers as people type them: taken, or refused with object, range and value. */
#include "base/number.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void a_number_is_taken_or_refused_with_range_and_value(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct number_range range;
        const char *message; /* NULL: taken */
        int64_t number;
    } cases[] = {
        {"0", {0, 1000}, NULL, 0},
        {"1000", {0, 1000}, NULL, 1000},
        {"-9223372036854775808", {INT64_MIN, INT64_MAX}, NULL, INT64_MIN},
        {"9223372036854775807", {0, INT64_MAX}, NULL, INT64_MAX},
        {"-1", {0, 1000}, "max_readers must be 0 to 1000, not -1", 0},
        {"10000", {0, 1000}, "max_readers must be 0 to 1000, not 10000", 0},
        {"2147483648", {0, 1000}, "max_readers must be 0 to 1000, not 2147483648", 0},
        {"4294967301", {1, 1000}, "max_readers must be 1 to 1000, not 4294967301", 0},
        {"99999999999", {1, 1000}, "max_readers must be 1 to 1000, not 99999999999", 0},
        {"9223372036854775808",
         {0, INT64_MAX},
         "max_readers must be 0 or more, not 9223372036854775808",
         0},
        {"", {0, 9}, "max_readers must be 0 to 9, not \"\"", 0},
        {"-", {0, 9}, "max_readers must be 0 to 9, not \"-\"", 0},
        {"-0", {0, 9}, "max_readers must be 0 to 9, not -0", 0},
        {"5 ", {0, 9}, "max_readers must be 0 to 9, not \"5 \"", 0},
        {"+5", {0, 9}, "max_readers must be 0 to 9, not \"+5\"", 0},
        {"0x5", {0, 9}, "max_readers must be 0 to 9, not \"0x5\"", 0},
        {"five", {0, 9}, "max_readers must be 0 to 9, not \"five\"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        int64_t number = 77;
        enum rc rc = number_parse("queue \"sales\"", "max_readers", cases[i].text, cases[i].range,
                                  &number, &err);
        assert_int_equal(rc, cases[i].message == NULL ? RC_OK : RC_REJECT);
        assert_true(number == (cases[i].message == NULL ? cases[i].number : 77));
        if (cases[i].message == NULL)
            continue;
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.object, "queue \"sales\"");
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_taken_or_refused_with_range_and_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
