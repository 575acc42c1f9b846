/**
 * What: the answers of a daemon on its [metrics] port: the text of /metrics, and whether it is
 *   ready.
 * Invariants: the numbers of the installation are read at most once a second, by one statement,
 *   however many ask; the times of jobs at most every ten seconds, behind the page that asks, by
 *   another one. When that one fails, the numbers of before are shown for 30 s more, and it is sent
 *   less often, down to once in 160 s. The first statement is waited for 2 s; a page without its
 *   numbers is answered then, with lockstep_database_up 0: old numbers are not shown.
 * Threads: page_open and page_close: one; the rest any. A thread of its own has the session, which
 *   is opened when it is first needed and kept.
 * Ownership: borrows the options' texts and the tally until page_close.
 * Failure: never its owner's: numbers that cannot be read are left out of the page.
 */
#ifndef METRICS_PAGE_H
#define METRICS_PAGE_H

#include "base/err.h"
#include "base/str.h"
#include "db/db.h"
#include "metrics/tally.h"

struct page;

struct page_options {
    const char *conninfo;
    const struct db_server *server; /* no other one is asked; NULL: any; copied */
    const struct tally *tally;      /* NULL: this daemon counts nothing itself */
    int jobs_ms;                    /* how often the numbers of jobs are read; 0: every 10 s */
};

MUST_CHECK enum rc page_open(const struct page_options *options, struct page **ret_page,
                             struct err *err);
void page_close(struct page *page); /* NULL is fine */

#define PAGE_TYPE "text/plain; version=0.0.4; charset=utf-8"
void page_text(struct page *page, struct str *text);
/** A line for each reason why it is not ready, or "ready". */
bool page_ready(struct page *page, struct str *text);

#endif
