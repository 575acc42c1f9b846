/**
 * What: the inside of struct config, shared by the files of this folder.
 * Invariants: values are unique by (section, key) and sorted by them.
 * Threads: as config.h.
 * Ownership: struct config owns everything it names.
 * Failure: as config.h.
 */
#ifndef CONFIG_STORE_H
#define CONFIG_STORE_H

#include "config/faults.h"
#include "config/key.h"

#define HINT_CLUSTER "As in conninfo = host=db.example dbname=warehouse user=console"

struct config {
    struct config_value *values;
    int count;
    char *path;
    struct config_faults faults;
};

/** The row for section and key, NULL + err with the nearest name when there is none. */
const struct config_key *store_row(const char *section, const char *key, const char *where,
                                   struct err *err);

/** Reads path into config. Errors go to its faults; the return code says whether the file could be
 * read. found_here: no one has named it and it is in the working directory, so it must belong to
 * this user or to root. */
MUST_CHECK enum rc file_read(struct config *config, const char *path, bool found_here,
                             struct err *err);

/** Reads LOCKSTEP_SECTION_KEY variables; errors go to its faults. */
void environment_read(struct config *config, char *const *environ_list);

#endif
