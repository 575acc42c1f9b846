/* The headers of a record are kept while it is in the buffer, because the row of a rejected record
 * has them. They are packed into one piece of memory: name and its NUL, length of the value (-1:
 * null), value; again and again. stream.c packs them; segment.c and rejects.c make array parameters
 * of them. */
#include "executor/headers.h"

#include "executor/lane.h"
#include "executor/record.h"

#include "base/utf8.h"
#include "db/parameter.h"
#include "kafka/source.h"

#include <stdlib.h>
#include <string.h>

char *headers_pack(const struct kafka_record *record, size_t *ret_len)
{
    struct kafka_header header;
    struct str packed = {0};
    for (size_t i = 0; kafka_record_header(record, i, &header); i++) {
        int64_t len = header.value != NULL ? (int64_t)header.value_len : -1;
        str_add(&packed, header.name, strlen(header.name) + 1);
        str_add(&packed, (const char *)&len, sizeof len);
        if (len > 0)
            str_add(&packed, header.value, header.value_len);
    }
    *ret_len = packed.len;
    return packed.data;
}

/* Kafka's own clients write names in UTF-8; a byte that is not is kept as \xNN, or the claim would
 * fail for ever. */
static void add_name(struct str *names, const char *name)
{
    STR_AUTO text = {0};
    utf8_escape(&text, name);
    db_array_text(names, text.data ? text.data : "", text.len);
}

void headers_arrays(const struct buffered *buffered, struct str *offsets, struct str *names,
                    struct str *values)
{
    if (buffered->headers == NULL)
        return;
    const char *at = buffered->headers, *end = at + buffered->headers_len;
    while (at < end) {
        int64_t len;
        add_name(names, at);
        at += strlen(at) + 1;
        memcpy(&len, at, sizeof len);
        at += sizeof len;
        db_array_bytes(values, len < 0 ? NULL : at, len < 0 ? 0 : (size_t)len);
        at += len < 0 ? 0 : len;
        db_array_int(offsets, buffered->offset);
    }
}
