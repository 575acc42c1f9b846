/* The table of all settings: name, type, default, bounds and meaning. The reader, the help and
 * docs/reference/configuration.md are made from it, so a setting that is not here does not exist. A
 * row is section, key, type, default, unit of a bare number, words, least, most, meaning; a section
 * with a colon has a name behind it, and a key with a star is any name. Bounds of durations are
 * milliseconds, those of sizes bytes. */
#include "config/config.h"
#include "config/key.h"

#include <limits.h>

#define PG(key, meaning)                                                                           \
    {                                                                                              \
        "postgres", key, CONFIG_TEXT, NULL, "", NULL, 0, 0, meaning                                \
    }

/* The one place that has the names. Bounds exclude values that only a mistake can have. */
static const struct config_key keys[] = {
    {"postgres", "conninfo", CONFIG_CONNINFO, NULL, "", NULL, 0, 0,
     "connection string or URI of the database that holds the schema lockstep; empty: libpq's own "
     "defaults"},
    {"postgres", "task_conninfo", CONFIG_CONNINFO, NULL, "", NULL, 0, 0,
     "the login that runs the tasks' SQL, a member of lockstep_task; without it conninfo "
     "is used"},
    /* Keywords of libpq (manual, 34.1.2), which get into the connection string as they are
     * (conninfo.c): libpq checks their values when a session is opened. */
    PG("service", "a section of pg_service.conf"),
    PG("host", "name, address or directory of the socket; several with commas"),
    PG("hostaddr", "address, to save the name look-up"),
    PG("port", "port; several with commas"),
    PG("dbname", "name of the database"),
    PG("user", "login role"),
    {"postgres", "password", CONFIG_SECRET, NULL, "", NULL, 0, 0,
     "password; better kept in passfile"},
    PG("passfile", "file with passwords, instead of ~/.pgpass"),
    PG("require_auth", "authentication methods to accept (libpq 16)"),
    PG("channel_binding", "disable, prefer or require"),
    PG("connect_timeout", "seconds"),
    PG("options", "command-line options for the server's session"),
    PG("target_session_attrs", "read-write finds the primary among several hosts"),
    PG("sslmode", "disable, allow, prefer, require, verify-ca or verify-full"),
    PG("sslrootcert", "file with the certificate authorities"),
    PG("sslcert", "file with the client's certificate"),
    PG("sslkey", "file with the client's key"),
    {"postgres", "sslpassword", CONFIG_SECRET, NULL, "", NULL, 0, 0,
     "password of the client's key"},
    PG("sslcrl", "file with revoked certificates"),
    PG("ssl_min_protocol_version", "TLSv1.2 or TLSv1.3"),
    PG("gssencmode", "disable, prefer or require"),
    PG("krbsrvname", "Kerberos service name"),
    /* librdkafka checks names and values itself (kafka/properties.c). */
    {"kafka", "*", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "any librdkafka property as it is; bootstrap.servers is needed"},
    /* Defaults of `queue create`, which writes them into the queue's row: a later change here does
     * not change a queue. keep_* are read by executors while they run. */
    {"queue:", "topic", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "`queue create`: the topic; the queue's name if not given"},
    {"queue:", "partition", CONFIG_INT, "0", "", NULL, 0, INT_MAX, "`queue create`: the partition"},
    {"queue:", "max_readers", CONFIG_INT, "5", "", NULL, 0, 1000,
     "`queue create`: tasks running at once, over all executors"},
    {"queue:", "on_failure", CONFIG_CHOICE, "stop", "", "stop|continue|pause", 0, 0,
     "`queue create`: the effect of a finally failed task on its run"},
    {"queue:", "runs", CONFIG_CHOICE, "serial", "", "serial|concurrent", 0, 0,
     "`queue create`: order between runs"},
    {"queue:", "max_attempts", CONFIG_INT, NULL, "", NULL, 1, 1000,
     "`queue create`: attempts of a task that names no number; without it the executors' setting"},
    {"queue:", "retry_intervals", CONFIG_LIST, "1", "", NULL, 0, 0,
     "`queue create`: seconds until the next attempt; the last repeats"},
    /* Not retried by default: a feature that is not supported (0A), a login that is refused (28), a
     * database or schema that does not exist (3D, 3F), and wrong syntax, unknown names or missing
     * rights (42). These errors come again the next time. */
    {"queue:", "retry_on", CONFIG_LIST, "all,-0A,-28,-3D,-3F,-42", "", NULL, 0, 0,
     "`queue create`: which errors are tried again: SQLSTATE classes or codes, all; -: not"},
    {"queue:", "lookahead", CONFIG_INT, "8", "", NULL, 1, 1000,
     "`queue create`: phases claimed beyond the open one"},
    {"queue:", "dead_letters", CONFIG_CHOICE, "on", "", "on|off", 0, 0,
     "`queue create`: rejected messages go to the topic <topic>.rejected, too"},
    {"queue:", "external_lease", CONFIG_DURATION, "5min", "s", NULL, 1000, 3600000000,
     "`queue create`: how long a worker of an external task may be silent"},
    {"queue:", "events", CONFIG_CHOICE, "off", "", "on|off", 0, 0,
     "`queue create`: publish the events of runs and phases on the topic <topic>.events"},
    {"queue:", "keep_runs", CONFIG_INT, NULL, "", NULL, 1, 1000000,
     "executors: keep the tasks of the newest ended runs, so many; neither this nor the next two: "
     "keep all"},
    {"queue:", "keep_days", CONFIG_INT, NULL, "", NULL, 1, 36500,
     "executors: keep the tasks of runs that ended in the last days, so many"},
    {"queue:", "keep_failed_days", CONFIG_INT, NULL, "", NULL, 1, 36500,
     "executors: keep the tasks of runs that did not complete for so many days"},
    {"executor", "readers", CONFIG_INT, "5", "", NULL, 1, 1000,
     "reader threads, each with a connection of its own"},
    {"executor", "max_attempts", CONFIG_INT, "3", "", NULL, 1, 1000,
     "attempts of a task of which neither its message nor its queue names a number. The same for "
     "all executors of a queue"},
    {"executor", "sweep_interval", CONFIG_DURATION, "1min", "s", NULL, 100, 86400000,
     "how often retention looks for rows that a queue does not keep any more"},
    {"executor", "drain_timeout", CONFIG_DURATION, "30s", "s", NULL, 0, 86400000,
     "how long running tasks may continue after SIGTERM"},
    /* T2 and its parts. frozen_after is T2; an executor must notice its own silence (T1, half of
     * T2) and miss a beat or two before others take its tasks. */
    {"executor", "heartbeat", CONFIG_DURATION, "1s", "ms", NULL, 100, 4000,
     "interval of the heartbeat while work is owned; at most a quarter of frozen_after"},
    {"executor", "frozen_after", CONFIG_DURATION, "10s", "s", NULL, 2000, 600000,
     "an executor whose heartbeat stands still for so long is ended by the others; after half of "
     "it "
     "without an answer from the database an executor ends its tasks itself. The same for all "
     "executors of a queue"},
    {"scheduler", "enabled", CONFIG_CHOICE, "on", "", "on|off", 0, 0,
     "executors fire jobs at their times, one of them at a time"},
    {"scheduler", "keep_log", CONFIG_DURATION, "30d", "s", NULL, 3600000, 315360000000,
     "how long the log of jobs is kept. The same for all executors"},
    {"monitor", "every", CONFIG_DURATION, "30s", "s", NULL, 100, 3600000,
     "`monitor run`: how often it looks at all jobs"},
    {"metrics", "listen", CONFIG_TEXT, "off", "", NULL, 0, 0,
     "daemons: where /metrics, /livez and /readyz are answered: off, a port of this host, "
     "HOST:PORT, "
     "[IPV6]:PORT, the path of a Unix socket, or systemd"},
    {"alert:", "command", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "`monitor run`: the command of [commands] that is run for each notice, with a JSON "
     "document as its input; or"},
    {"alert:", "url", CONFIG_URL, NULL, "", NULL, 0, 0,
     "the URL to which the document is posted; [http] allow must have its host"},
    {"alert:", "jobs", CONFIG_LIST, "*", "", NULL, 0, 0,
     "of which jobs: names, with * for any text and commas between"},
    {"alert:", "kinds", CONFIG_LIST, NULL, "", NULL, 0, 0,
     "which kinds of alerts: missed, stuck, failed, late, never, blocked, absent; all if empty"},
    {"alert:", "hold", CONFIG_DURATION, "0s", "s", NULL, 0, 86400000,
     "an alert that ends within so long is not sent; absent always is"},
    {"alert:", "remind_every", CONFIG_TEXT, "off", "", NULL, 0, 0,
     "how often an alert that is open and not acknowledged is sent again: off, or a time"},
    {"alert:", "timeout", CONFIG_DURATION, "30s", "s", NULL, 100, 3600000,
     "how long an attempt may take; then it has failed"},
    /* No shell, so that no text of a message is ever interpreted as a command line. */
    {"commands", "*", CONFIG_PROGRAM, NULL, "", NULL, 0, 0,
     "name = absolute program and fixed arguments: the programs of tasks of type command; quotes "
     "keep "
     "white space, there is no shell"},
    {"command:", "user", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "the user that it runs as, with that user's groups; the executor must be root for it"},
    {"command:", "directory", CONFIG_TEXT, "/", "", NULL, 0, 0, "its working directory"},
    {"command:", "path", CONFIG_TEXT, "/usr/local/bin:/usr/bin:/bin", "", NULL, 0, 0,
     "PATH in its environment"},
    {"command:", "kill_after", CONFIG_DURATION, "5s", "s", NULL, 0, 86400000,
     "how long it may continue after SIGTERM, at a time-out or a cancel"},
    /* At most 16 MB: the response is kept in the task's row, and in the memory of reader and
     * runner. */
    {"command:", "output_limit", CONFIG_SIZE, "64kB", "B", NULL, 0, 16777216,
     "how much of its standard output is kept as the response"},
    /* Limits of setrlimit(2): each process of the command has them for itself, but for processes,
     * which counts those of the user. Empty: the command has the limits of its executor. */
    {"command:", "cpu_limit", CONFIG_DURATION, NULL, "s", NULL, 1000, 2147483000,
     "processor time, in whole seconds"},
    {"command:", "memory_limit", CONFIG_SIZE, NULL, "B", NULL, 1048576, INT64_MAX,
     "address space of each of its processes"},
    {"command:", "open_files", CONFIG_INT, "1024", "", NULL, 8, 1048576,
     "open files of each of its processes"},
    {"command:", "processes", CONFIG_INT, NULL, "", NULL, 1, 4194304,
     "processes that its user may have at all, others than this command's counted, too; not for "
     "root"},
    {"command:", "file_limit", CONFIG_SIZE, NULL, "B", NULL, 0, INT64_MAX,
     "largest file that it may write"},
    {"command:", "env.*", CONFIG_SECRET, NULL, "", NULL, 0, 0,
     "env.NAME = value: a variable of its environment, kept secret"},
    {"http", "allow", CONFIG_LIST, "", "", NULL, 0, 0,
     "hosts that tasks of type http may call: host, host:port, host:*, *.example.com; none if "
     "empty"},
    {"http", "connect_timeout", CONFIG_DURATION, "10s", "s", NULL, 1, 3600000,
     "for the connection"},
    {"http", "timeout", CONFIG_DURATION, "1min", "s", NULL, 1, 86400000,
     "for a whole request of a task that has no timeout of its own"},
    {"http", "response_limit", CONFIG_SIZE, "64kB", "B", NULL, 0, 16777216,
     "how much of an answer's body is kept as the response"},
    {"http", "ca_file", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "file with certificate authorities, instead of the system's"},
    {"http", "proxy", CONFIG_URL, NULL, "", NULL, 0, 0,
     "proxy for all requests; proxy variables of the environment are not looked at"},
    {"http:", "header.*", CONFIG_SECRET, NULL, "", NULL, 0, 0,
     "header.NAME = value: a header that requests to this host have, kept secret; it replaces one "
     "of the same name in a message"},
    {"http:", "plain", CONFIG_BOOL, "off", "", NULL, 0, 0,
     "whether these headers also go over http, without encryption; off: such a request fails"},
    {"log", "level", CONFIG_CHOICE, "info", "", "debug|info|warn|error|off", 0, 0,
     "least level that is logged"},
    {"log", "format", CONFIG_CHOICE, "text", "", "text|json", 0, 0,
     "key=value lines, or one JSON object a line"},
    /* A loopback address by default; without TLS no other address is answered (allow_plain). */
    {"console", "listen", CONFIG_TEXT, "127.0.0.1:8330", "", NULL, 0, 0,
     "`console run`: a port of this host, HOST:PORT, [IPV6]:PORT, the path of a Unix socket, or "
     "systemd"},
    {"console", "hosts", CONFIG_LIST, "", "", NULL, 0, 0,
     "names that requests may be for, other than the address and localhost: host or host:port"},
    {"console", "base_path", CONFIG_TEXT, "/", "", NULL, 0, 0,
     "where a reverse proxy has it: /lockstep/"},
    {"console", "login", CONFIG_CHOICE, "postgres", "", "postgres|none", 0, 0,
     "how people sign in: with a PostgreSQL login and its password, or not at all, which needs a "
     "loopback address"},
    {"console", "anonymous", CONFIG_CHOICE, "monitor", "", "monitor|operator", 0, 0,
     "the rights of every visitor with login = none"},
    /* Each person has a session of PostgreSQL with the rights of the login, so the bound protects
     * max_connections. */
    {"console", "sessions", CONFIG_INT, "32", "", NULL, 1, 1000,
     "people signed in at once, each with a session of PostgreSQL; of one login a quarter, but "
     "two"},
    {"console", "show_payloads", CONFIG_BOOL, "off", "", NULL, 0, 0,
     "monitors see statements and parameters of tasks, too"},
    {"console", "tls_certificate", CONFIG_TEXT, NULL, "", NULL, 0, 0,
     "PEM file with the certificate and its chain"},
    {"console", "tls_key", CONFIG_TEXT, NULL, "", NULL, 0, 0, "PEM file with its private key"},
    {"console", "allow_plain", CONFIG_BOOL, "off", "", NULL, 0, 0,
     "whether it answers without TLS at an address that others reach: behind a proxy that has it"},
    {"console", "connections", CONFIG_INT, "1024", "", NULL, 8, 100000, "connections at once"},
    {"console", "request_timeout", CONFIG_DURATION, "30s", "s", NULL, 1000, 300000,
     "a connection whose whole request has not come after so long is closed"},
    {"console", "session_idle", CONFIG_DURATION, "30min", "s", NULL, 1000, 43200000,
     "a person who has asked for nothing for so long has to sign in again"},
    {"console", "session_limit", CONFIG_DURATION, "12h", "s", NULL, 1000, 604800000,
     "a person who signed in so long ago has to sign in again"},
    {"cluster:", "conninfo", CONFIG_CONNINFO, NULL, "", NULL, 0, 0,
     "`console run`: a database that the console serves; with such sections [postgres] is none of "
     "them"},
};

const struct config_key *config_keys(int *ret_count)
{
    *ret_count = (int)(sizeof keys / sizeof keys[0]);
    return keys;
}

const char *config_type_name(enum config_type type)
{
    static const char *const names[] = {"text",  "integer", "boolean", "duration",          "size",
                                        "word",  "list",    "program", "connection string", "URL",
                                        "secret"};
    return names[type];
}
