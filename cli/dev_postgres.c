/* dev up, dev down: a private PostgreSQL in a directory, without network: choose user, directory
 * and binaries (cli/dev_bin.c); make the cluster; pg_ctl start; migrate; start the console
 * (cli/dev_console.c).
 * Every step may be repeated, also after a SIGKILL: the cluster is made in data.new, with its
 * database, and gets the name data when it is whole. It is for trials: trust for every user who
 * reaches the socket, so the directory is closed to others.
 *
 * One command at a time works in a directory: it holds the lock (flock) of it, and so does a
 * program that makes the cluster, which may outlive its command.
 *
 * Root is dropped in each child and not in this process: only root may make the directory and give
 * it to the server's user. dev down stops by the same directory and needs no other state. */
#include "cli/commands.h"
#include "cli/dev_bin.h"
#include "cli/dev_console.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "db/migrate.h"
#include "db/sqlstate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_NAME_MAX 107              /* sun_path */
#define START_US        (60 * 1000000LL) /* as long as pg_ctl -w waits */

/* A private PostgreSQL: dir/data, its socket in dir, its and its programs' log in dir/log. */
struct private_server {
    char dir[PATH_MAX - 64], bin[PATH_MAX - 64];
    int lock; /* the directory; lock() opens it */
    uid_t uid;
    gid_t gid;
    const char *user; /* to drop to; NULL: stay who we are */
};

/* PostgreSQL refuses to run as root, so root becomes postgres, or the unprivileged user. */
static enum rc choose_user(struct private_server *server, const char **ret_home, struct err *err)
{
    *ret_home = getenv("HOME");
    if (geteuid() != 0)
        return RC_OK;
    const struct passwd *entry = getpwnam("postgres");
    if (entry == NULL)
        entry = getpwnam("nobody");
    if (entry == NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, "dev up",
                       "useradd --create-home lockstep && runuser -u lockstep -- lockstep dev up",
                       "PostgreSQL does not run as root, and neither of the users that it could "
                       "run as exists: postgres, and the unprivileged one");
    server->user = strcmp(entry->pw_name, "postgres") == 0 ? "postgres" : "nobody";
    server->uid = entry->pw_uid;
    server->gid = entry->pw_gid;
    *ret_home = entry->pw_dir;
    return RC_OK;
}

/* --dir, or a directory in the home of the user that the server runs as. */
static enum rc choose_dir(struct cli *cli, struct private_server *server, const char *home,
                          struct err *err)
{
    const char *given = cli_text(cli, "dir");
    char here[PATH_MAX] = "";
    int written;
    if (given != NULL && given[0] != '/' && getcwd(here, sizeof here) == NULL)
        here[0] = '\0';
    if (given != NULL)
        written =
            snprintf(server->dir, sizeof server->dir, "%s%s%s", here, *here ? "/" : "", given);
    else
        written = snprintf(server->dir, sizeof server->dir, "%s/.local/share/lockstep",
                           home ? home : "/nonexistent");
    /* Checked before anything is made: PostgreSQL would only report it when it starts, in its
     * log. */
    if (written >= SOCKET_NAME_MAX - (int)sizeof "/.s.PGSQL.5432")
        return err_set(err, RC_REJECT, ERR_USAGE, "--dir", "Choose a shorter one.",
                       "the path is too long for a Unix socket in it");
    return RC_OK;
}

static void become(const struct private_server *server)
{
    if (server->user != NULL &&
        /* Groups first, the user last: afterwards the process may change neither. chdir: the
         * caller's directory may be closed to the new user. */
        (initgroups(server->user, server->gid) != 0 || setgid(server->gid) != 0 ||
         setuid(server->uid) != 0 || chdir("/") != 0))
        _exit(126);
}

/* Where the words of a program go: to the log. The server's own user opens it. */
static int open_log(const struct private_server *server)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/log", server->dir);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A program, as the server's user. */
struct program {
    const char *path; /* below bin, or absolute */
    char *const *arguments;
    const char *input; /* NULL: none */
    bool locks;        /* keeps the lock until it has ended, also when its command is killed */
};

static void exec_program(const struct private_server *server, const struct program *program,
                         int input)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s%s%s", *program->path == '/' ? "" : server->bin,
                   *program->path == '/' ? "" : "/", program->path);
    become(server);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), log = open_log(server);
    (void)dup2(input >= 0 ? input : null, STDIN_FILENO);
    (void)dup2(log >= 0 ? log : null, STDOUT_FILENO);
    (void)dup2(log >= 0 ? log : null, STDERR_FILENO);
    if (program->locks)
        (void)fcntl(server->lock, F_SETFD, 0);
    execv(path, program->arguments);
    _exit(127);
}

