/* The configuration: valid files, precedence, and that every error is reported with its place. */
#include "base/nearest.h"
#include "config/config.h"
#include "config/conninfo.h"
#include "config/key.h"
#include "config/mask.h"
#include "config/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/lockstep_config_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static enum rc load(const char *text, struct config **ret_config, struct err *err)
{
    write_file(text);
    struct config_request request = {.path = path};
    return config_load(&request, ret_config, err);
}

/* Loading text fails with "PATH:LINE", and message and hint that hold these words. */
static void assert_refused(const char *text, int line, const char *message, const char *hint)
{
    struct config *config = NULL;
    struct err err = {0};
    char object[100];
    (void)snprintf(object, sizeof object, "%s:%d", path, line);
    assert_int_equal(load(text, &config, &err), RC_FATAL);
    assert_null(config);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_string_equal(err.object, object);
    if (strstr(err.message, message) == NULL || strstr(err.hint, hint) == NULL)
        fail_msg("\"%s\" with hint \"%s\"", err.message, err.hint);
}

static struct config *loaded(const char *text)
{
    struct config *config = NULL;
    struct err err = {0};
    if (load(text, &config, &err) != RC_OK)
        fail_msg("%s: %s", err.object, err.message);
    return config;
}

static void an_unknown_key_is_refused_with_its_line_and_the_nearest_name(void **state)
{
    (void)state;
    assert_refused("[executor]\n\n; a comment\nreadres = 3\n", 4,
                   "unknown key \"readres\" in section [executor]", "\"readers\"");
}

static void an_unknown_section_is_refused_with_its_line_and_the_nearest_name(void **state)
{
    (void)state;
    assert_refused("[executer]\nreaders = 3\n", 2, "unknown section [executer]", "\"executor\"");
    assert_refused("[queue:]\nmax_readers = 3\n", 2, "unknown section [queue:]", "");
    assert_refused("[console]\nport = 3\n", 2, "unknown key \"port\" in section [console]", "");
}

static void a_long_section_is_read_whole(void **state) /* inih keeps 49 bytes of it */
{
    (void)state;
#define LONG "queue:warehouse-nightly-load-for-region-europe-north-"
    struct config *config = loaded("[" LONG "1] ; one\ntopic = a\n[" LONG "2]\ntopic = b\n");
    assert_string_equal(config_get_text(config, LONG "1", "topic"), "a");
    assert_string_equal(config_get_text(config, LONG "2", "topic"), "b");
    config_free(config);
}

static void a_value_of_the_wrong_type_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("[executor]\nreaders = many\n", 2, "readers must be 1 to 1000, not \"many\"",
                   "");
    assert_refused("[executor]\nreaders = 5 \nheartbeat = 5 parsecs\n", 3, "heartbeat", "unit");
    assert_refused("[executor]\nheartbeat = -1s\n", 2, "heartbeat", "unit");
    assert_refused("[log]\nlevel = loud\n", 2, "level", "debug|info|warn|error|off");
    assert_refused("[queue:a]\nkeep_runs = 0\n", 2, "keep_runs must be 1 to 1000000, not 0", "");
    assert_refused("[queue:a]\nkeep_days = 36501\n", 2, "must be 1 to 36500", "");
    assert_refused("[queue:a]\nkeep_failed_days = none\n", 2, "keep_failed_days", "");
    assert_refused("[queue:a]\non_failure = stop|continue\n", 2, "on_failure",
                   "stop|continue|pause");
    assert_refused("[commands]\nload = load.sh\n", 2, "load", "absolute path");
}

static void a_heartbeat_longer_than_a_quarter_of_frozen_after_is_refused(void **state)
{
    (void)state;
    assert_refused("[executor]\nheartbeat = 2501ms\nfrozen_after = 10s\n", 2,
                   "heartbeat must be at most a quarter of frozen_after (10s), not 2501ms",
                   "Set heartbeat to at most 2500ms, or frozen_after (");
    assert_refused("[executor]\nfrozen_after = 3s\nheartbeat = 1s\n", 3, "frozen_after (3s)",
                   ":2)");
    config_free(loaded("[executor]\nfrozen_after = 4s\nheartbeat = 1s\n"));
    config_free(loaded("[executor]\nfrozen_after = 2s\n")); /* the heartbeat follows, */
    config_free(loaded("[executor]\nheartbeat = 3s\n")); /* also where it is the one that is set */
}

