/**
 * What: a name of PostgreSQL between double quotes, as a statement has it that a person pastes.
 * Invariants: each double quote of the name is doubled (PostgreSQL, "Identifiers and Key Words").
 * Threads: any.
 * Ownership: the caller's buffer; that of QUOTED lives until the end of the block.
 * Failure: none; a name that is longer than PostgreSQL keeps is cut where PostgreSQL cuts it.
 */
#ifndef BASE_QUOTED_H
#define BASE_QUOTED_H

#define QUOTED_NAME 63 /* bytes of a name: NAMEDATALEN - 1 */
#define QUOTED_SIZE (2 * QUOTED_NAME + 3)

const char *quoted(char to[QUOTED_SIZE], const char *name);
#define QUOTED(name) quoted((char[QUOTED_SIZE]){0}, name)

#endif
