/**
 * What: the event stream: the events of the database, as server-sent events, to all who listen.
 * Invariants: one PostgreSQL session, of the console's login, feeds all clients. The stream asks
 *   the database once a second while a client listens, every two seconds while there is news, and
 *   not at all without a client. `id:` is the number of an event. A client that comes back with
 *   Last-Event-ID misses nothing: it gets the events since then, or, if there are more than
 *   STREAM_CATCH_UP, the event `reset`, upon which it reads everything again. Of several
 *   events of one kind about one object that a look finds, only the last one is sent; an event that
 *   committed after events with greater numbers is always sent. A comment every 15 s keeps the line
 *   alive. A client that does not read is cut off (http.h).
 * Threads: stream_add from any; the stream has a thread of its own, and one that asks whether those
 *   who listen still may, so that a slow answer holds up no one's events.
 * Ownership: the answers that it opened.
 * Failure: when the database does not answer, each client gets the event `away`, with the seconds
 *   since then; when the database answers again, the event `back`, and then the events that it
 *   missed, or `reset` if they are too many or the database was restored to an earlier state. The
 *   log says so once.
 */
#ifndef CONSOLE_STREAM_H
#define CONSOLE_STREAM_H

#include "base/err.h"

#include <stdbool.h>

#define STREAM_CATCH_UP       1000
#define STREAM_CLIENTS        1000
#define STREAM_CLIENTS_OF_ONE 250

struct stream;
struct http_request;
struct visitor;

struct stream_hooks {
    void (*tick)(void *context); /* every ten seconds */
    /** Every five, by a thread of its own: whether it may still listen. */
    bool (*may)(void *context, struct visitor *visitor);
    void (*news)(void *context); /* before something that happened is sent */
    void *context;
};

/** hooks: borrowed. */
MUST_CHECK enum rc stream_start(const char *conninfo, const struct stream_hooks *hooks,
                                struct stream **ret_stream, struct err *err);
void stream_stop(struct stream *stream); /* NULL is fine */
/** Answers request without an end, from its Last-Event-ID on, or from now. False: it is not
 * answered: there are STREAM_CLIENTS already, or STREAM_CLIENTS_OF_ONE of its login. */
bool stream_add(struct stream *stream, struct http_request *request, struct visitor *visitor);

#endif
