/**
 * What: how a handler answers its request: with a body, or with a stream that has no end.
 * Invariants: exactly one answer a request. A header whose value has a control character is not
 *   sent.
 * Threads: that of the handler; a stream any.
 * Ownership: bodies are copied. A stream belongs to the caller until http_stream_close.
 * Failure: http_stream_send: false: the client has gone, or does not read.
 */
#ifndef CONSOLE_ANSWER_H
#define CONSOLE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct http_request;

/** For the answer; before it is given. */
void http_add_header(struct http_request *request, const char *name, const char *value);
void http_answer(struct http_request *request, int status, const char *type, const char *body,
                 size_t len);
/** With an ETag; a client that says that it has this body is answered 304. vary: the headers of the
 * request that it depends on. */
void http_answer_tagged(struct http_request *request, const char *type, const char *vary,
                        const char *body, size_t len);

/** An answer without an end. It belongs to the caller until http_stream_close. */
struct http_stream;
struct http_stream *http_stream_open(struct http_request *request, const char *type);
/** From any thread. False: the client has gone, or has not read 256 kB for 5 s, or 4 MB: it is cut
 * off. */
bool http_stream_send(struct http_stream *stream, const char *text, size_t len);
void http_stream_close(struct http_stream *stream);

#endif
