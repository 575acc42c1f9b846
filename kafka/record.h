/**
 * What: one record of a topic: its value, key and headers, and its fingerprint.
 * Invariants: a header that is no traceparent as W3C wants it never becomes one.
 * Threads: any, one at a time.
 * Ownership: the memory that a record points to is librdkafka's and lives until kafka_record_free,
 *   which its reader calls before the consumer is closed.
 * Failure: none.
 */
#ifndef KAFKA_RECORD_H
#define KAFKA_RECORD_H

#include "kafka/kafka.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEPARENT_LEN 55

/** Whether text, which ends with a NUL behind its len bytes, is a traceparent of W3C Trace
 * Context. */
bool kafka_traceparent_valid(const char *text, size_t len);

struct kafka_record {
    int64_t offset, timestamp_ms; /* timestamp -1: none */
    const char *value;            /* NULL: tombstone */
    size_t value_len;
    const char *key;
    size_t key_len;
    const char *traceparent; /* the header of that name; NULL: absent, or not as W3C wants it */
    void *headers;           /* librdkafka's list, NULL: none; see kafka_record_header */
    void *owner;             /* librdkafka's message */
};

/** Takes a message of librdkafka that is a record, no error. */
void kafka_record_take(void *message, struct kafka_record *ret_record);
void kafka_record_free(struct kafka_record *record);

/** The header at index, from 0, in the order of the record, repeated names included; false after
 * the last. It lives as long as the record. */
bool kafka_record_header(const struct kafka_record *record, size_t index,
                         struct kafka_header *ret_header);

/** 128-bit digest (XXH3, canonical byte order) of key and value of a record, each with its length:
 * its fingerprint. */
void kafka_record_digest(const struct kafka_record *record, unsigned char ret_digest[16]);

#endif
