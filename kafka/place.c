/* The words are those of auto.offset.reset. A negative number is refused: librdkafka gives such
 * numbers meanings of their own (RD_KAFKA_OFFSET_END is -1). */
#include "kafka/place.h"

#include "base/str.h"

#include <string.h>

bool kafka_place_parse(const char *text, enum kafka_place *ret_place, int64_t *ret_offset)
{
    int64_t offset;
    if (str_same(text, "earliest") || str_same(text, "latest")) {
        *ret_place = str_same(text, "earliest") ? KAFKA_EARLIEST : KAFKA_LATEST;
        return true;
    }
    if (!int64_parse(text, strlen(text), &offset) || offset < 0)
        return false;
    *ret_place = KAFKA_OFFSET;
    *ret_offset = offset;
    return true;
}
