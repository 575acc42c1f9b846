/* Numbers of events whose transactions have not committed: numbers that are kept, filled, given up
 * and dropped. */
#include "console/holes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *text_of(const struct holes *holes, struct str *text)
{
    str_clear(text);
    for (int i = 0; i < holes->count; i++)
        str_format(text, "%lld-%lld ", (long long)holes->items[i].first,
                   (long long)holes->items[i].last);
    return text->data != NULL ? text->data : "";
}

static void an_event_that_comes_late_fills_its_place(void **state)
{
    struct holes holes = {0};
    STR_AUTO text = {0};
    (void)state;
    holes_add(&holes, 5, 9);
    holes_add(&holes, 11, 11);
    holes_add(&holes, 13, 12); /* none */
    assert_string_equal(text_of(&holes, &text), "5-9 11-11 ");
    assert_int_equal(holes_safe(&holes, 20), 4);
    assert_true(holes_fill(&holes, 7));
    assert_string_equal(text_of(&holes, &text), "5-6 8-9 11-11 ");
    assert_true(holes_fill(&holes, 5));
    assert_true(holes_fill(&holes, 9));
    assert_true(holes_fill(&holes, 11));
    assert_string_equal(text_of(&holes, &text), "6-6 8-8 ");
    assert_false(holes_fill(&holes, 7));
    assert_false(holes_fill(&holes, 12));
    assert_int_equal(holes_safe(&holes, 20), 5);
    assert_int_equal(holes_safe(&holes, 3), 3);
}

static void a_hole_is_dropped_when_its_transactions_are_over(void **state)
{
    struct holes holes = {0};
    (void)state;
    holes_add(&holes, 5, 9);
    assert_false(holes_settle(&holes, 1000)); /* no later look has seen it */
    assert_int_equal(holes.count, 1);
    holes_arm(&holes, 1010);
    assert_false(holes_settle(&holes, 1009));
    assert_int_equal(holes.count, 1);
    assert_false(holes_settle(&holes, 1010));
    assert_int_equal(holes.count, 0);
}

static void what_was_given_up_is_told_when_it_is_over(void **state)
{
    struct holes holes = {0};
    (void)state;
    for (int i = 0; i < HOLES_MOST + 3; i++)
        holes_add(&holes, 10 * i + 1, 10 * i + 5);
    assert_int_equal(holes.count, HOLES_MOST);
    assert_int_equal(holes_safe(&holes, 100000), 0);
    assert_true(
        holes_fill(&holes, 10 * (HOLES_MOST + 2) + 3)); /* which splits, and so gives up one more */
    assert_int_equal(holes.count, HOLES_MOST);
    holes_arm(&holes, 50);
    assert_false(holes_settle(&holes, 49));
    assert_true(holes_settle(&holes, 50));
    assert_false(holes_settle(&holes, 51));
    assert_int_equal(holes_safe(&holes, 100000), 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_that_comes_late_fills_its_place),
        cmocka_unit_test(a_hole_is_dropped_when_its_transactions_are_over),
        cmocka_unit_test(what_was_given_up_is_told_when_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
