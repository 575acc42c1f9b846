/**
 * What: the meanings of the members of answers, for the OpenAPI document.
 * Threads: any: it is constant.
 * Ownership: the texts are constants.
 * Failure: none.
 */
#ifndef CONSOLE_MEMBER_H
#define CONSOLE_MEMBER_H

/** The meaning of a member of a shape ("": of the answer of one route); NULL: none is known. */
const char *member_meaning(const char *shape, const char *name);

#endif