static void a_number_out_of_range_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("[executor]\nreaders = 1001\n", 2, "readers must be 1 to 1000, not 1001", "");
    assert_refused("[executor]\nreaders = 0\n", 2, "readers must be 1 to 1000, not 0", "");
    assert_refused("[executor]\nreaders = 99999999999999999999999999\n", 2,
                   "readers must be 1 to 1000, not 99999999999999999999999999", "");
    assert_refused("[executor]\ndrain_timeout = 9223372036854775807d\n", 2, "drain_timeout", "");
}

static void a_duplicate_key_is_refused_and_names_the_first_place(void **state)
{
    (void)state;
    char first[100];
    (void)snprintf(first, sizeof first, "%s:2", path);
    assert_refused("[executor]\nreaders = 3\n[log]\nlevel = info\n[executor]\nreaders = 3\n", 6,
                   first, "Keep one");
    assert_refused("[executor]\nreaders = 3\n  readers = 4\n", 3, "set before", "");
}

static void a_cluster_has_a_name_and_a_database(void **state)
{
    (void)state;
    config_free(loaded("[cluster:a]\nconninfo = host=x\n[cluster:b_2-C]\nconninfo = host=y\n"));
    assert_refused("[cluster:a/b]\nconninfo = host=x\n", 2,
                   "[cluster:a/b] must be 1 to 40 letters, digits, _ and -", "[cluster:warehouse]");
    assert_refused("[cluster:a2345678901234567890123456789012345678901]\nconninfo = host=x\n", 2,
                   "must be 1 to 40 letters", "");
    assert_refused("[cluster:]\nconninfo = host=x\n", 2, "unknown section [cluster:]", "");
    assert_refused("[cluster:a]\n[cluster:b]\nconninfo = host=x\n", 1,
                   "[cluster:a] has no conninfo", "As in conninfo = ");
    assert_refused("[log]\nlevel = info\n[cluster:z]\n", 3, "[cluster:z] has no conninfo", "");
    assert_refused("[cluster:a]\nconninfo =\n", 2, "[cluster:a] has no conninfo", "");
    assert_refused("[cluster:a]\nconinfo = host=x\n", 2, "unknown key \"coninfo\"", "\"conninfo\"");
    assert_refused("[cluster:a]\nconninfo = host=x\n[cluster:a]\nconninfo = host=y\n", 4,
                   "was set before", "Keep one");
}

static void a_line_that_is_nothing_is_refused_with_its_number(void **state)
{
    (void)state;
    assert_refused("[executor]\nreaders = 3\nfrobnicate\n", 3, "neither", "");
    assert_refused("[executor\nreaders = 3\n", 1, "neither", "");
    assert_refused("readers = 3\n", 1, "before the first section", "");
}

static void a_line_longer_than_the_limit_is_refused_with_its_number(void **state)
{
    (void)state;
    static char text[80000];
    (void)snprintf(text, sizeof text, "[kafka]\nclient.id = ");
    memset(text + strlen(text), 'x', 70000);
    (void)strcat(text, "\n");
    assert_refused(text, 2, "longer than", "");
}

static void a_nul_byte_is_refused_with_the_number_of_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        int line;
    } files[] = {
        {"[executor]\nreaders = 3\0 0\n", 27, 2},
        {"[executor]\n; a comment\n\0\nreaders = 3\n", 38, 3},
        {"[postgres]\npassword = a\0b", 26, 2},
        {"\xff\xfe[\0l\0o\0g\0]\0\n\0", 14, 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct config *config = NULL;
        struct err err = {0};
        char object[100];
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(files[i].bytes, 1, files[i].len, file), files[i].len);
        assert_int_equal(fclose(file), 0);
        (void)snprintf(object, sizeof object, "%s:%d", path, files[i].line);
        struct config_request request = {.path = path};
        assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
        assert_string_equal(err.object, object);
        assert_string_equal(err.message, "the line holds a NUL byte");
    }
}

static void a_device_without_a_line_end_is_refused(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct err err = {0};
    struct config_request request = {.path = "/dev/zero"};
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
    assert_string_equal(err.object, "/dev/zero:1");
}

