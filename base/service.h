/**
 * What: reports to the service manager that this daemon is ready, or stops: the protocol of systemd
 *   (sd_notify(3)), so a unit may have Type=notify.
 * Invariants: without NOTIFY_SOCKET in the environment nothing happens.
 * Threads: any.
 * Failure: none is reported: the manager's own time-out notices a message that is lost.
 */
#ifndef BASE_SERVICE_H
#define BASE_SERVICE_H

/** Again after each start of an incarnation: the manager ignores what it knows. */
void service_ready(void);
void service_stopping(void);

#endif
