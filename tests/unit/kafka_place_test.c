/* A place in a log as a person types it: an offset or an end, or refused. */
#include "kafka/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void offsets_and_ends_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum kafka_place place;
        int64_t offset; /* 77: untouched */
    } cases[] = {{"0", KAFKA_OFFSET, 0},
                 {"9223372036854775807", KAFKA_OFFSET, INT64_MAX},
                 {"earliest", KAFKA_EARLIEST, 77},
                 {"latest", KAFKA_LATEST, 77}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum kafka_place place = (enum kafka_place) - 1;
        int64_t offset = 77;
        assert_true(kafka_place_parse(cases[i].text, &place, &offset));
        assert_int_equal(place, cases[i].place);
        assert_true(offset == cases[i].offset);
    }
}

static void other_texts_are_refused_and_change_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "-1", "1 ", "+1", "earliest ", "Latest", "late", "end", "9223372036854775808"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        enum kafka_place place = KAFKA_LATEST;
        int64_t offset = 77;
        assert_false(kafka_place_parse(texts[i], &place, &offset));
        assert_int_equal(place, KAFKA_LATEST);
        assert_true(offset == 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_ends_are_taken),
        cmocka_unit_test(other_texts_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