static void count_error(void *context, const struct err *err)
{
    (void)err;
    ++*(int *)context;
}

static void every_error_is_reported_and_the_first_is_returned(void **state)
{
    (void)state;
    int count = 0;
    struct config *config = NULL;
    struct err err = {0};
    write_file("[executor]\nreaders = x\nheartbeat = y\n[log]\nlevle = info\n");
    struct config_request request = {.path = path, .report = count_error, .context = &count};
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
    assert_int_equal(count, 3);
    assert_non_null(strstr(err.message, "readers"));
}

static void a_file_with_a_password_that_others_can_read_is_refused(void **state)
{
    (void)state;
    const char *const with_password[] = {
        "[postgres]\nhost = a\npassword = b\n",
        "[postgres]\n\nconninfo = host=a password=b\n",
        "[postgres]\n\ntask_conninfo = postgresql://u:b@a/d\n",
        "[kafka]\nclient.id = a\nsasl.password = b\n",
        "[postgres]\n\nconninfo = postgresql://u:b?c@a/d\n",
        "[postgres]\n\nconninfo = host='a'password=b\n",
    };
    const size_t count = sizeof with_password / sizeof *with_password;
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(chown(path, 65534, 0), 0);
    assert_int_equal(chmod(path, 0640), 0);
    for (size_t i = 0; i < count; i++)
        assert_refused(with_password[i], 3, "0640", "chmod 600");
    assert_int_equal(chmod(path, 0604), 0);
    assert_refused(with_password[0], 3, "0604", "chmod 600");
    if (root)
        assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chmod(path, 0600), 0);
    for (size_t i = 0; i < count; i++)
        config_free(loaded(with_password[i]));
    assert_int_equal(chmod(path, 0644), 0);
    config_free(loaded("[postgres]\nconninfo = host=a user=b\n"));
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_file_of_root_with_a_password_may_be_read_by_its_group(void **state)
{
    (void)state;
    const char *text = "[postgres]\npassword = b\n";
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(path, 0640), 0);
    config_free(loaded(text));
    assert_int_equal(chmod(path, 0660), 0);
    assert_refused(text, 2, "0660", "chmod 640");
    assert_int_equal(chmod(path, 0644), 0);
    assert_refused(text, 2, "0644", "chmod 640");
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_named_file_that_is_missing_is_refused(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct err err = {0};
    struct config_request request = {.path = "/nonexistent/lockstep.conf"};
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
    assert_string_equal(err.object, "/nonexistent/lockstep.conf");
    request.path = "/tmp";
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
}

