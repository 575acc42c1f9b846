/**
 * What: failures of lockstep-probed on request. LOCKSTEP_INJECT is a list of FUNCTION=N[+],
 *   separated by commas: the N-th call that our own code makes of FUNCTION fails as its manual
 *   says, once; with "+" every later one, too. "malloc" counts malloc, calloc, realloc,
 *   reallocarray and strdup together. What is underneath is real: a failed call did not take place.
 *   LOCKSTEP_INJECT_COUNT names a file to which "FUNCTION CALLS" is written for each when the
 *   process ends by itself; LOCKSTEP_INJECT_LOG one to which "FUNCTION N" is appended when a call
 *   was made to fail for the first time.
 * Threads: any. The count is over all of them, so which call is the N-th may differ from run to
 *   run.
 * Failure: a LOCKSTEP_INJECT that cannot be understood ends the process with 70.
 *
 * The linker's --wrap (tests/CMakeLists.txt, which reads inject.def) sends our calls here; those
 * within libpq and librdkafka go to the real functions.
 */
#include <fcntl.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum function {
#define FAILS(name) AT_##name,
#include "tests/probed/inject.def"
#undef FAILS
    FUNCTIONS
};

static const char *const names[] = {
#define FAILS(name) #name,
#include "tests/probed/inject.def"
#undef FAILS
};

static struct {
    long from; /* 0: never */
    bool on;   /* and from then on */
    atomic_long calls;
} plan[FUNCTIONS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void refuse(const char *what)
{
    fprintf(stderr, "LOCKSTEP_INJECT: cannot understand %s\n", what);
    _exit(70);
}

static void read_one(const char *word, size_t len)
{
    const char *is = memchr(word, '=', len);
    char *rest = NULL;
    int i = 0;
    while (
        is != NULL && i < FUNCTIONS &&
        (strlen(names[i]) != (size_t)(is - word) || memcmp(names[i], word, strlen(names[i])) != 0))
        i++;
    if (is == NULL || i == FUNCTIONS)
        refuse(word);
    plan[i].from = strtol(is + 1, &rest, 10);
    plan[i].on = *rest == '+';
    if (plan[i].from < 1 || rest + plan[i].on != word + len)
        refuse(word);
}

static void read_plan(void)
{
    const char *at = getenv("LOCKSTEP_INJECT");
    while (at != NULL && *at != '\0') {
        size_t len = strcspn(at, ",");
        read_one(at, len);
        at += len + (at[len] == ',');
    }
}

static void tell(const char *variable, const char *name, long number)
{
    char line[96];
    const char *path = getenv(variable);
    int fd = path != NULL ? open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    int len = snprintf(line, sizeof line, "%s %ld\n", name, number);
    ssize_t ignored = write(fd, line, (size_t)len);
    (void)ignored;
    (void)close(fd);
}

static bool fails(enum function i)
{
    (void)pthread_once(&once, read_plan);
    long call = atomic_fetch_add(&plan[i].calls, 1) + 1;
    if (call == plan[i].from)
        tell("LOCKSTEP_INJECT_LOG", names[i], call);
    return plan[i].from != 0 && (plan[i].on ? call >= plan[i].from : call == plan[i].from);
}

__attribute__((destructor)) static void tell_counts(void)
{
    for (int i = 0; i < FUNCTIONS; i++)
        tell("LOCKSTEP_INJECT_COUNT", names[i], plan[i].calls);
}

#define WRAP(type, name, parameters)                                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

/* Memory. */
WRAP(void *, malloc, (size_t size))
{
    return fails(AT_malloc) ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, (size_t count, size_t size))
{
    return fails(AT_malloc) ? NULL : __real_calloc(count, size);
}

WRAP(void *, realloc, (void *old, size_t size))
{
    return fails(AT_malloc) ? NULL : __real_realloc(old, size);
}

WRAP(void *, reallocarray, (void *old, size_t count, size_t size))
{
    return fails(AT_malloc) ? NULL : __real_reallocarray(old, count, size);
}

WRAP(char *, strdup, (const char *text))
{
    return fails(AT_malloc) ? NULL : __real_strdup(text);
}

/* libpq. A connection that fails is a real one to nowhere. */
WRAP(PGconn *, PQconnectStartParams,
     (const char *const *keys, const char *const *values, int expand))
{
    static const char *const no_keys[] = {"host", "port", NULL};
    static const char *const nowhere[] = {"/nonexistent", "1", NULL};
    return fails(AT_PQconnectStartParams) ? __real_PQconnectStartParams(no_keys, nowhere, 0)
                                          : __real_PQconnectStartParams(keys, values, expand);
}

/* An error, and then, as of a connection that is gone, nothing more. */
WRAP(PGresult *, PQgetResult, (PGconn * conn))
{
    static _Thread_local bool told;
    if (!fails(AT_PQgetResult)) {
        told = false;
        return __real_PQgetResult(conn);
    }
    told = !told;
    return told ? PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR) : NULL;
}

