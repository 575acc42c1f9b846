/**
 * What: the common part of admin.c and watermarks.c. Internal to this folder; the public part is in
 *   kafka.h.
 * Invariants: none.
 * Threads: the admin's.
 * Ownership: the admin owns one count of its handle; an abandoned watermark query may own
 *   another.
 * Failure: none.
 */
#ifndef KAFKA_ADMIN_H
#define KAFKA_ADMIN_H

#include "kafka/handle.h"

struct kafka_admin {
    struct kafka_handle *handle;
    bool met;  /* the cluster has answered; the fields that follow are known */
    bool mock; /* it is librdkafka's mock cluster */
};

/** Milliseconds until until_us (clock_boot_us), rounded up, 0 when it has passed. */
int kafka_left_ms(int64_t until_us);

#endif
