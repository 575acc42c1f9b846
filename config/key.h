/**
 * What: the key table: which keys there are, of which type, with which default and range.
 * Invariants: it is the only list of keys: checks, `config list`, `config show`, the sample file
 *   and the reference are made from it.
 * Threads: any: it is constant.
 * Ownership: static.
 * Failure: none.
 */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include <stdint.h>

enum config_type {
    CONFIG_TEXT,
    CONFIG_INT,
    CONFIG_BOOL,     /* on/off, true/false, yes/no, 1/0 */
    CONFIG_DURATION, /* 200ms, 5s, 2min, 1h, 1d; a bare number has the key's unit */
    CONFIG_SIZE,     /* 64MB: B, kB, MB, GB, TB of 1024; a bare number is bytes */
    CONFIG_CHOICE,   /* one of the words of `choices` */
    CONFIG_LIST,     /* words with commas between */
    CONFIG_PROGRAM,  /* an absolute path and fixed arguments */
    CONFIG_CONNINFO, /* a libpq connection string; its password is masked */
    CONFIG_URL,      /* of a server; a password in it is masked */
    CONFIG_SECRET
};

/** A row of the key table. section "queue:" stands for every [queue:NAME], "command:" alike; key
 * "*" for any name. */
struct config_key {
    const char *section, *key;
    enum config_type type;
    const char *initial; /* NULL: none */
    const char *unit;    /* of a bare number: "ms", "s", "B"; "" if none */
    const char *choices; /* "a|b|c" */
    int64_t least,
        most; /* of CONFIG_INT; in ms of CONFIG_DURATION; in bytes of CONFIG_SIZE, 0, 0: any */
    const char *meaning;
};
const struct config_key *config_keys(int *ret_count);
const char *config_type_name(enum config_type type);

#endif