WRAP(PGcancel *, PQgetCancel, (PGconn * conn))
{
    return fails(AT_PQgetCancel) ? NULL : __real_PQgetCancel(conn);
}

WRAP(int, PQcancel, (PGcancel * cancel, char *text, int size))
{
    if (!fails(AT_PQcancel))
        return __real_PQcancel(cancel, text, size);
    (void)snprintf(text, (size_t)size, "injected");
    return 0;
}

#define FAILS_WITH(value, name, parameters, arguments)                                             \
    WRAP(int, name, parameters)                                                                    \
    {                                                                                              \
        return fails(AT_##name) ? (value) : __real_##name arguments;                               \
    }

FAILS_WITH(0, PQsendQuery, (PGconn * conn, const char *sql), (conn, sql))
FAILS_WITH(0, PQsendQueryParams,
           (PGconn * conn, const char *sql, int n, const Oid *types, const char *const *values,
            const int *lengths, const int *formats, int format),
           (conn, sql, n, types, values, lengths, formats, format))
FAILS_WITH(0, PQsendQueryPrepared,
           (PGconn * conn, const char *name, int n, const char *const *values, const int *lengths,
            const int *formats, int format),
           (conn, name, n, values, lengths, formats, format))
FAILS_WITH(0, PQsendPrepare,
           (PGconn * conn, const char *name, const char *sql, int n, const Oid *types),
           (conn, name, sql, n, types))
FAILS_WITH(0, PQpipelineSync, (PGconn * conn), (conn))
FAILS_WITH(0, PQconsumeInput, (PGconn * conn), (conn))
FAILS_WITH(-1, PQflush, (PGconn * conn), (conn))
FAILS_WITH(0, PQenterPipelineMode, (PGconn * conn), (conn))
FAILS_WITH(0, PQexitPipelineMode, (PGconn * conn), (conn))
FAILS_WITH(-1, PQsetnonblocking, (PGconn * conn, int on), (conn, on))
FAILS_WITH(0, PQsetSingleRowMode, (PGconn * conn), (conn))

/* librdkafka. */
WRAP(rd_kafka_t *, rd_kafka_new,
     (rd_kafka_type_t type, rd_kafka_conf_t *conf, char *text, size_t size))
{
    if (!fails(AT_rd_kafka_new))
        return __real_rd_kafka_new(type, conf, text, size);
    (void)snprintf(text, size, "injected");
    return NULL;
}

#define ERROR_OF(name, parameters, arguments)                                                      \
    WRAP(rd_kafka_error_t *, name, parameters)                                                     \
    {                                                                                              \
        return fails(AT_##name) ? rd_kafka_error_new(RD_KAFKA_RESP_ERR__FAIL, "injected")          \
                                : __real_##name arguments;                                         \
    }

ERROR_OF(rd_kafka_init_transactions, (rd_kafka_t * rk, int ms), (rk, ms))
ERROR_OF(rd_kafka_begin_transaction, (rd_kafka_t * rk), (rk))
ERROR_OF(rd_kafka_commit_transaction, (rd_kafka_t * rk, int ms), (rk, ms))
ERROR_OF(rd_kafka_abort_transaction, (rd_kafka_t * rk, int ms), (rk, ms))
ERROR_OF(rd_kafka_incremental_assign,
         (rd_kafka_t * rk, const rd_kafka_topic_partition_list_t *list), (rk, list))

#define CODE_OF(name, parameters, arguments)                                                       \
    WRAP(rd_kafka_resp_err_t, name, parameters)                                                    \
    {                                                                                              \
        return fails(AT_##name) ? RD_KAFKA_RESP_ERR__TRANSPORT : __real_##name arguments;          \
    }

CODE_OF(rd_kafka_flush, (rd_kafka_t * rk, int ms), (rk, ms))
CODE_OF(rd_kafka_metadata,
        (rd_kafka_t * rk, int all, rd_kafka_topic_t *only, const struct rd_kafka_metadata **found,
         int ms),
        (rk, all, only, found, ms))
CODE_OF(rd_kafka_committed, (rd_kafka_t * rk, rd_kafka_topic_partition_list_t *list, int ms),
        (rk, list, ms))
CODE_OF(rd_kafka_offsets_for_times,
        (rd_kafka_t * rk, rd_kafka_topic_partition_list_t *list, int ms), (rk, list, ms))

WRAP(rd_kafka_message_t *, rd_kafka_consume_queue, (rd_kafka_queue_t * queue, int ms))
{
    return fails(AT_rd_kafka_consume_queue) ? NULL : __real_rd_kafka_consume_queue(queue, ms);
}

WRAP(rd_kafka_queue_t *, rd_kafka_queue_get_partition,
     (rd_kafka_t * rk, const char *topic, int32_t partition))
{
    return fails(AT_rd_kafka_queue_get_partition)
               ? NULL
               : __real_rd_kafka_queue_get_partition(rk, topic, partition);
}

/* The variable arguments are passed on as a list. */
static int collect(rd_kafka_vu_t *list, int most, va_list ap)
{
    int count = 0;
    for (int type; (type = va_arg(ap, int)) != RD_KAFKA_VTYPE_END && count < most; count++) {
        rd_kafka_vu_t *it = &list[count];
        it->vtype = (rd_kafka_vtype_t)type;
        if (type == RD_KAFKA_VTYPE_TOPIC)
            it->u.cstr = va_arg(ap, const char *);
        else if (type == RD_KAFKA_VTYPE_PARTITION)
            it->u.i32 = va_arg(ap, int32_t);
        else if (type == RD_KAFKA_VTYPE_MSGFLAGS)
            it->u.i = va_arg(ap, int);
        else if (type == RD_KAFKA_VTYPE_TIMESTAMP)
            it->u.i64 = va_arg(ap, int64_t);
        else if (type == RD_KAFKA_VTYPE_KEY || type == RD_KAFKA_VTYPE_VALUE) {
            it->u.mem.ptr = va_arg(ap, void *);
            it->u.mem.size = va_arg(ap, size_t);
        } else if (type == RD_KAFKA_VTYPE_HEADERS)
            it->u.headers = va_arg(ap, rd_kafka_headers_t *);
        else
            refuse("rd_kafka_producev: an argument that inject.c does not know");
    }
    return count;
}

rd_kafka_resp_err_t __wrap_rd_kafka_producev(rd_kafka_t *rk, ...);
rd_kafka_resp_err_t __wrap_rd_kafka_producev(rd_kafka_t *rk, ...)
{
    rd_kafka_vu_t list[16];
    if (fails(AT_rd_kafka_producev))
        return plan[AT_rd_kafka_producev].on ? RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE
                                             : RD_KAFKA_RESP_ERR__QUEUE_FULL; /* that passes */
    va_list ap;
    va_start(ap, rk);
    int count = collect(list, 16, ap);
    va_end(ap);
    rd_kafka_error_t *error = rd_kafka_produceva(rk, list, (size_t)count);
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    if (error != NULL)
        rd_kafka_error_destroy(error);
    return code;
}
