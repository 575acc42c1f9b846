/* UUIDs: random ones differ, the implicit run's is found again. */
#include "task/message.h"
#include "task/uuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_new_uuid_is_of_version_4_in_lower_case(void **state)
{
    (void)state;
    char a[37], b[37];
    uuid_new(a);
    uuid_new(b);
    assert_true(uuid_valid(a));
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
    assert_string_not_equal(a, b);
}

static void the_implicit_run_depends_on_queue_and_offset_only(void **state)
{
    (void)state;
    char a[37], b[37];
    uuid_implicit_run(a, "orders", 42);
    uuid_implicit_run(b, "orders", 42);
    assert_string_equal(a, b);
    /* stored data depends on this value; made with another implementation of RFC 4122 */
    assert_string_equal(a, "fc95c931-870b-5d89-99c9-03995ae6cb29");
    assert_int_equal(a[14], '5');
    uuid_implicit_run(b, "orders", 43);
    assert_string_not_equal(a, b);
    uuid_implicit_run(b, "order", 42);
    assert_string_not_equal(a, b);
    uuid_implicit_run(a, "a/1", 2);
    uuid_implicit_run(b, "a", 12);
    assert_string_not_equal(a, b);
}

static void only_the_canonical_form_is_valid(void **state)
{
    (void)state;
    assert_true(uuid_valid("7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51d7"));
    assert_true(uuid_valid("7BB6DE0E-03A3-4D6C-9B48-6A3F0F2C51D7"));
    static const char *const bad[] = {"",
                                      "7bb6de0e",
                                      "7bb6de0e03a34d6c9b486a3f0f2c51d7",
                                      "{7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51d7}",
                                      "7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51d",
                                      "7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51d7 ",
                                      "7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51dg",
                                      "7bb6de0e-03a3-4d6c-9b486-a3f0f2c51d7",
                                      "7bb6de0e-03a3-4d6c-9b48--a3f0f2c51d7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(uuid_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_uuid_is_of_version_4_in_lower_case),
        cmocka_unit_test(the_implicit_run_depends_on_queue_and_offset_only),
        cmocka_unit_test(only_the_canonical_form_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
