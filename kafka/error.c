/* The one place where codes of librdkafka become reactions (enum rc). RC_RETRY is for trouble that
 * passes, RC_LOST for a client that must be replaced, RC_REJECT for one record, RC_FATAL for
 * trouble that a person must repair. A code without an underscore comes from a broker (Kafka
 * protocol, Error Codes), one with it from librdkafka itself (rdkafka.h). */
#include "kafka/error.h"

struct row {
    rd_kafka_resp_err_t code;
    enum rc rc;
    enum err_kind kind;
    const char *hint;
};

#define K(name) RD_KAFKA_RESP_ERR_##name

static const char hint_reach[] =
    "check the broker list (-b, [kafka] bootstrap.servers), that the brokers run, and that their "
    "advertised.listeners can be reached from this host";
static const char hint_auth[] = "check security.protocol, sasl.mechanism, sasl.username and the "
                                "certificates in section [kafka]";
static const char hint_acl[] =
    "the Kafka principal lacks an ACL on this object; ask for it with kafka-acls";
static const char hint_topic[] = "check the topic's name, and whether somebody deleted it";
static const char hint_range[] =
    "the position lies outside the log: retention or deletion removed "
    "records, or the topic was created again; "
    "compare the queue's next_offset with the topic before you continue";
static const char hint_corrupt[] = "the record batch at this offset is damaged on the broker; "
                                   "restore it from a replica, or skip the range by hand";
static const char hint_size[] = "raise message.max.bytes (-X message.max.bytes=N) and the topic's "
                                "max.message.bytes, or make the record smaller";
static const char hint_fenced[] =
    "another producer with the same transactional.id has taken over, or the transaction was open "
    "for longer than transaction.timeout.ms; find out which before starting again";
static const char hint_reopen[] =
    "open the producer again and continue after the last record of the log";
/* acks=all needs min.insync.replicas of the replicas; see handle.c. */
static const char hint_isr[] =
    "too few replicas are in sync; see the brokers' logs and min.insync.replicas";
static const char hint_leader[] =
    "the partition has no leader now: its broker is away, or has just "
    "come back; try again in a moment";
static const char hint_bug[] = "this is a defect of lockstep; please report it with the log";