/* The exit code, -1 if it did not end by itself. */
static int run_program(const struct private_server *server, const struct program *program)
{
    int input[2] = {-1, -1};
    if (program->input != NULL) {
        size_t len = strlen(program->input); /* fits into the pipe */
        if (pipe2(input, O_CLOEXEC) != 0 || write(input[1], program->input, len) != (ssize_t)len)
            return -1;
        (void)close(input[1]);
    }
    pid_t pid = fork();
    if (pid == 0)
        exec_program(server, program, input[0]);
    if (input[0] >= 0)
        (void)close(input[0]);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Makes dir and the directories above it that are missing, for the server's user. */
static enum rc make_dir(const struct private_server *server, struct err *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", server->dir);
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(path, 0700) == 0 && server->user != NULL &&
            lchown(path, server->uid, server->gid) != 0)
            break;
        if (slash == NULL)
            break;
        *slash = '/';
    }
    struct stat info;
    uid_t owner = server->user != NULL ? server->uid : geteuid();
    if (stat(server->dir, &info) != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, server->dir, "Name another one: --dir DIR",
                       "cannot make it: %s", strerror(errno));
    /* The socket is in this directory, and trust lets in each user who reaches it. */
    if (info.st_uid != owner || (info.st_mode & 077) != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, server->dir,
                       "Name one that is not there, and it is made so: --dir DIR",
                       "it must belong to %s and be closed to others (mode 0700)",
                       server->user ? server->user : "you");
    return RC_OK;
}

/* As root: whether the server's user can enter each directory above. Otherwise initdb fails with a
 * message that does not name the directory. */
static enum rc check_reach(const struct private_server *server, struct err *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", server->dir);
    for (char *slash; server->user != NULL && (slash = strrchr(path, '/')) != NULL;) {
        struct stat info;
        *slash = '\0';
        if (*path != '\0' && stat(path, &info) == 0 && info.st_uid != server->uid &&
            (info.st_mode & S_IXOTH) == 0)
            return err_set(err, RC_FATAL, ERR_CONFIG, path,
                           "Name a directory that it may enter: lockstep dev up --dir "
                           "/var/tmp/lockstep",
                           "PostgreSQL does not run as root, and the user %s that it runs as "
                           "instead cannot enter this directory",
                           server->user);
    }
    return RC_OK;
}

static enum rc program_failed(const struct private_server *server, const char *program, int code,
                              struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, "Look into %.200s/log", server->dir);
    if (code < 0)
        return err_set(err, RC_FATAL, ERR_FAILED, program, hint, "it was killed, or not started");
    return err_set(err, RC_FATAL, ERR_FAILED, program, hint, "it ended with exit code %d", code);
}

