/* One thread reads the event log once a second and sends each event to all clients. One look: take
 * new clients, find their places, one statement for all that some client lacks, send, drop those
 * that do not read. Event numbers are assigned before their transactions commit, so numbers that
 * were skipped are kept as holes (console/holes.c) and asked for again. console/http_stream.c
 * buffers for each client; console/recheck.c asks whether each may still listen. */
#include "console/stream.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/outage.h"
#include "base/thread.h"
#include "console/answer.h"
#include "console/holes.h"
#include "console/recheck.h"
#include "console/request.h"
#include "console/visitor_make.h"
#include "db/parameter.h"

#include <stdlib.h>

#define EVERY_MS     1000
#define NEWS_MS      2000 /* after a look that had some: each is a reason for pages to read again */
#define HEARTBEAT_US 15000000 /* the interval that the HTML standard names for comment lines */
#define ASK_US       5000000  /* between two rounds of recheck.h */
#define IDLE_TICK_MS 10000

struct client {
    struct client *next;
    struct http_stream *out;
    struct visitor *visitor; /* held */
    int64_t last_id;         /* it has all events up to this one; -1: it begins now */
    bool knows_away;         /* its last news of the database is that it does not answer */
};

struct stream {
    struct thread thread;
    struct visitor *own; /* the console's login */
    pthread_mutex_t lock;
    struct client *coming;  /* with the lock: not yet seen by the thread */
    int count;              /* with the lock */
    struct client *clients; /* the thread's; it changes the list with the lock */
    int opened;             /* sessions of `own`, before the last look */
    int64_t last_id;        /* the newest that was seen; -1: unknown */
    struct holes holes;     /* below it */
    int64_t heartbeat_us;
    struct outage outage;
    struct recheck recheck; /* whether all who listen still may */
    int64_t asked_us;
    int awaited; /* answers of it */
    bool settle; /* the next look asks for the newest number first */
    int wait_ms; /* until the next look */
    const struct stream_hooks *hooks;
};

static int count_of(const struct client *clients, const char *login)
{
    int count = 0;
    for (; clients != NULL; clients = clients->next)
        count += strcmp(visitor_login(clients->visitor), login) == 0;
    return count;
}

bool stream_add(struct stream *stream, struct http_request *request, struct visitor *visitor)
{
    const char *last_id = http_header(request, "Last-Event-ID"), *login = visitor_login(visitor);
    int64_t id = -1;
    /* The browser sends the last `id:` that it got when it reconnects (HTML, "Server-sent events").
     * A number that is none is as if there were none. */
    if (last_id != NULL && !int64_parse(last_id, strlen(last_id), &id))
        id = -1;
    (void)pthread_mutex_lock(&stream->lock);
    bool first = stream->count == 0;
    bool room =
        stream->count < STREAM_CLIENTS &&
        count_of(stream->coming, login) + count_of(stream->clients, login) < STREAM_CLIENTS_OF_ONE;
    if (room) {
        struct client *new = xcalloc(1, sizeof *new);
        *new = (struct client){.next = stream->coming,
                               .out = http_stream_open(request, "text/event-stream"),
                               .visitor = visitor_hold(visitor),
                               .last_id = id};
        stream->coming = new;
        stream->count++;
    }
    (void)pthread_mutex_unlock(&stream->lock);
    if (room && first) /* others wait for the next look: a hundred clients cost one statement */
        mailbox_poke(&stream->thread.inbox);
    return room;
}

static void take_new(struct stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    while (stream->coming != NULL) {
        struct client *client = stream->coming;
        stream->coming = client->next;
        client->next = stream->clients;
        stream->clients = client;
    }
    (void)pthread_mutex_unlock(&stream->lock);
}

/* The list changes with the lock, because stream_add counts the clients of a login in it. */
static void drop(struct stream *stream, struct client **place)
{
    struct client *client = *place;
    (void)pthread_mutex_lock(&stream->lock);
    *place = client->next;
    stream->count--;
    (void)pthread_mutex_unlock(&stream->lock);
    http_stream_close(client->out);
    visitor_release(client->visitor);
    free(client);
}

/* Sends to one client; a client that has gone is removed. True: it is still there. */
static bool send_to(struct stream *stream, struct client **place, const char *text, size_t len)
{
    if (http_stream_send((*place)->out, text, len))
        return true;
    drop(stream, place);
    return false;
}