static void values_have_units_as_in_postgresql_conf(void **state)
{
    (void)state;
    int64_t value;
    struct config *config = loaded("[executor]\ndrain_timeout = 2 min\nheartbeat = 200ms\n");
    assert_int_equal(config_get_duration_ms(config, "executor", "drain_timeout"), 120000);
    assert_int_equal(config_get_duration_ms(config, "executor", "heartbeat"), 200);
    config_free(config);
    config = loaded("[executor]\ndrain_timeout = 45\nheartbeat = 300\n");
    assert_int_equal(config_get_duration_ms(config, "executor", "drain_timeout"), 45000);
    assert_int_equal(config_get_duration_ms(config, "executor", "heartbeat"), 300);
    config_free(config);
    assert_true(config_parse_size("64MB", &value) && value == 64 * 1024 * 1024);
    assert_true(config_parse_size("7", &value) && value == 7);
    assert_false(config_parse_size("64mb", &value));
    assert_false(config_parse_size("9999999999TB", &value));
    assert_true(config_parse_duration("5m", "s", &value) && value == 300000);
    assert_true(config_parse_duration("1h30m", "s", &value) && value == 5400000);
    assert_true(config_parse_duration("1d2h", "s", &value) && value == 26 * 3600000);
    static const char *const bad[] = {"",   "1h30", "30 1h", "h",  "1hm",
                                      "-1", "1.5h", "1 h ",  "5M", "9223372036854775807s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(config_parse_duration(bad[i], "s", &value));
}

static void a_later_origin_wins_and_is_remembered(void **state)
{
    (void)state;
    write_file("[executor]\nreaders = 2\nheartbeat = 300ms\n[log]\nlevel = "
               "warn\n[kafka]\nclient.id = file\n");
    char heartbeat[] = "LOCKSTEP_EXECUTOR_HEARTBEAT=400ms", level[] = "LOCKSTEP_LOG_LEVEL=error",
         client[] = "LOCKSTEP_KAFKA_CLIENT_ID=variable", other[] = "LOCKSTEP_BIN=/x";
    char *variables[] = {heartbeat, level, client, other, NULL};
    const char *set[] = {"log.level=debug", "kafka.client.id=setting", "queue:a.b.max_readers=9"};
    struct config_request request = {
        .path = path, .environ = variables, .set = set, .set_count = 3};
    struct config *config = NULL;
    struct err err = {0};
    assert_int_equal(config_load(&request, &config, &err), RC_OK);
    assert_int_equal(config_get_int(config, "executor", "readers"), 2);
    assert_int_equal(config_get_duration_ms(config, "executor", "heartbeat"), 400);
    assert_string_equal(config_get_text(config, "log", "level"), "debug");
    assert_int_equal(config_get_int(config, "queue:a.b", "max_readers"), 9);
    assert_string_equal(config_get_text(config, "queue:other", "on_failure"), "stop");
    assert_int_equal(config_find(config, "log", "format")->origin, CONFIG_BY_DEFAULT);
    assert_int_equal(config_find(config, "executor", "readers")->origin, CONFIG_BY_FILE);
    assert_string_equal(config_find(config, "executor", "heartbeat")->where,
                        "LOCKSTEP_EXECUTOR_HEARTBEAT");
    assert_string_equal(config_find(config, "kafka", "client.id")->value, "setting");
    assert_int_equal(
        config_set(config, "kafka", "client.id", "option", CONFIG_BY_OPTION, "--x", &err), RC_OK);
    assert_int_equal(config_set(config, "kafka", "client.id", "late", CONFIG_BY_FILE, "y", &err),
                     RC_OK);
    assert_string_equal(config_get_text(config, "kafka", "client.id"), "option");
    config_free(config);
}

static void a_wrong_variable_or_setting_is_refused_by_name(void **state)
{
    (void)state;
    char variable[] = "LOCKSTEP_EXECUTOR_READERS=x";
    char *variables[] = {variable, NULL};
    const char *set[] = {"executor.readers"};
    struct config_request request = {.path = path, .environ = variables};
    struct config *config = NULL;
    struct err err = {0};
    write_file("");
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
    assert_string_equal(err.object, "LOCKSTEP_EXECUTOR_READERS");
    request = (struct config_request){.path = path, .set = set, .set_count = 1};
    assert_int_equal(config_load(&request, &config, &err), RC_FATAL);
    assert_string_equal(err.object, "-s");
}

static void a_value_may_be_longer_than_the_readers_own_line(void **state)
{
    (void)state;
    char text[2000] = "[kafka]\n  bootstrap.servers = ";
    for (int i = 0; i < 60; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "broker%02d.example:9092,",
                       i);
    size_t length = strlen(text) - strlen("[kafka]\n  bootstrap.servers = ");
    (void)strcat(text, "   ; all of them\nclient.id = after\n");
    struct config *config = loaded(text);
    assert_int_equal(strlen(config_get_text(config, "kafka", "bootstrap.servers")), length);
    assert_string_equal(config_get_text(config, "kafka", "client.id"), "after");
    assert_string_equal(config_find(config, "kafka", "client.id")->where + strlen(path), ":3");
    config_free(config);
}

static void assert_conninfo(struct config *config, const char *expected)
{
    STR_AUTO text = {0};
    config_conninfo(config, &text);
    assert_string_equal(text.data, expected);
    config_free(config);
}

static void the_connection_string_is_quoted_and_complete(void **state)
{
    (void)state;
    struct err err = {0};
    assert_conninfo(loaded(""), "");
    assert_conninfo(loaded("[postgres]\nhost = a b\nuser = o'neil\\x\n"),
                    "host='a b' user='o\\'neil\\\\x'");
    assert_conninfo(loaded("[postgres]\nconninfo = service=x\nport = 7\n"), "service=x port='7'");
    assert_conninfo(loaded("[postgres]\nconninfo = postgresql://h/d\nuser = a&b\n"),
                    "postgresql://h/d?user=a%26b");
    struct config *config = loaded("[postgres]\nhost = from-file\n");
    assert_int_equal(
        config_set(config, "postgres", "conninfo", "mydb", CONFIG_BY_OPTION, "--dbname", &err),
        RC_OK);
    assert_conninfo(config, "dbname='mydb'"); /* --dbname is the whole truth */
}

static void passwords_are_masked(void **state)
{
    (void)state;
    struct config *config =
        loaded("[kafka]\nsasl.password = secret\nssl.key.pem = secret\nclient.id = x\n");
    static const char *const keys[][2] = {
        {"sasl.password", "***"}, {"ssl.key.pem", "***"}, {"client.id", "x"}};
    for (size_t i = 0; i < 3; i++) {
        STR_AUTO text = {0};
        config_mask(config_find(config, "kafka", keys[i][0]), &text);
        assert_string_equal(text.data, keys[i][1]);
    }
    config_free(config);
}

static void the_nearest_name_is_found_within_a_few_edits(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("readers", "raeders"), 1);
    assert_int_equal(nearest_distance("", "abc"), 6);
    assert_int_equal(nearest_distance("Topic", "topic"), 0);
    assert_string_equal(nearest_of("heartbaet", "readers", "heartbeat"), "heartbeat");
    assert_null(nearest_of("zzzzzz", NULL, "heartbeat"));
}

