/* The configuration of the work of tasks outside the database, and its limits. */
#include "action/action.h"
#include "action/running.h"
#include "action/secrets.h"
#include "action/settings.h"
#include "action/text.h"
#include "base/utf8.h"
#include "config/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/lockstep_action_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static enum rc load(const char *text, struct config **ret_config,
                    struct action_settings **ret_settings, struct err *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct config_request request = {.path = path};
    enum rc rc = config_load(&request, ret_config, err);
    if (rc != RC_OK)
        return rc;
    rc = action_settings_load(*ret_config, NULL, NULL, ret_settings, err);
    if (rc != RC_OK)
        config_free(*ret_config);
    return rc;
}

static void assert_refused(const char *text, int line, const char *message)
{
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    struct err err = {0};
    char object[100];
    (void)snprintf(object, sizeof object, "%s:%d", path, line);
    assert_int_equal(load(text, &config, &settings, &err), RC_FATAL);
    assert_string_equal(err.object, object);
    if (strstr(err.message, message) == NULL)
        fail_msg("\"%s\"", err.message);
}

static void a_command_is_split_into_words_without_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {{"/bin/x", "</bin/x>"},
                 {"  /bin/x\ta  b ", "</bin/x><a><b>"},
                 {"/bin/x \"a b\" 'c \"d' e\\ f", "</bin/x><a b><c \"d><e f>"},
                 {"/bin/x a\"b\"'c'd \"\" ''", "</bin/x><abcd><><>"},
                 {"/bin/x \"a\\\"b\\\\\" 'a\\b' $HOME *", "</bin/x><a\"b\\><a\\b><$HOME><*>"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char **words = NULL;
        int count = 0;
        STR_AUTO shown = {0};
        assert_true(config_words(cases[i].text, &words, &count));
        for (int k = 0; k < count; k++)
            str_format(&shown, "<%s>", words[k]);
        assert_string_equal(shown.data, cases[i].words);
        config_words_free(words);
    }
    char **words = NULL;
    int count = 0;
    assert_false(config_words("/bin/x 'a", &words, &count));
    assert_false(config_words("/bin/x \"a", &words, &count));
    assert_false(config_words("/bin/x a\\", &words, &count));
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    assert_refused("[commands]\na = x\n", 2, "no program");
    assert_refused("[commands]\na = /bin/x 'y\n", 2, "no program");
    assert_refused("[commands]\na = \"\"\n", 2, "no program");
    assert_refused("[commands]\na = /bin/x\n[command:a]\ndirectry = /\n", 4, "unknown key");
    assert_refused("[commands]\na = /bin/x\n[command:b]\nuser = x\n", 4,
                   "[command:b] is about a command that [commands] does not name");
    assert_refused("[commands]\na = /bin/x\n[command:a]\ndirectory = x\n", 2, "no absolute path");
    assert_refused("[commands]\na = /bin/x\n[command:a]\ncpu_limit = 1ms\n", 4, "cpu_limit");
    assert_refused("[commands]\na = /bin/x\n[command:a]\noutput_limit = 1GB\n", 4, "output_limit");
    assert_refused("[commands]\na = /bin/x\n[command:a]\nmemory_limit = 1B\n", 4, "memory_limit");
    static const char *const bad_hosts[] = {"http://h", "h/",   "h:0",   "h:65536", "h:x", "u@h",
                                            "a.*.b",    "*x.y", "h:80:", "[::1",    "h?x", "a%41",
                                            "::1",      ":80",  "*.",    "h#"};
    for (size_t i = 0; i < sizeof bad_hosts / sizeof *bad_hosts; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "[http]\nallow = good.example, %s\n", bad_hosts[i]);
        assert_refused(text, 2, bad_hosts[i]);
    }
}

