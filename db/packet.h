/**
 * What: the settings with which a session is opened, as the start-up packet's `options`. For the
 *   files of db/ only.
 * Invariants: they apply before the first statement, override those of ALTER ROLE and ALTER
 *   DATABASE, and RESET ALL returns to them. A session that runs SQL of the user's keeps the
 *   login's own search_path.
 * Threads: any.
 * Ownership: fills a string of the caller's.
 * Failure: none; a text that is no connection string adds nothing.
 */
#ifndef DB_PACKET_H
#define DB_PACKET_H

#include "base/str.h"
#include "db/db.h"

/** Adds the options of conninfo (or of its service, or PGOPTIONS), then ours: of two the later
 * counts. */
void packet_options(const char *conninfo, enum db_role role, struct str *options);

#endif
