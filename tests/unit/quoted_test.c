/* A name between double quotes is read by PostgreSQL as that name. */
#include "base/quoted.h"
#include "base/remedies_rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void each_double_quote_is_doubled(void **state)
{
    (void)state;
    assert_string_equal(QUOTED("etl"), "\"etl\"");
    assert_string_equal(QUOTED("we\"ird"), "\"we\"\"ird\"");
    assert_string_equal(QUOTED("\""), "\"\"\"\"");
    assert_string_equal(QUOTED(""), "\"\"");
    assert_string_equal(QUOTED("O'Hara; \\"), "\"O'Hara; \\\"");
}

static void a_name_is_cut_where_postgresql_cuts_it(void **state)
{
    (void)state;
    char name[80], wanted[QUOTED_SIZE];
    memset(name, '"', sizeof name);
    name[sizeof name - 1] = '\0';
    memset(wanted, '"', sizeof wanted);
    wanted[sizeof wanted - 1] = '\0';
    assert_string_equal(QUOTED(name), wanted);
    memset(name, 'x', sizeof name - 1);
    memcpy(name + QUOTED_NAME - 1, "\xd0\xbb", 2); /* its second byte is one too many */
    assert_int_equal(strlen(QUOTED(name)), QUOTED_NAME - 1 + 2);
    assert_int_equal(QUOTED(name)[QUOTED_NAME], '"');
}

static void a_remedy_has_its_names_quoted(void **state)
{
    (void)state;
    char text[200];
    (void)snprintf(text, sizeof text, REMEDY_GRANT_CONNECT("a\"b", "c\"d"));
    assert_string_equal(text, "GRANT CONNECT ON DATABASE \"a\"\"b\" TO \"c\"\"d\";");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_double_quote_is_doubled),
        cmocka_unit_test(a_name_is_cut_where_postgresql_cuts_it),
        cmocka_unit_test(a_remedy_has_its_names_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