static void a_proxy_is_checked_and_its_password_not_shown(void **state)
{
    (void)state;
    static const char *const wrong[] = {"http://u:pa/ss@proxy:3128", "http://u:pa#ss@proxy",
                                        "ftp://u:pass@proxy", "http://u:pass@pro xy",
                                        "http://u:pass@"};
    static const char *const right[] = {"",
                                        "proxy",
                                        "proxy:3128",
                                        "http://u:p%2Fss@proxy:3128",
                                        "HTTPS://proxy",
                                        "socks5h://u:pass@[::1]:1080"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "[http]\nproxy = %s\n", wrong[i]);
        assert_refused(text, 2, "[http] proxy is no URL of a proxy; it is not shown");
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct config *config = NULL;
        struct action_settings *settings = NULL;
        struct err err = {0};
        char text[200];
        (void)snprintf(text, sizeof text, "[http]\nproxy = %s\n", right[i]);
        assert_int_equal(load(text, &config, &settings, &err), RC_OK);
        action_settings_free(settings);
        config_free(config);
    }
}

static void settings_are_what_the_file_says(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    struct err err = {0};
    assert_int_equal(
        load("[commands]\na = /bin/x y\nb.c = /bin/z\n[command:b.c]\nuser = u\ncpu_limit = "
             "1500ms\nmemory_limit = 1MB\nkill_after = 1min\n",
             &config, &settings, &err),
        RC_OK);
    const struct action_command *a = action_command_find(settings, "a"),
                                *b = action_command_find(settings, "b.c");
    assert_null(action_command_find(settings, "A"));
    assert_null(action_command_at(settings, 2));
    assert_int_equal(a->argc, 2);
    assert_string_equal(a->user, "");
    assert_string_equal(a->directory, "/");
    assert_int_equal(a->cpu_s, -1);
    assert_int_equal(a->memory, -1);
    assert_int_equal(a->open_files, 1024);
    assert_int_equal(a->output_limit, 65536);
    assert_int_equal(a->kill_after_ms, 5000);
    assert_string_equal(b->user, "u");
    assert_int_equal(b->cpu_s, 2);
    assert_int_equal(b->memory, 1 << 20);
    assert_int_equal(b->kill_after_ms, 60000);
    action_settings_free(settings);
    config_free(config);
}

/* By default nothing may be called. */
static void only_allowed_hosts_are_called(void **state)
{
    (void)state;
    static const struct {
        const char *allow, *url;
        enum url_verdict verdict;
        const char *target;
    } cases[] = {
        {"", "http://h/", URL_NOT_ALLOWED, "h:80"},
        {"h", "http://h/", URL_ALLOWED, "h:80"},
        {"h", "https://H./x?y#z", URL_ALLOWED, "h:443"},
        {"H.", "https://h", URL_ALLOWED, "h:443"},
        {"h", "http://h:8080/", URL_NOT_ALLOWED, "h:8080"},
        {"h", "http://h:443/", URL_NOT_ALLOWED, "h:443"},
        {"h:8080", "http://h:8080/", URL_ALLOWED, "h:8080"},
        {"h:8080", "http://h/", URL_NOT_ALLOWED, "h:80"},
        {"h:443", "https://h/", URL_ALLOWED, "h:443"},
        {"h:*", "https://h:9/", URL_ALLOWED, "h:9"},
        {"h", "http://xh/", URL_NOT_ALLOWED, "xh:80"},
        {"h", "http://h.evil/", URL_NOT_ALLOWED, "h.evil:80"},
        {"*.example.com", "http://a.b.example.com/", URL_ALLOWED, "a.b.example.com:80"},
        {"*.example.com", "http://example.com/", URL_NOT_ALLOWED, "example.com:80"},
        {"*.example.com", "http://badexample.com/", URL_NOT_ALLOWED, "badexample.com:80"},
        {"*.example.com", "http://example.com.evil/", URL_NOT_ALLOWED, "example.com.evil:80"},
        {"a, b c", "http://c/", URL_ALLOWED, "c:80"},
        {"*", "http://anything/", URL_ALLOWED, "anything:80"},
        {"*:*", "http://anything:1/", URL_ALLOWED, "anything:1"},
        {"127.0.0.1", "http://127.1/", URL_ALLOWED, "127.0.0.1:80"},
        {"127.0.0.1", "http://2130706433/", URL_ALLOWED, "127.0.0.1:80"},
        {"h", "http://0x7f000001/", URL_NOT_ALLOWED, "127.0.0.1:80"},
        {"[::1]", "http://[0:0:0:0:0:0:0:1]/", URL_ALLOWED, "[::1]:80"},
        {"[::1]:8080", "http://[::1]:8080/", URL_ALLOWED, "[::1]:8080"},
        {"[::1]", "http://[::2]/", URL_NOT_ALLOWED, "[::2]:80"},
        {"h", "http://h@evil/", URL_BAD, ""},
        {"h", "http://h:80@evil/", URL_BAD, ""},
        {"h", "http://evil/@h/", URL_NOT_ALLOWED, "evil:80"},
        {"h", "http://evil?@h/", URL_NOT_ALLOWED, "evil:80"},
        {"h", "http://evil#@h/", URL_NOT_ALLOWED, "evil:80"},
        {"h", "http://evil\\@h/", URL_BAD, ""},
        {"h", "http://h:99999/", URL_BAD, ""},
        {"h", "http://", URL_BAD, ""},
        {"h", "ftp://h/", URL_BAD, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], target[ACTION_NEED_SIZE];
        struct config *config = NULL;
        struct action_settings *settings = NULL;
        struct err err = {0};
        (void)snprintf(text, sizeof text, "[http]\nallow = %s\n", cases[i].allow);
        assert_int_equal(load(text, &config, &settings, &err), RC_OK);
        enum url_verdict verdict = allow_judge(settings->http.allowed, settings->http.allowed_count,
                                               cases[i].url, target, sizeof target, &err);
        if (verdict != cases[i].verdict || strcmp(target, cases[i].target) != 0)
            fail_msg("allow = %s: %s: %d, %s", cases[i].allow, cases[i].url, (int)verdict, target);
        action_settings_free(settings);
        config_free(config);
    }
}