static void every_default_of_the_table_is_a_right_value(void **state)
{
    (void)state;
    int count;
    const struct config_key *rows = config_keys(&count);
    for (int i = 0; i < count; i++) {
        if (rows[i].initial == NULL)
            continue;
        char text[300];
        bool queue = strchr(rows[i].section, ':') != NULL;
        (void)snprintf(text, sizeof text, "[%s%s]\n%s = %s\n", rows[i].section, queue ? "q" : "",
                       rows[i].key, rows[i].initial);
        config_free(loaded(text));
    }
}

static void the_sample_file_is_right(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct err err = {0};
    struct config_request request = {.path = LOCKSTEP_SOURCE "/config/lockstep.conf.sample"};
    if (config_load(&request, &config, &err) != RC_OK)
        fail_msg("%s: %s", err.object, err.message);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_key_is_refused_with_its_line_and_the_nearest_name),
        cmocka_unit_test(an_unknown_section_is_refused_with_its_line_and_the_nearest_name),
        cmocka_unit_test(a_long_section_is_read_whole),
        cmocka_unit_test(a_value_of_the_wrong_type_is_refused_with_its_line),
        cmocka_unit_test(a_number_out_of_range_is_refused_with_its_line),
        cmocka_unit_test(a_heartbeat_longer_than_a_quarter_of_frozen_after_is_refused),
        cmocka_unit_test(a_duplicate_key_is_refused_and_names_the_first_place),
        cmocka_unit_test(a_cluster_has_a_name_and_a_database),
        cmocka_unit_test(a_line_that_is_nothing_is_refused_with_its_number),
        cmocka_unit_test(a_line_longer_than_the_limit_is_refused_with_its_number),
        cmocka_unit_test(a_nul_byte_is_refused_with_the_number_of_its_line),
        cmocka_unit_test(a_device_without_a_line_end_is_refused),
        cmocka_unit_test(every_error_is_reported_and_the_first_is_returned),
        cmocka_unit_test(a_file_with_a_password_that_others_can_read_is_refused),
        cmocka_unit_test(a_file_of_root_with_a_password_may_be_read_by_its_group),
        cmocka_unit_test(a_named_file_that_is_missing_is_refused),
        cmocka_unit_test(values_have_units_as_in_postgresql_conf),
        cmocka_unit_test(a_later_origin_wins_and_is_remembered),
        cmocka_unit_test(a_wrong_variable_or_setting_is_refused_by_name),
        cmocka_unit_test(a_value_may_be_longer_than_the_readers_own_line),
        cmocka_unit_test(the_connection_string_is_quoted_and_complete),
        cmocka_unit_test(passwords_are_masked),
        cmocka_unit_test(the_nearest_name_is_found_within_a_few_edits),
        cmocka_unit_test(every_default_of_the_table_is_a_right_value),
        cmocka_unit_test(the_sample_file_is_right),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