/* Waits for another command in this directory. It ends with this process, by itself. */
static enum rc lock(struct cli *cli, struct private_server *server, struct err *err)
{
    server->lock = open(server->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (server->lock >= 0 && flock(server->lock, LOCK_EX | LOCK_NB) == 0)
        return RC_OK;
    if (server->lock >= 0 && errno == EWOULDBLOCK) {
        cli_say(cli, "lockstep: another dev up or dev down works in %s; waiting for it\n",
                server->dir);
        if (flock(server->lock, LOCK_EX) == 0)
            return RC_OK;
    }
    return err_set(err, RC_FATAL, ERR_CONFIG, server->dir, NULL, "cannot lock it: %s",
                   strerror(errno));
}

static enum rc choose(struct cli *cli, struct private_server *server, struct err *err)
{
    const char *home = NULL;
    enum rc rc = choose_user(server, &home, err);
    if (rc == RC_OK)
        rc = choose_dir(cli, server, home, err);
    return rc;
}

/* The process that the server's file names; 0: none. */
static pid_t named_process(const char *data)
{
    char path[PATH_MAX + 16], line[32] = "";
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", data);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    long pid = n > 0 ? strtol(line, NULL, 10) : 0;
    return pid > 1 && pid <= INT_MAX && kill((pid_t)pid, 0) == 0 ? (pid_t)pid : 0;
}

/* After a restart of the host the pid may be another process's, which pg_ctl would take for the
 * server, and stop. A server works in its data directory. */
static bool is_running(const char *data)
{
    char path[64];
    struct stat here, there;
    pid_t pid = named_process(data);
    (void)snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    return pid > 0 && stat(data, &here) == 0 && stat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* PostgreSQL does not start while its file names a process of its user. */
static enum rc not_started(const struct private_server *server, const char *data, int code,
                           struct err *err)
{
    char hint[300];
    pid_t other = named_process(data);
    if (other == 0)
        return program_failed(server, "pg_ctl", code, err);
    (void)snprintf(hint, sizeof hint, "rm '%.200s/postmaster.pid'", data);
    return err_set(err, RC_FATAL, ERR_FAILED, "pg_ctl", hint,
                   "process %d, which postmaster.pid names, is not this server", (int)other);
}

/* initdb would refuse it, in its log. */
static enum rc check_empty(const char *data, struct err *err)
{
    DIR *dir = opendir(data);
    int entries = 0;
    while (dir != NULL && readdir(dir) != NULL)
        entries++;
    if (dir != NULL)
        (void)closedir(dir);
    if (entries > 2) /* . and .. */
        return err_set(err, RC_FATAL, ERR_CONFIG, data, "Name another one: --dir DIR",
                       "it is not empty, and is no data directory of PostgreSQL");
    return RC_OK;
}

/* The database is made before the cluster gets the name data: one that was dropped on purpose is
 * not made again. */
static enum rc make_cluster(const struct private_server *server, struct err *err)
{
    char data[PATH_MAX];
    (void)snprintf(data, sizeof data, "%s/data.new", server->dir);
    char *clear[] = {(char[]){"rm"}, (char[]){"-rf"}, (char[]){"--"}, data, NULL};
    char *init[] = {(char[]){"initdb"},
                    (char[]){"-D"},
                    data,
                    (char[]){"--auth=trust"},
                    (char[]){"--encoding=UTF8"},
                    (char[]){"--locale=C"},
                    (char[]){"--username=lockstep"},
                    NULL};
    char *create[] = {
        (char[]){"postgres"}, (char[]){"--single"},         (char[]){"-D"},       data,
        (char[]){"-c"},       (char[]){"exit_on_error=on"}, (char[]){"postgres"}, NULL};
    const struct program programs[] = {
        {.path = "/bin/rm", .arguments = clear, .locks = true},
        {.path = "initdb", .arguments = init, .locks = true},
        {.path = "postgres",
         .arguments = create,
         .input = "CREATE DATABASE lockstep\n",
         .locks = true},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        int code = run_program(server, &programs[i]);
        if (code != 0)
            return program_failed(server, programs[i].path, code, err);
    }
    if (renameat(server->lock, "data.new", server->lock, "data") != 0 || fsync(server->lock) != 0)
        return err_set(err, RC_FATAL, ERR_FAILED, data, NULL, "cannot rename it to data: %s",
                       strerror(errno));
    return RC_OK;
}

static enum rc start(const struct private_server *server, char *data, struct err *err)
{
    char version[PATH_MAX + 16], log[PATH_MAX], options[PATH_MAX + 100];
    (void)snprintf(version, sizeof version, "%s/PG_VERSION", data);
    (void)snprintf(log, sizeof log, "%s/log", server->dir);
    /* Tables of the login lockstep belong into public, not into the schema that has its name. */
    (void)snprintf(options, sizeof options,
                   "-k '%s' -c listen_addresses= -p 5432 -c search_path=public", server->dir);
    char *go[] = {(char[]){"pg_ctl"},
                  (char[]){"-D"},
                  data,
                  (char[]){"-w"},
                  (char[]){"-l"},
                  log,
                  (char[]){"-o"},
                  options,
                  (char[]){"start"},
                  NULL};
    const struct program program = {.path = "pg_ctl", .arguments = go};
    enum rc rc = RC_OK;
    if (access(version, F_OK) != 0) { /* it is in every data directory */
        rc = check_empty(data, err);
        if (rc == RC_OK)
            rc = make_cluster(server, err);
    }
    int code = rc == RC_OK ? run_program(server, &program) : 0;
    /* The pg_ctl of a command that was killed may be quicker. */
    return code == 0 || is_running(data) ? rc : not_started(server, data, code, err);
}

static void become_user(const void *context)
{
    become(context);
}

static bool may_be_starting(const struct err *why)
{
    return sqlstate_is(why, SQLSTATE_CANNOT_CONNECT_NOW) ||
           (why->kind == ERR_DB_DOWN && why->code[0] == '\0'); /* its socket is not there yet */
}

/* A server that runs may still be starting: the command that started it was killed. */
static enum rc open_started(const struct private_server *server, const char *data,
                            const char *conninfo, struct db **ret_db, struct err *err)
{
    for (int64_t until = clock_boot_us() + START_US;;) {
        enum rc rc = db_open(conninfo, DB_CLI, ret_db, err);
        if (rc != RC_OK && sqlstate_is(err, SQLSTATE_INVALID_CATALOG_NAME)) /* it was dropped */
            utf8_format(err->hint, sizeof err->hint,
                        "To make it again: %.200s/createdb -h '%.200s' -U lockstep lockstep",
                        server->bin, server->dir);
        if (rc == RC_OK || !may_be_starting(err) || clock_boot_us() > until || !is_running(data))
            return rc;
        (void)nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
}

/* The console and the printed connection string must find a current schema. */
static enum rc bring_up_to_date(const struct private_server *server, char *data,
                                const char *conninfo, struct err *err)
{
    struct db *db = NULL;
    int applied = 0;
    enum rc rc = open_started(server, data, conninfo, &db, err);
    if (rc == RC_OK)
        rc = migrate_up(db, false, NULL, &applied, err);
    db_close(db);
    return rc;
}

static enum rc start_console(struct cli *cli, const struct private_server *server,
                             const char *conninfo, struct err *err)
{
    STR_AUTO url = {0};
    const struct dev_console options = {
        .dir = server->dir, .conninfo = conninfo, .become = become_user, .context = server};
    enum rc rc = dev_console_start(&options, &url, err);
    if (rc == RC_OK)
        cli_say(cli,
                "lockstep: the console is at %s\n"
                "lockstep: every user of this host is an operator there; without it: lockstep dev "
                "up --no-console\n",
                url.data);
    return rc;
}

/* stdout has the connection string alone, so that a script can use it; it is printed after the
 * migration, when it works. */
enum rc command_dev_up(struct cli *cli, struct err *err)
{
    struct private_server server = {0};
    STR_AUTO conninfo = {0};
    char data[PATH_MAX];
    enum rc rc = choose(cli, &server, err);
    (void)snprintf(data, sizeof data, "%s/data", server.dir);
    if (rc == RC_OK)
        rc = dev_bin_find(data, server.bin, sizeof server.bin, err);
    if (rc == RC_OK)
        rc = make_dir(&server, err);
    if (rc == RC_OK)
        rc = check_reach(&server, err);
    if (rc == RC_OK)
        rc = lock(cli, &server, err);
    if (rc != RC_OK)
        return rc;
    str_format(&conninfo, "host=%s user=lockstep dbname=lockstep", server.dir);
    if (!is_running(data))
        rc = start(&server, data, err);
    if (rc == RC_OK)
        rc = bring_up_to_date(&server, data, conninfo.data, err);
    if (rc != RC_OK)
        return rc;
    (void)printf("%s\n", conninfo.data);
    cli_say(cli,
            "lockstep: a private PostgreSQL with the schema lockstep runs in %s; next: lockstep "
            "dev broker --topic NAME; lockstep dev down%s%s stops it\n",
            server.dir, cli_has(cli, "dir") ? " --dir " : "",
            cli_has(cli, "dir") ? cli_text(cli, "dir") : "");
    rc = cli_has(cli, "no-console") ? RC_OK : start_console(cli, &server, conninfo.data, err);
    return rc == RC_OK ? table_check(stdout, err) : rc;
}

enum rc command_dev_down(struct cli *cli, struct err *err)
{
    struct private_server server = {0};
    char data[PATH_MAX];
    bool killed;
    enum rc rc = choose(cli, &server, err);
    if (rc != RC_OK)
        return rc;
    if (access(server.dir, F_OK) == 0)
        rc = lock(cli, &server, err);
    if (rc != RC_OK)
        return rc;
    (void)snprintf(data, sizeof data, "%s/data", server.dir);
    if (dev_console_stop(server.dir, &killed) && killed)
        cli_say(cli, "lockstep: the console did not end within 10 s, and was killed\n");
    if (!is_running(data)) {
        cli_say(cli, "lockstep: nothing runs in %s\n", server.dir);
        return RC_OK;
    }
    /* Each pg_ctl can stop it, also when the one that started it was removed. */
    rc = dev_bin_find(data, server.bin, sizeof server.bin, err);
    if (rc != RC_OK)
        rc = dev_bin_find(server.dir, server.bin, sizeof server.bin, err);
    if (rc != RC_OK)
        return rc;
    char *stop[] = {(char[]){"pg_ctl"}, (char[]){"-D"},   data, (char[]){"-m"}, (char[]){"fast"},
                    (char[]){"-w"},     (char[]){"stop"}, NULL};
    const struct program program = {.path = "pg_ctl", .arguments = stop};
    int code = run_program(&server, &program);
    if (code != 0)
        return program_failed(&server, "pg_ctl", code, err);
    cli_say(cli, "lockstep: stopped; the data stays in %s\n", data);
    return RC_OK;
}
