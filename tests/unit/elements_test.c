/* Arrays of a result, element by element. */
#include "db/elements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void elements_are_counted_and_read_in_order(void **state)
{
    (void)state;
    char text[8];
    assert_int_equal(elements_count("{12,NULL,3}"), 3);
    const char *at = elements_next("{12,NULL,3}", text, sizeof text);
    assert_string_equal(text, "12");
    at = elements_next(at, text, sizeof text);
    assert_string_equal(text, "");
    at = elements_next(at, text, sizeof text);
    assert_string_equal(text, "3");
    assert_string_equal(at, "}");
}

static void an_empty_array_and_no_array_have_no_element(void **state)
{
    (void)state;
    assert_int_equal(elements_count("{}"), 0);
    assert_int_equal(elements_count(""), 0);
}

static void what_is_too_long_for_its_place_is_cut(void **state)
{
    (void)state;
    char text[4];
    const char *at = elements_next("{123456,7}", text, sizeof text);
    assert_string_equal(text, "123");
    (void)elements_next(at, text, sizeof text);
    assert_string_equal(text, "7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_counted_and_read_in_order),
        cmocka_unit_test(an_empty_array_and_no_array_have_no_element),
        cmocka_unit_test(what_is_too_long_for_its_place_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
