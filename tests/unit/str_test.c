/* Growing strings, and integers as text. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void integers_are_written_as_they_are_read(void **state)
{
    (void)state;
    static const int64_t values[] = {0,         9,        10, -1, -1000, 4294967296, INT64_MAX - 1,
                                     INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        STR_AUTO text = {0}, expected = {0};
        int64_t read = 0;
        str_int(&text, values[i]);
        str_format(&expected, "%lld", (long long)values[i]);
        assert_string_equal(text.data, expected.data);
        assert_true(int64_parse(text.data, text.len, &read));
        assert_true(read == values[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_written_as_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
