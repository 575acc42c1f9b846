/**
 * What: the protocol of an executor and the runner of a command, over a pair of sockets. Both are
 *   the same program, so plain structs do.
 * Invariants: executor to runner: a struct wire_spec with its texts, then single bytes (enum
 *   wire_word), one at least every fifth of silence_ms. Runner to executor: one struct wire_result
 *   with its texts, when no process of the command is left.
 * Threads: -
 * Ownership: -
 * Failure: an end of file is the death of the other one.
 */
#ifndef ACTION_WIRE_H
#define ACTION_WIRE_H

#include <stdint.h>

#define WIRE_FD     3 /* of the runner; the held sockets have the next numbers */
#define WIRE_HELD   4
#define RUNNER_NAME "lockstep-command"
#define STDERR_KEPT 4096

enum wire_word { WIRE_ALIVE = 'A', WIRE_TERMINATE = 'T', WIRE_KILL = 'K' };

/* Then user, directory, the words of the program, the variables, each with its NUL; then the
 * input. */
struct wire_spec {
    uint64_t bytes; /* of the texts behind this struct */
    uint64_t input_bytes;
    int32_t argc, envc;
    int64_t start_by_us; /* clock_boot_us; it is not started later */
    int64_t silence_ms, kill_after_ms, output_limit;
    int64_t cpu_s, memory, open_files, processes, file_limit; /* -1: no limit */
};

enum wire_end { WIRE_ENDED, WIRE_NOT_STARTED, WIRE_SILENCE };

/* Then what is kept of standard output, and the end of standard error. */
struct wire_result {
    int32_t end;    /* enum wire_end */
    int32_t status; /* as waitpid gives it */
    int32_t error;  /* WIRE_NOT_STARTED: errno, */
    char step[40];  /* and the step that failed */
    uint64_t out_total, err_total;
    uint32_t out_bytes, err_bytes;
    int32_t left; /* processes that it left behind, and that were killed */
};

#endif