static void what_an_executor_cannot_do_it_says(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    struct err err = {0};
    char need[ACTION_NEED_SIZE], a[] = "a", b[] = "b", good[] = "http://h/", other[] = "https://x/",
                                 bad[] = "http://", name[1001] = "";
    bool has = false;
    assert_int_equal(load("[commands]\na = /bin/x\n[http]\nallow = h\n", &config, &settings, &err),
                     RC_OK);
    struct message msg = {.type = MESSAGE_COMMAND, .action = {.command = a}};
    assert_true(action_able(settings, &msg));
    msg.action.command = b;
    assert_false(action_able(settings, &msg));
    assert_true(action_need(settings, &msg, 0, need, &has));
    assert_string_equal(need, "command:b");
    assert_false(has);
    assert_false(action_need(settings, &msg, 1, need, &has));
    for (int i = 0; i < 500; i++) /* what is kept of a long name is text that can be stored */
        memcpy(name + 2 * i, "\xc3\xa9", 2);
    msg.action.command = name;
    assert_true(action_need(settings, &msg, 0, need, &has));
    assert_int_equal(utf8_prefix(need, strlen(need)), strlen(need));
    assert_true(strlen(need) > 250);
    msg = (struct message){.type = MESSAGE_HTTP, .action = {.url = good}};
    assert_true(action_able(settings, &msg));
    msg.action.url = other;
    assert_false(action_able(settings, &msg));
    assert_true(action_need(settings, &msg, 0, need, &has));
    assert_string_equal(need, "http:x:443");
    msg.action.url = bad; /* no executor can do it: it fails */
    assert_true(action_able(settings, &msg));
    msg.type = MESSAGE_SQL;
    assert_true(action_able(settings, &msg));
    struct message_step steps[] = {{.type = MESSAGE_SQL},
                                   {.type = MESSAGE_COMMAND, .action = {.command = a}},
                                   {.type = MESSAGE_HTTP, .action = {.url = other}}};
    msg = (struct message){.type = MESSAGE_SQL, .steps = steps, .step_count = 2};
    assert_true(action_able(settings, &msg));
    msg.step_count = 3;
    assert_false(action_able(settings, &msg));
    static const char *const needs[] = {"", "command:a", "http:x:443"};
    for (int i = 0; i < 3; i++) {
        assert_true(action_need(settings, &msg, i, need, &has));
        assert_string_equal(need, needs[i]);
        assert_int_equal(has, i < 2);
    }
    assert_false(action_need(settings, &msg, 3, need, &has));
    action_settings_free(settings);
    config_free(config);
}

