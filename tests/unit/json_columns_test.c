/* CSV files and queries of staged work: a column of JSON whose value is none is refused with the
 * form that the column needs, in the message and in the hint. */
#include "producer/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct column_value value_of(const char *text)
{
    return (struct column_value){text, strlen(text)};
}

static void expect_form(const char *name, const char *text, const char *form)
{
    struct columns columns;
    struct err err;
    STR_AUTO out = {0};
    const struct column_value names[] = {value_of("order"), value_of("type"), value_of(name)};
    const struct column_value row[] = {value_of("1"), value_of("sql"), value_of(text)};
    assert_int_equal(columns_header(names, 3, &columns, &err), RC_OK);
    assert_int_equal(columns_row(&columns, row, 3, &out, &err), RC_REJECT);
    assert_string_equal(err.object, name);
    if (strstr(err.message, form) == NULL || strstr(err.hint, form) == NULL)
        fail_msg("\"%s\" is not in both: %s / %s", form, err.message, err.hint);
}

static void a_column_of_json_is_refused_with_the_form_that_it_needs(void **state)
{
    (void)state;
    expect_form("params", "[1", "a JSON array");
    expect_form("retry_intervals", "1, 2", "a JSON array of numbers");
    expect_form("retry_on", "all", "a JSON array of text");
    expect_form("timeout", "1h", "a number of seconds");
    expect_form("steps", "load", "a JSON array of steps");
    expect_form("args", "a b", "a JSON array of text");
    expect_form("headers", "Accept: x", "a JSON object of text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_of_json_is_refused_with_the_form_that_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