/* Whether a client before this one has the same visitor. */
static bool is_asked(const struct stream *stream, const struct client *client)
{
    const struct client *before = stream->clients;
    while (before != client && before->visitor != client->visitor)
        before = before->next;
    return before != client;
}

/* A visitor who has signed out, or whose token was revoked, gets no more events. Another thread
 * asks the database, so a slow answer about one visitor does not delay the events of all. */
static void ask_all(struct stream *stream)
{
    for (const struct client *client = stream->clients; client != NULL; client = client->next)
        if (!is_asked(stream, client)) {
            recheck_ask(&stream->recheck, client->visitor);
            stream->awaited++;
        }
}

static void take_answer(struct stream *stream, struct rechecked *answer)
{
    for (struct client **place = &stream->clients; *place != NULL && !answer->may;)
        if ((*place)->visitor == answer->visitor)
            drop(stream, place);
        else
            place = &(*place)->next;
    stream->awaited--;
    visitor_release(answer->visitor);
    free(answer);
}

/* Sends an event to the clients that lack it. id 0: it has no number, all get it. late: it was in a
 * hole, which clients that are up to date have passed without it. */
static void send_all(struct stream *stream, int64_t id, bool late, const char *text, size_t len)
{
    for (struct client **place = &stream->clients; *place != NULL;) {
        struct client *client = *place;
        if (id != 0 && !late && client->last_id >= id) {
            place = &client->next;
            continue;
        }
        if (send_to(stream, place, text, len)) {
            client->last_id = id > client->last_id ? id : client->last_id;
            place = &client->next;
        }
    }
}

/* Notifies clients whose last news of the database was the opposite. */
static void notify_away(struct stream *stream, bool away)
{
    STR_AUTO text = {0};
    if (away)
        str_format(&text, "event: away\ndata: {\"seconds\": %.3f}\n\n",
                   (double)(clock_boot_us() - stream->outage.since_us) / 1e6);
    else
        str_text(&text, "event: back\ndata: {}\n\n");
    for (struct client **place = &stream->clients; *place != NULL;) {
        struct client *client = *place;
        bool news = client->knows_away != away;
        client->knows_away = away;
        if (!news || send_to(stream, place, text.data, text.len))
            place = &client->next;
    }
}

/* The newest event that every client has: the next statement begins behind it. */
static int64_t lacking(const struct stream *stream)
{
    int64_t from = stream->last_id;
    for (const struct client *client = stream->clients; client != NULL; client = client->next)
        if (client->last_id >= 0 && client->last_id < from)
            from = client->last_id;
    return from;
}

/* Of the events of one kind about one object only the last one of a look is sent, because its
 * number is the greatest: a client that lacks one of them lacks it, too. A late event is sent in
 * any case, because clients that have the last one lack it. */
static void send_rows(struct stream *stream, const struct db_result *rows)
{
    STR_AUTO text = {0};
    for (int i = 0; i < db_rows(rows); i++) {
        int64_t id = db_int(rows, i, CONSOLE_CHANGES_ID);
        /* The last row carries the snapshot and no event. */
        if (id < 0)
            continue;
        bool late = id != 0 && holes_fill(&stream->holes, id);
        if (id > stream->last_id) {
            holes_add(&stream->holes, stream->last_id + 1, id - 1);
            stream->last_id = id;
        }
        if (!late && !db_bool(rows, i, CONSOLE_CHANGES_IS_LAST))
            continue;
        str_clear(&text);
        if (id != 0)
            str_format(&text, "id: %lld\n", (long long)holes_safe(&stream->holes, id));
        str_format(&text, "event: %s\ndata: %s\n\n", db_text(rows, i, CONSOLE_CHANGES_EVENT),
                   db_text(rows, i, CONSOLE_CHANGES_DATA));
        send_all(stream, id, late, text.data, text.len);
    }
}

/* Sets the place from which the log is read: the newest event, or, if a client comes back that
 * lacks at most STREAM_CATCH_UP, that client's last event. Skipped numbers before it are holes
 * again. */