/* Rows of one reaction are together. Codes not listed: RC_RETRY, ERR_KAFKA, no hint. */
static const struct row rows[] = {
    /* ERR_KAFKA_DOWN: no broker answers. kafka_err_no_answer() finds these codes by it. */
    {K(_TRANSPORT), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_ALL_BROKERS_DOWN), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_RESOLVE), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_TIMED_OUT), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_MSG_TIMED_OUT), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_TIMED_OUT_QUEUE), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_WAIT_COORD), RC_LOST, ERR_KAFKA_DOWN, hint_reach},
    {K(_DESTROY), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(_FATAL), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(_GAPLESS_GUARANTEE), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(OUT_OF_ORDER_SEQUENCE_NUMBER), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(UNKNOWN_PRODUCER_ID), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(INVALID_PRODUCER_ID_MAPPING), RC_LOST, ERR_KAFKA, hint_reopen},
    {K(INVALID_TXN_STATE), RC_LOST, ERR_KAFKA, hint_reopen},

    /* A fence reaches a producer as one of four codes, depending on which of its requests meets it.
     */
    {K(_FENCED), RC_LOST, ERR_HELD, hint_fenced},
    {K(PRODUCER_FENCED), RC_LOST, ERR_HELD, hint_fenced},
    {K(INVALID_PRODUCER_EPOCH), RC_LOST, ERR_HELD, hint_fenced},
    {K(TRANSACTION_COORDINATOR_FENCED), RC_LOST, ERR_HELD, hint_fenced},

    {K(_QUEUE_FULL), RC_RETRY, ERR_KAFKA, ""},
    {K(LEADER_NOT_AVAILABLE), RC_RETRY, ERR_KAFKA, hint_leader},
    {K(NOT_LEADER_FOR_PARTITION), RC_RETRY, ERR_KAFKA, hint_leader},
    {K(NOT_ENOUGH_REPLICAS), RC_RETRY, ERR_KAFKA, hint_isr},
    {K(NOT_ENOUGH_REPLICAS_AFTER_APPEND), RC_RETRY, ERR_KAFKA, hint_isr},
    /* librdkafka 2.0.2 hands transient metadata errors to the application as if they were final */
    {K(_UNKNOWN_TOPIC), RC_RETRY, ERR_KAFKA, hint_topic},
    {K(_UNKNOWN_PARTITION), RC_RETRY, ERR_KAFKA, hint_topic},
    {K(UNKNOWN_TOPIC_OR_PART), RC_RETRY, ERR_KAFKA, hint_topic},

    /* Only this record is wrong: the next one can be sent. */
    {K(MSG_SIZE_TOO_LARGE), RC_REJECT, ERR_KAFKA, hint_size},
    {K(RECORD_LIST_TOO_LARGE), RC_REJECT, ERR_KAFKA, hint_size},
    {K(INVALID_MSG_SIZE), RC_REJECT, ERR_KAFKA, hint_size},
    {K(INVALID_RECORD), RC_REJECT, ERR_KAFKA,
     "the topic's settings refuse this record (compaction needs a key)"},

    /* auto.offset.reset=error reports a position outside the log instead of moving it. */
    {K(_AUTO_OFFSET_RESET), RC_FATAL, ERR_KAFKA, hint_range},
    {K(OFFSET_OUT_OF_RANGE), RC_FATAL, ERR_KAFKA, hint_range},
    {K(_BAD_MSG), RC_FATAL, ERR_KAFKA, hint_corrupt},
    {K(_BAD_COMPRESSION), RC_FATAL, ERR_KAFKA, hint_corrupt},
    {K(INVALID_MSG), RC_FATAL, ERR_KAFKA, hint_corrupt},
    {K(_PARTIAL), RC_FATAL, ERR_KAFKA, hint_corrupt},
    {K(_UNDERFLOW), RC_FATAL, ERR_KAFKA, hint_corrupt},
    /* Wrong credentials stay wrong until a person changes them. */
    {K(_AUTHENTICATION), RC_FATAL, ERR_CONFIG, hint_auth},
    {K(_SSL), RC_FATAL, ERR_CONFIG, hint_auth},
    {K(SASL_AUTHENTICATION_FAILED), RC_FATAL, ERR_CONFIG, hint_auth},
    {K(UNSUPPORTED_SASL_MECHANISM), RC_FATAL, ERR_CONFIG, hint_auth},
    {K(ILLEGAL_SASL_STATE), RC_FATAL, ERR_CONFIG, hint_auth},
    {K(TOPIC_AUTHORIZATION_FAILED), RC_FATAL, ERR_KAFKA, hint_acl},
    {K(GROUP_AUTHORIZATION_FAILED), RC_FATAL, ERR_KAFKA, hint_acl},
    {K(CLUSTER_AUTHORIZATION_FAILED), RC_FATAL, ERR_KAFKA, hint_acl},
    {K(TRANSACTIONAL_ID_AUTHORIZATION_FAILED), RC_FATAL, ERR_KAFKA, hint_acl},
    {K(INVALID_TIMESTAMP), RC_FATAL, ERR_KAFKA,
     "compare the clocks of this host, of PostgreSQL's host and of the brokers; a record may be "
     "message.timestamp.after.max.ms ahead of its broker, an hour by default"},
    {K(TOPIC_EXCEPTION), RC_FATAL, ERR_USAGE,
     "a topic's name has letters, digits, '.', '_' and '-', 249 at most"},
    {K(TOPIC_DELETION_DISABLED), RC_FATAL, ERR_KAFKA,
     "the brokers run with delete.topic.enable=false"},
    {K(INVALID_PARTITIONS), RC_FATAL, ERR_USAGE, "a topic needs at least one partition"},
    {K(INVALID_REPLICATION_FACTOR), RC_FATAL, ERR_CONFIG,
     "the cluster has fewer brokers than replicas asked for"},
    {K(INVALID_CONFIG), RC_FATAL, ERR_CONFIG, "the broker refuses one of the topic's settings"},
    {K(POLICY_VIOLATION), RC_FATAL, ERR_KAFKA,
     "the brokers' policy forbids it; ask whoever runs the cluster"},
    {K(INVALID_TRANSACTION_TIMEOUT), RC_FATAL, ERR_CONFIG,
     "lower transaction.timeout.ms, or raise the brokers' transaction.max.timeout.ms"},
    {K(UNSUPPORTED_VERSION), RC_FATAL, ERR_KAFKA,
     "the broker is too old for this; Kafka 2.5 or later is needed"},
    {K(_UNSUPPORTED_FEATURE), RC_FATAL, ERR_KAFKA,
     "the broker cannot do this; Kafka 2.5 or later is needed"},
    {K(UNSUPPORTED_COMPRESSION_TYPE), RC_FATAL, ERR_CONFIG, "choose another compression.codec"},
    {K(_FS), RC_FATAL, ERR_CONFIG, "a file named in section [kafka] cannot be read"},
    /* Calls that this folder must not make. */
    {K(_INVALID_ARG), RC_FATAL, ERR_INTERNAL, hint_bug},
    {K(_STATE), RC_FATAL, ERR_INTERNAL, hint_bug},
    {K(_CONFLICT), RC_FATAL, ERR_INTERNAL, hint_bug},
    {K(_NOT_CONFIGURED), RC_FATAL, ERR_INTERNAL, hint_bug},
};

static const struct row *row_of(rd_kafka_resp_err_t code)
{
    static const struct row other = {K(UNKNOWN), RC_RETRY, ERR_KAFKA, ""};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code)
            return &rows[i];
    return &other;
}

enum rc kafka_err(struct err *err, rd_kafka_resp_err_t code, const char *object, const char *text)
{
    const struct row *row = row_of(code);
    const char *words = text != NULL && *text != '\0' ? text : rd_kafka_err2str(code);
    enum rc rc = err_set(err, row->rc, row->kind, object, row->hint, "%s", words);
    err_code(err, rd_kafka_err2name(code));
    return rc;
}

enum rc kafka_err_take(struct err *err, rd_kafka_error_t *error, const char *object)
{
    enum rc rc = kafka_err(err, rd_kafka_error_code(error), object, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return rc;
}

enum rc kafka_err_rc(rd_kafka_resp_err_t code)
{
    return row_of(code)->rc;
}

bool kafka_err_no_answer(rd_kafka_resp_err_t code)
{
    return row_of(code)->kind == ERR_KAFKA_DOWN;
}
