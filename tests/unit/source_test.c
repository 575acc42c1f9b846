/* How a resumed publish knows its source again: the digest of a file, and that of a
 * run's records. */
#include "producer/chain.h"
#include "producer/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/source_test.XXXXXX";
static struct err err;

static int begin(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(size_t len, char last)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i + 1 < len; i++)
        assert_true(fputc((int)('a' + i % 23), file) != EOF);
    assert_true(fputc(last, file) != EOF);
    assert_int_equal(fclose(file), 0);
}

static void digest(int64_t most, char ret_digest[33], int64_t ret_bytes)
{
    int64_t bytes = -1;
    struct source *source;
    assert_int_equal(source_open(path, &source, &err), RC_OK);
    assert_int_equal(source_file_digest(source, most, ret_digest, &bytes, &err), RC_OK);
    source_close(source);
    assert_int_equal(strlen(ret_digest), 32);
    assert_int_equal(bytes, ret_bytes);
}

static void equal_files_have_equal_digests_and_others_have_not(void **state)
{
    (void)state;
    char first[33], again[33], other[33];
    const int64_t len = SOURCE_WINDOW + 17;
    write_file((size_t)len, 'x');
    digest(-1, first, len);
    digest(-1, again, len);
    assert_string_equal(first, again);
    write_file((size_t)len, 'y');
    digest(-1, other, len);
    assert_string_not_equal(first, other);
}

static void a_file_that_has_grown_has_the_digest_of_its_beginning(void **state)
{
    (void)state;
    char before[33], begins[33], all[33], less[33];
    const int64_t len = SOURCE_WINDOW + 100; /* 'a' + (len - 1) % 23 is there in both */
    write_file((size_t)len, (char)('a' + (len - 1) % 23));
    digest(-1, before, len);
    write_file((size_t)len + 5000, 'x');
    digest(len, begins, len);
    assert_string_equal(before, begins);
    digest(-1, all, len + 5000);
    assert_string_not_equal(before, all);
    digest(len + 100000, less, len + 5000); /* a shorter one shows its length */
    assert_string_equal(less, all);
    digest(0, less, 0);
}

static void what_is_no_regular_file_has_no_digest(void **state)
{
    (void)state;
    char none[64], text[33];
    int64_t bytes;
    struct source *source;
    (void)snprintf(none, sizeof none, "%s.none", path);
    assert_int_equal(source_open("/dev/null", &source, &err), RC_OK);
    assert_int_equal(source_file_digest(source, -1, text, &bytes, &err), RC_NONE);
    source_close(source);
    assert_int_equal(source_open("/tmp", &source, &err), RC_REJECT);
    assert_int_equal(source_open(none, &source, &err), RC_REJECT);
    assert_string_equal(err.code, "ENOENT");
}

static void a_chain_can_be_carried_on_from_any_record(void **state)
{
    (void)state;
    static const char *const records[] = {"{\"seq\":0}", "", "{\"seq\":2}", "x"};
    struct chain whole = {0};
    for (size_t i = 0; i < 4; i++)
        chain_add(&whole, records[i], strlen(records[i]));
    for (size_t cut = 0; cut <= 4; cut++) {
        struct chain chain = {0};
        char text[33];
        for (size_t i = 0; i < 4; i++) {
            if (i == cut) {
                struct chain carried;
                chain_format(&chain, text);
                assert_true(chain_parse(text, &carried));
                chain = carried;
            }
            chain_add(&chain, records[i], strlen(records[i]));
        }
        assert_true(chain_equal(&chain, &whole));
    }
}

static void a_chain_tells_another_sequence_and_another_cut(void **state)
{
    (void)state;
    struct chain ab = {0}, ba = {0}, joined = {0};
    chain_add(&ab, "aa", 2);
    chain_add(&ab, "bb", 2);
    chain_add(&ba, "bb", 2);
    chain_add(&ba, "aa", 2);
    chain_add(&joined, "aabb", 4);
    assert_false(chain_equal(&ab, &ba));
    assert_false(chain_equal(&ab, &joined));
    chain_add(&ba, "bb", 2);
    assert_false(chain_equal(&ab, &ba));
}

static void a_chain_that_was_damaged_is_refused(void **state)
{
    (void)state;
    struct chain chain = {1, 2};
    assert_true(chain_parse("", &chain));
    assert_int_equal(chain.low | chain.high, 0);
    assert_false(chain_parse("0", &chain));
    assert_false(chain_parse("0123456789abcdef0123456789abcdeg", &chain));
    assert_false(chain_parse("0123456789abcdef0123456789abcdef0", &chain));
    assert_false(chain_parse(" 123456789abcdef0123456789abcdef", &chain));
    assert_true(chain_parse("0123456789abcdef00000000000000ff", &chain));
    assert_int_equal(chain.low, 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_files_have_equal_digests_and_others_have_not),
        cmocka_unit_test(a_file_that_has_grown_has_the_digest_of_its_beginning),
        cmocka_unit_test(what_is_no_regular_file_has_no_digest),
        cmocka_unit_test(a_chain_can_be_carried_on_from_any_record),
        cmocka_unit_test(a_chain_tells_another_sequence_and_another_cut),
        cmocka_unit_test(a_chain_that_was_damaged_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