static void find_place(struct stream *stream, const struct db_result *rows, int64_t newest)
{
    stream->last_id = newest;
    for (const struct client *client = stream->clients; client != NULL; client = client->next)
        if (client->last_id >= 0 && client->last_id < stream->last_id &&
            newest - client->last_id <= STREAM_CATCH_UP)
            stream->last_id = client->last_id;
    holes_clear(&stream->holes);
    for (int i = 0; i < db_rows(rows); i++)
        if (!db_null(rows, i, CONSOLE_NEWEST_FIRST) &&
            db_int(rows, i, CONSOLE_NEWEST_LAST) <= stream->last_id)
            holes_add(&stream->holes, db_int(rows, i, CONSOLE_NEWEST_FIRST),
                      db_int(rows, i, CONSOLE_NEWEST_LAST));
}

static void reset_text(int64_t id, struct str *text)
{
    str_format(text, "id: %lld\nevent: reset\ndata: {}\n\n", (long long)id);
}

/* New clients start at the newest event. A client that lacks more than STREAM_CATCH_UP, or has a
 * number that the log does not have (the database was restored), gets `reset` and reads its page
 * again. */
static void settle_new(struct stream *stream, const struct db_result *rows)
{
    STR_AUTO reset = {0};
    int64_t newest = db_int(rows, 0, CONSOLE_NEWEST_ID);
    /* What the last look has seen, not the newest: a client may have read its page before an event
     * that came between that look and this one, so it gets that event. */
    int64_t seen = stream->last_id;
    if (seen < 0 || seen > newest || newest - seen > STREAM_CATCH_UP)
        seen = newest;
    if (stream->last_id < 0 || stream->last_id > newest ||
        newest - stream->last_id > STREAM_CATCH_UP)
        find_place(stream, rows, newest);
    reset_text(newest, &reset);
    for (struct client **place = &stream->clients; *place != NULL;) {
        struct client *client = *place;
        bool is_new = client->last_id < 0;
        bool late =
            client->last_id > newest || (!is_new && newest - client->last_id > STREAM_CATCH_UP);
        if (is_new || late)
            client->last_id = is_new ? seen : newest;
        if (!(is_new || late) ||
            send_to(stream, place, is_new ? ": hello\n\n" : reset.data, is_new ? 9 : reset.len))
            place = &client->next;
    }
}

/* The transactions of holes that were given up are over, and their events may have come unseen: all
 * clients read everything again. */
static void reset_all(struct stream *stream)
{
    STR_AUTO reset = {0};
    reset_text(stream->last_id, &reset);
    /* Before the clients learn of it: the pages ask at once, and must not get a kept answer from
     * before. */
    stream->hooks->news(stream->hooks->context);
    send_all(stream, 0, false, reset.data, reset.len);
}

static void take_changes(struct stream *stream, const struct db_result *rows)
{
    int count = db_rows(rows) - 1; /* the last one is there for the snapshot */
    /* After a full look there may be more than one look can send. With a new session the log may be
     * that of a backup, which ends before last_id: its next events would not be seen. */
    stream->settle = count >= STREAM_CATCH_UP || visitor_opened(stream->own) != stream->opened;
    stream->opened = visitor_opened(stream->own);
    stream->wait_ms = count > 0 ? NEWS_MS : EVERY_MS;
    /* Before the rows: holes that this look finds must wait for the snapshot of a later one. */
    holes_arm(&stream->holes, db_int(rows, count, CONSOLE_CHANGES_XMAX));
    if (count > 0)
        stream->hooks->news(stream->hooks->context);
    send_rows(stream, rows);
    if (holes_settle(&stream->holes, db_int(rows, count, CONSOLE_CHANGES_XMIN)))
        reset_all(stream);
}

/* Whether the newest number must be asked for first: the last look says so, or a client is new or
 * far off. */
static bool must_settle(const struct stream *stream)
{
    bool settle = stream->last_id < 0 || stream->settle;
    for (const struct client *client = stream->clients; client != NULL; client = client->next)
        settle = settle || client->last_id < 0 || client->last_id > stream->last_id ||
                 stream->last_id - client->last_id > STREAM_CATCH_UP;
    return settle;
}

/* When the database does not answer, clients keep their connection and get `away`: reconnecting
 * would not help, and a hundred clients would do it at once. */
