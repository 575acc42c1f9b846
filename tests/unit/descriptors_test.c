/* A process that may open no more files: its commands fail, and none is forgotten. */
#include "action/action.h"
#include "action/leftover.h"
#include "action/settings.h"
#include "base/clock.h"
#include "base/str.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* held counts the held descriptors that its runner has; own names those that it has itself, but for
 * the first three. */
static void load(struct config **ret_config, struct action_settings **ret_settings)
{
    char path[] = "/tmp/lockstep_descriptors_XXXXXX";
    struct err err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(
        dprintf(fd, "[commands]\nheld = /bin/sh -c 'readlink /proc/$PPID/fd/4 "
                    "/proc/$PPID/fd/5 | grep -c pipe'\nown = /bin/sh -c 'for n in 3 4 5 6 7 8 9 "
                    "10 11 12; do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done'\n") > 0);
    (void)close(fd);
    struct config_request request = {.path = path};
    enum rc rc = config_load(&request, ret_config, &err);
    (void)unlink(path);
    assert_int_equal(rc, RC_OK);
    assert_int_equal(action_settings_load(*ret_config, NULL, NULL, ret_settings, &err), RC_OK);
}

/* The lowest limit with which this process still works, and all descriptors below it in use. */
struct full {
    struct rlimit limit;
    int fds[256], count;
};

static void fill(struct full *full)
{
    int top = fcntl(0, F_DUPFD, 100); /* the runner's fixed numbers are below the limit, too */
    assert_true(top >= 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &full->limit), 0);
    struct rlimit low = {.rlim_cur = (rlim_t)top + 16, .rlim_max = full->limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    full->fds[0] = top;
    full->count = 1;
    while (full->count < 256 && (full->fds[full->count] = dup(0)) >= 0)
        full->count++;
    assert_in_range(full->count, 1, 255);
}

static void release(struct full *full, int count)
{
    for (int i = 0; i < count && full->count > 0; i++)
        (void)close(full->fds[--full->count]);
}

static void fill_ends(struct full *full)
{
    release(full, full->count);
    (void)setrlimit(RLIMIT_NOFILE, &full->limit);
}

/* One attempt; ret_text gets its response, or its error. */
static enum action_outcome run(const struct action_settings *settings, const char *command,
                               const int held[2], struct str *ret_text)
{
    char name[20];
    (void)snprintf(name, sizeof name, "%s", command);
    struct message msg = {.type = MESSAGE_COMMAND, .action = {.command = name}};
    struct action_attempt attempt = action_no_task;
    attempt.msg = &msg;
    struct action_stop stop;
    struct action_result result;
    action_stop_init(&stop);
    struct action_tie tie = {.stop = &stop,
                             .silence_ms = 20000,
                             .alive_us = clock_boot_us(),
                             .held = {held[0], held[1]}};
    action_run(settings, &attempt, &tie, &result);
    assert_false(result.permanent);
    const struct str *text = result.outcome == ACTION_DONE ? &result.response : &result.error;
    str_add(ret_text, text->data, text->len);
    action_result_done(&result);
    action_stop_done(&stop);
    return result.outcome;
}

/* It runs with all that it needs, or fails and is tried again; it never waits for a runner that it
 * cannot hear, and never runs without the sockets that keep the next attempt away. */
static void a_command_without_descriptors_fails_and_does_not_hang(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    struct full full;
    int sockets[2], failures = 0, successes = 0;
    load(&config, &settings);
    assert_int_equal(pipe(sockets), 0);
    fill(&full);
    (void)alarm(60); /* a task that hangs ends this test */
    for (int spare = 1; spare <= 9; spare++) {
        STR_AUTO text = {0};
        release(&full, 1); /* the first one is for action_stop_init() */
        bool failed = run(settings, "held", sockets, &text) == ACTION_FAILED;
        assert_string_equal(text.data,
                            failed ? "command held: cannot start its runner: Too many open files"
                                   : "2\n");
        failures += failed;
        successes += !failed;
    }
    (void)alarm(0);
    fill_ends(&full);
    assert_true(failures >= 2 && successes >= 2);
    (void)close(sockets[0]);
    (void)close(sockets[1]);
    action_settings_free(settings);
    config_free(config);
}

static void *end_leftovers(void *context)
{
    leftover_end();
    return context;
}

/* They cannot be searched for without a descriptor, so the search waits for one. */
static void what_a_killed_runner_leaves_is_ended_also_without_descriptors(void **state)
{
    (void)state;
    struct full full;
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        for (;;)
            (void)pause();
    }
    assert_true(child > 0);
    fill(&full);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_leftovers, NULL), 0);
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    int early = pthread_timedjoin_np(thread, NULL, &until);
    fill_ends(&full);
    if (early != 0)
        (void)pthread_join(thread, NULL);
    bool gone = kill(child, 0) != 0;
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    assert_int_equal(early, ETIMEDOUT);
    assert_true(gone);
}

/* As on a kernel before 5.9. The filter stays with this process and its children. */
static void forbid_close_range(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    assert_int_equal(syscall(SYS_close_range, 1000U, 1000U, 0U), -1);
}

static void a_command_has_its_own_descriptors_alone(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct action_settings *settings = NULL;
    int sockets[2];
    load(&config, &settings);
    assert_int_equal(pipe(sockets), 0);
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        STR_AUTO response = {0};
        if (forbidden)
            forbid_close_range();
        assert_int_equal(run(settings, "own", sockets, &response), ACTION_DONE);
        assert_string_equal(response.data, "");
    }
    (void)close(sockets[0]);
    (void)close(sockets[1]);
    action_settings_free(settings);
    config_free(config);
}

int main(int argc, char **argv)
{
    if (action_is_runner(argc, argv))
        return action_runner_main();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_without_descriptors_fails_and_does_not_hang),
        cmocka_unit_test(what_a_killed_runner_leaves_is_ended_also_without_descriptors),
        cmocka_unit_test(a_command_has_its_own_descriptors_alone), /* the last: its filter stays */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
