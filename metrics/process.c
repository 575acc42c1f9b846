/* The process as Prometheus' own client libraries report it, read from /proc (proc(5)), so that
 * dashboards for other programs show this one, too. A number that cannot be read is left out. */
#include "metrics/process.h"

#include "metrics/text.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void gauge(struct str *text, const char *name, double value)
{
    text_family(text, name);
    text_number(text, name, NULL, value);
}

/* A field of /proc/self/stat, counted as in proc(5); the name may have spaces. */
static bool stat_fields(double *ret_cpu_s, double *ret_started_s, double *ret_virtual,
                        double *ret_resident)
{
    char line[2048];
    FILE *file = fopen("/proc/self/stat", "re");
    if (file == NULL)
        return false;
    bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    /* The name is in parentheses and may hold any character, so the fields are counted from its
     * end. */
    char *at = read ? strrchr(line, ')') : NULL;
    if (at == NULL)
        return false;
    double fields[32] = {0}, ticks = (double)sysconf(_SC_CLK_TCK);
    int field = 3; /* the state, a letter */
    char *rest = at + 3;
    for (field = 4; field < 25 && *rest != '\0'; field++)
        fields[field] = strtod(rest, &rest);
    *ret_cpu_s = (fields[14] + fields[15]) / ticks;
    *ret_started_s = fields[22] / ticks; /* since the boot */
    *ret_virtual = fields[23];
    *ret_resident = fields[24] * (double)sysconf(_SC_PAGESIZE);
    return field == 25;
}

/* The directory is opened at the first call and stays open: when the process has run out of
 * descriptors, which is when this number matters, it could not be opened. -1: it cannot be read. */
static int descriptors(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static DIR *dir;
    int count = -1;
    (void)pthread_mutex_lock(&lock);
    if (dir == NULL)
        dir = opendir("/proc/self/fd");
    if (dir != NULL) {
        rewinddir(dir);
        count = 0;
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
            count += entry->d_name[0] != '.';
    }
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static double started_s; /* since the epoch */

/* The kernel gives the start in ticks since the boot. Both clocks are read together and once: a
 * start that moved with each correction of the clock would look like a new process. */
static void find_start(void)
{
    double cpu_s, since_boot_s, virtual, resident;
    struct timespec now, up;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    if (stat_fields(&cpu_s, &since_boot_s, &virtual, &resident))
        started_s = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9 +
                    since_boot_s;
}

int64_t process_resident_bytes(void)
{
    double cpu_s, since_boot_s, virtual, resident;
    return stat_fields(&cpu_s, &since_boot_s, &virtual, &resident) ? (int64_t)resident : 0;
}

void process_text(struct str *text)
{
    double cpu_s, since_boot_s, virtual, resident;
    struct rlimit files;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_start);
    int open_fds = descriptors();
    if (stat_fields(&cpu_s, &since_boot_s, &virtual, &resident)) {
        gauge(text, "process_cpu_seconds_total", cpu_s);
        gauge(text, "process_resident_memory_bytes", resident);
        gauge(text, "process_virtual_memory_bytes", virtual);
    }
    if (started_s > 0)
        gauge(text, "process_start_time_seconds", started_s);
    if (open_fds >= 0)
        gauge(text, "process_open_fds", open_fds);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        gauge(text, "process_max_fds", (double)files.rlim_cur);
}