static void read_changes(struct stream *stream)
{
    struct err err = {0};
    STR_AUTO firsts = {0};
    STR_AUTO lasts = {0};
    DB_RESULT_AUTO *newest = NULL;
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = RC_OK;
    int64_t away_ms;
    if (must_settle(stream)) {
        rc = visitor_run(stream->own, NULL, &sql_console_newest, NULL, &newest, &err);
        if (rc == RC_OK)
            settle_new(stream, newest);
    }
    holes_arrays(&stream->holes, &firsts, &lasts);
    if (rc == RC_OK)
        rc = visitor_run(stream->own, NULL, &sql_console_changes,
                         (const char *const[]){DB_INT(lacking(stream)), firsts.data, lasts.data},
                         &rows, &err);
    if (rc == RC_OK) {
        if (outage_over(&stream->outage, clock_boot_us(), &away_ms))
            log_event(LOG_INFO, "stream_is_back", "after_ms", LOG_INT(away_ms), NULL);
        notify_away(stream, false);
        take_changes(stream, rows);
    } else {
        if (outage_must_log(&stream->outage, &err, clock_boot_us()))
            log_err(LOG_WARN, "stream_without_database", NULL, &err);
        notify_away(stream, true);
    }
}

/* What is due by the clock. */
static void keep_house(struct stream *stream, int64_t *tick_us)
{
    int64_t now_us = clock_boot_us();
    if (now_us - stream->asked_us > ASK_US && stream->awaited == 0) {
        stream->asked_us = now_us;
        ask_all(stream);
    }
    if (now_us - stream->heartbeat_us > HEARTBEAT_US) {
        stream->heartbeat_us = now_us;
        send_all(stream, 0, false, ": \n\n", 4);
    }
    if (now_us - *tick_us > IDLE_TICK_MS * 1000LL) {
        *tick_us = now_us;
        stream->hooks->tick(stream->hooks->context);
    }
}

static void take_answers(struct stream *stream, bool *stopping)
{
    struct mail *mail = thread_take(&stream->thread, stopping), *next;
    for (; mail != NULL; mail = next) {
        next = mail->next;
        take_answer(stream, (struct rechecked *)mail);
    }
}

/* This thread alone asks recheck, so it ends it, too: a question that recheck does not take, or an
 * answer that is not taken here, would hold its visitor for ever. */
static void *stream_main(void *context)
{
    struct stream *stream = context;
    bool stopping = false;
    int64_t tick_us = 0;
    while (!stopping) {
        take_answers(stream, &stopping);
        if (stream->clients == NULL) /* without a client the log is not read */
            stream->last_id = -1;
        take_new(stream);
        if (stream->clients != NULL)
            read_changes(stream);
        keep_house(stream, &tick_us);
        if (!stopping && !thread_has_mail(&stream->thread))
            mailbox_wait(&stream->thread.inbox,
                         stream->clients != NULL ? stream->wait_ms : IDLE_TICK_MS);
    }
    recheck_stop(&stream->recheck);
    take_answers(stream, &stopping);
    return NULL;
}

enum rc stream_start(const char *conninfo, const struct stream_hooks *hooks,
                     struct stream **ret_stream, struct err *err)
{
    struct stream *stream = xcalloc(1, sizeof *stream);
    *stream = (struct stream){.last_id = -1, .wait_ms = EVERY_MS, .hooks = hooks};
    (void)pthread_mutex_init(&stream->lock, NULL);
    stream->own = visitor_new("stream", LEVEL_MONITOR, conninfo);
    stream->recheck = (struct recheck){
        .answers = &stream->thread.inbox, .may = hooks->may, .context = hooks->context};
    enum rc rc = recheck_start(&stream->recheck, err);
    if (rc == RC_OK) {
        rc = thread_start(&stream->thread, "stream", stream_main, stream, err);
        if (rc == RC_OK) {
            *ret_stream = stream;
            return RC_OK;
        }
        recheck_stop(&stream->recheck);
    }
    visitor_release(stream->own);
    (void)pthread_mutex_destroy(&stream->lock);
    free(stream);
    return rc;
}

void stream_stop(struct stream *stream)
{
    if (stream == NULL)
        return;
    thread_stop(&stream->thread);
    take_new(stream);
    while (stream->clients != NULL)
        drop(stream, &stream->clients);
    visitor_release(stream->own);
    (void)pthread_mutex_destroy(&stream->lock);
    free(stream);
}