static void bytes_become_text_that_can_be_stored(void **state)
{
    (void)state;
    struct str out = {0};
    action_text(&out, "a\xff\0b\xc3\xa9", 6, 6);
    assert_string_equal(out.data, "a\xef\xbf\xbd\xef\xbf\xbd"
                                  "b\xc3\xa9");
    str_clear(&out);
    action_text(&out, "", 0, 0);
    assert_string_equal(out.data, "");
    str_clear(&out);
    action_text(&out, "ab\xc3", 3, 10); /* a character that the limit has cut in two */
    assert_string_equal(out.data, "ab\n[cut: 3 of 10 bytes]");
    str_clear(&out);
    action_text(&out, "ab\xf0\x9f\x98\x80", 6, ACTION_MORE);
    assert_string_equal(out.data, "ab\xf0\x9f\x98\x80\n[cut after 6 bytes]");
    str_clear(&out);
    action_text_tail(&out, "\xa9 end", 5, 10);
    assert_string_equal(out.data, "[the last 5 of 10 bytes]\n end");
    str_clear(&out);
    action_text_tail(&out, "\xa9 end", 5, 5);
    assert_string_equal(out.data, "\xef\xbf\xbd end");
    str_done(&out);
}

static void a_secret_is_hidden_wherever_it_stands(void **state)
{
    (void)state;
    struct secret items[] = {{"a", "Bearer topsecret"},
                             {"b", "short"},
                             {"c", "aaaaaaaa"},
                             {"d", "warehouse"},
                             {"e", "postgresql://me:S3cr3tPw@db/warehouse"},
                             {"f", "house of cards"},
                             {"g", "********"}};
    struct secrets secrets = {items, 7};
    static const struct {
        const char *text, *hidden;
    } cases[] = {{"", ""},
                 {"nothing", "nothing"},
                 {"x topsecret y topsecret", "x ********* y *********"},
                 {"Bearer topsecret", "****************"},
                 {"topsecre", "********"}, /* cut off at the end */
                 {"x topsec", "x ******"},
                 {"x topse", "x topse"},
                 {"psecret x", "******* x"}, /* cut off at the begin */
                 {"short", "short"},
                 {"aaaaaaaaaaaaaaaaaaa", "*******************"}, /* overlaps itself */
                 {"at postgresql://me:S3cr3tPw@db/warehouse.",   /* one value in another */
                  "at *************************************."},
                 {"a warehouse of cards", "a ******************"}, /* two overlap */
                 {"it is ********", "it is ********"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = strdup(cases[i].text);
        assert_non_null(text);
        secrets_hide(&secrets, text, strlen(text));
        assert_string_equal(text, cases[i].hidden);
        free(text);
    }
    secrets_hide(NULL, NULL, 0);
}

static void headers_go_to_their_host_alone(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    struct err err;
    assert_int_equal(
        load("[http:Api.example]\nheader.A = one\n[http:api.example:8443]\nheader.A = two\n",
             &config, &settings, &err),
        RC_OK);
    static const struct {
        const char *target;
        bool encrypted;
        const char *value;
    } cases[] = {{"api.example:443", true, "one"},  {"api.example:80", false, "one"},
                 {"api.example:8443", true, "two"}, {"api.example:444", true, NULL},
                 {"x.api.example:443", true, NULL}, {"api.example.org:443", true, NULL},
                 {"pi.example:443", true, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct secret_host *host =
            secrets_of(&settings->http, cases[i].target, cases[i].encrypted);
        if (cases[i].value == NULL)
            assert_null(host);
        else
            assert_string_equal(host->headers.items[0].value, cases[i].value);
    }
    action_settings_free(settings);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_split_into_words_without_a_shell),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(a_proxy_is_checked_and_its_password_not_shown),
        cmocka_unit_test(settings_are_what_the_file_says),
        cmocka_unit_test(only_allowed_hosts_are_called),
        cmocka_unit_test(what_an_executor_cannot_do_it_says),
        cmocka_unit_test(headers_go_to_their_host_alone),
        cmocka_unit_test(a_secret_is_hidden_wherever_it_stands),
        cmocka_unit_test(bytes_become_text_that_can_be_stored),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
