/**
 * What: the visitors: web sessions of people who signed in with a PostgreSQL login, tokens of
 *   programs, and the anonymous visitor where no sign-in is asked for; each with a PostgreSQL
 *   session of its own, on which all that it asks for runs.
 * Invariants: the password is not kept. A session that a person signed in with is that login's, so
 *   PostgreSQL checks its rights and knows its name; it is taken only if the server asked for the
 *   password. Tokens and the anonymous visitor share the console's login, with SET ROLE to
 *   lockstep_monitor or lockstep_operator. A web session ends by sign-out, after `idle_us` without
 *   a request, after `longest_us`, when its PostgreSQL session is lost, and within half a minute
 *   after its login has lost both groups. There are at most `most` web sessions, of one login at
 *   most a quarter of them, but two: when it signs in once more, its own session that was used
 *   longest ago ends. After a sign-in that failed its address, or behind a proxy its login, has to
 *   wait (throttle.h).
 * Threads: any; statements of one session run one after the other.
 * Ownership: a struct visitor is counted: its holder returns it with visitor_release.
 * Failure: as db.h; a sign-in that is refused is no failure but a struct sign_in.
 */
#ifndef CONSOLE_SESSIONS_H
#define CONSOLE_SESSIONS_H

#include "console/visitor.h"

#include <stdbool.h>

struct sessions;
struct sessions_options {
    const char *conninfo; /* of its own login; a person's login replaces that */
    bool sign_in;         /* people have to */
    enum level anonymous; /* if they do not */
    int most;
    int64_t idle_us;    /* without a request */
    int64_t longest_us; /* since the sign-in */
};

struct sessions *sessions_new(const struct sessions_options *options);
void sessions_free(struct sessions *sessions);

enum sign_in_outcome {
    SIGN_IN_DONE,
    SIGN_IN_WRONG,   /* login or password */
    SIGN_IN_WAIT,    /* the address or login must, wait_s; 0: another try is under way */
    SIGN_IN_FULL,    /* there are as many web sessions as may be */
    SIGN_IN_RIGHT,   /* the login is in neither group, or lacks another right */
    SIGN_IN_TRUSTED, /* the server asked for no password */
    SIGN_IN_FAILED   /* the database cannot be asked */
};
struct sign_in {
    enum sign_in_outcome outcome;
    int wait_s;
    struct visitor *visitor; /* DONE: the caller's */
    char server[300];        /* WRONG: the server's message; for the log, not for the visitor */
};

/** RC_OK: outcome is DONE. RC_REJECT: it is refused, and err says why. Else FAILED. */
MUST_CHECK enum rc sessions_sign_in(struct sessions *sessions, const char *login,
                                    const char *password, const char *client,
                                    struct sign_in *ret_sign_in, struct err *err);
/** The visitor of the cookie, or of the token; NULL: it has none that may come in. */
struct visitor *sessions_of_cookie(struct sessions *sessions, const char *id);
/** The person with this cookie; NULL: there is none. No statement is run. use: it counts as a
 * request of the session. */
struct visitor *sessions_known(struct sessions *sessions, const char *id, bool use);
/** Whether sessions_may would ask the database about this person. */
bool sessions_due(const struct visitor *visitor);
/** RC_NONE: it names none; else the database cannot be asked, or (RC_RETRY) too many ask it for
 * tokens. */
MUST_CHECK enum rc sessions_of_token(struct sessions *sessions, const char *token,
                                     struct visitor **ret_visitor, struct err *err);
struct visitor *sessions_anonymous(struct sessions *sessions);
/** Whether one who came in some time ago would still be let in; true, too, while that cannot be
 * asked without waiting for another's turn. */
bool sessions_may(struct sessions *sessions, struct visitor *visitor);
void sessions_sign_out(struct sessions *sessions, struct visitor *visitor);
/** Ends what is too old. To be called now and then. */
void sessions_sweep(struct sessions *sessions);

#endif
