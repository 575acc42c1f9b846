/* A record as the rest of Lockstep sees it, without a copy of its bytes, and its digest: the
 * fingerprint that proves that a topic is still the same. */
#include "kafka/record.h"

#include <librdkafka/rdkafka.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* XXH3_state_t on the stack */
#include <xxhash.h>

static bool lower_hex(const char *at, size_t count)
{
    return strspn(at, "0123456789abcdef") >= count;
}

/* W3C Trace Context, 3.2: version, trace-id, parent-id and flags, in lower case; neither id is all
 * zeros, no version is ff. It goes into the requests and the environment of tasks, so nothing else
 * is taken for one. librdkafka ends it with a NUL. */
bool kafka_traceparent_valid(const char *text, size_t len)
{
    return len == TRACEPARENT_LEN && strlen(text) == len && lower_hex(text, 2) && text[2] == '-' &&
           lower_hex(text + 3, 32) && text[35] == '-' && lower_hex(text + 36, 16) &&
           text[52] == '-' && lower_hex(text + 53, 2) && memcmp(text, "ff", 2) != 0 &&
           strspn(text + 3, "0") < 32 && strspn(text + 36, "0") < 16;
}

void kafka_record_take(void *owner, struct kafka_record *ret_record)
{
    rd_kafka_message_t *message = owner;
    rd_kafka_timestamp_type_t type;
    rd_kafka_headers_t *headers;
    const void *value;
    size_t len;
    *ret_record = (struct kafka_record){.offset = message->offset,
                                        .timestamp_ms = rd_kafka_message_timestamp(message, &type),
                                        .value = message->payload,
                                        .value_len = message->len,
                                        .key = message->key,
                                        .key_len = message->key_len,
                                        .owner = message};
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    ret_record->headers = headers;
    /* Of several headers with this name the last one counts, as in lastHeader() of Kafka's clients.
     */
    if (rd_kafka_header_get_last(headers, "traceparent", &value, &len) ==
            RD_KAFKA_RESP_ERR_NO_ERROR &&
        value != NULL && kafka_traceparent_valid(value, len))
        ret_record->traceparent = value;
}

bool kafka_record_header(const struct kafka_record *record, size_t index,
                         struct kafka_header *ret_header)
{
    const void *value;
    if (record->headers == NULL ||
        rd_kafka_header_get_all(record->headers, index, &ret_header->name, &value,
                                &ret_header->value_len) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    ret_header->value = value;
    return true;
}

void kafka_record_free(struct kafka_record *record)
{
    if (record == NULL || record->owner == NULL)
        return;
    rd_kafka_message_destroy(record->owner);
    *record = (struct kafka_record){0};
}

/* The length goes before the bytes, so that ("a", "bc") and ("ab", "c") differ; all ones for NULL.
 */
static void digest_add(XXH3_state_t *state, const char *bytes, size_t len)
{
    unsigned char prefix[8];
    uint64_t n = bytes != NULL ? len : UINT64_MAX;
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(n >> (8 * i));
    (void)XXH3_128bits_update(state, prefix, sizeof prefix);
    if (bytes != NULL && len > 0)
        (void)XXH3_128bits_update(state, bytes, len);
}

/** Key and value only: the queue keeps the offset and the time stamp with the digest. */
void kafka_record_digest(const struct kafka_record *record, unsigned char ret_digest[16])
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    (void)XXH3_128bits_reset(&state);
    digest_add(&state, record->key, record->key_len);
    digest_add(&state, record->value, record->value_len);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(ret_digest, canonical.digest, sizeof canonical.digest);
}
