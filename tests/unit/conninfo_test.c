/* Connection strings as libpq reads them: their passwords are masked, and a setting is added behind
 * all that they say. */
#include "base/str.h"
#include "config/conninfo.h"
#include "config/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void passwords_are_masked(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"host=a password=secret dbname=d", "host=a password=*** dbname=d"},
        {"password = 'se\\'c ret' host=a", "password = *** host=a"},
        {"host=a sslpassword=secret", "host=a sslpassword=***"},
        {"postgresql://h/db?pass%77ord=secret&x=1", "postgresql://h/db?pass%77ord=***&x=1"},
        {"postgresql://h/db?%53SLpassword=secret", "postgresql://h/db?%53SLpassword=***"},
        {"postgresql://h/db?passw%6=1", "postgresql://h/db?passw%6=1"},
        {"host=a user=password", "host=a user=password"},
        {"postgresql://u:secret@h:1/d?x=y", "postgresql://u:***@h:1/d?x=y"},
        {"postgresql://u:se:cr@et@h/d", "postgresql://u:***@h/d"},
        {"postgresql://u@h:1/d?password=secret&x=y", "postgresql://u@h:1/d?password=***&x=y"},
        {"postgresql://u:se?cr&et@h/d?x=y", "postgresql://u:***@h/d?x=y"},
        {"postgresql://u:se/cr?et@h/d", "postgresql://u:***@h/d"},
        {"postgresql://h:1/d?x=y&password=se@cret&z=@", "postgresql://h:1/d?x=y&password=***&z=@"},
        {"postgresql://h:1?password=se@cret&x=y", "postgresql://h:***@***&x=y"},
        {"postgresql://h,g:1/d?x=y", "postgresql://h,g:1/d?x=y"},
        {"password=my\\ secret host=a", "password=*** host=a"},
        {"host='a'password=secret", "host='a'password=***"},
        {"host=a\vpassword\f=\nsecret", "host=a\vpassword\f=\n***"},
        {"host=a password=sec'ret\\\\ host=b", "host=a password=*** host=b"},
        {"host=a password='secret", "host=a password=***"},
        {"password=my secret host=a", "password=*** *** host=a"},
        {"password= secret=x user=", "password= *** user="},
        {"host=a password= ", "host=a password= "},
        {"dbname='password=x' nopassword=y", "dbname='password=x' nopassword=y"},
        {"host password=secret", "host password=***"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        STR_AUTO text = {0};
        config_mask_conninfo(cases[i][0], &text);
        assert_string_equal(text.data, cases[i][1]);
    }
}

static void a_setting_is_added_behind_all_values(void **state)
{
    (void)state;
    static const char *const added[][2] = {
        /* the parameters begin behind the credentials */
        {"postgresql://u:a?b@h/d", "postgresql://u:a?b@h/d?port=7"},
        {"postgresql://u:a?b@h/d?x=y", "postgresql://u:a?b@h/d?x=y&port=7"},
        {"postgresql://h/d?x=a@b", "postgresql://h/d?x=a@b&port=7"},
        /* an empty value at the end would take the next keyword for its value */
        {"host=h password=", "host=h password='' port='7'"},
        {"host=h password = ", "host=h password = '' port='7'"},
        {"host=h options=-ca=", "host=h options=-ca= port='7'"},
        {"host=h options='-c a='", "host=h options='-c a=' port='7'"},
        /* libpq leaves a backslash out that has nothing behind it */
        {"host=h password=a\\", "host=h password=a port='7'"},
        {"host=h password=\\", "host=h password='' port='7'"},
        {"host=h password=a\\\\", "host=h password=a\\\\ port='7'"},
        {"host=h password='a\\\\'", "host=h password='a\\\\' port='7'"}};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        STR_AUTO text = {0};
        str_text(&text, added[i][0]);
        config_conninfo_add(&text, "port", "7");
        assert_string_equal(text.data, added[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_masked),
        cmocka_unit_test(a_setting_is_added_behind_all_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
