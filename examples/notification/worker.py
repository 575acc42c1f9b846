#!/usr/bin/python3
"""worker.py CONNINFO QUEUE OUTBOX: renders, sends and confirms notifications as they come.

Debian: python3-psycopg (psycopg 3). Each step is reported, so that an attempt that fails goes on at the step that failed. What stands
in for a mail server is the file OUTBOX; it fails once for each address on .org, to show a retry.
"""
import os
import select
import socket
import sys

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb


class Stale(Exception):
    """The task is no longer ours: its lease ran out, or an operator has ended it."""


class Task:
    def __init__(self, connection, row):
        self.connection, self.row, self.token = connection, row, row["updated_at"]

    def report(self, status, step=None, response=None, error=None):
        """One transaction: what this worker wrote since the last report, and the report."""
        try:
            answer = self.connection.execute("SELECT updated_at FROM lockstep.modify_task(%s, %s, %s, %s, %s, %s)",
                                             (self.row["task_id"], self.token, status, step, response, error))
            token = answer.fetchone()["updated_at"]
            self.connection.commit()
            self.token = token
        except psycopg.Error as failure:
            self.connection.rollback()
            if failure.sqlstate == "LS001":
                raise Stale(str(failure)) from failure
            raise

    def write(self, statement, *values):
        self.connection.execute(statement, values)

    def view(self):
        return self.connection.execute("SELECT * FROM notification.notification_worker WHERE task_id = %s",
                                       (self.row["task_id"],)).fetchone()


def send(outbox, channel, address, text, attempt):
    if channel == "email" and attempt == 1:
        raise OSError("451 try again later")
    with open(outbox, "a", encoding="utf-8") as file:
        file.write(f"{channel} {address}: {text}\n")


def work(task, outbox):
    """render, send, confirm; step is the last one that is done."""
    done, attempt = task.row["step"], task.row["attempt_num"]
    if done is None:
        task.write("SELECT notification.enter(%s, %s)", task.row["task_id"],
                   Jsonb(task.row["payload"]["input"]))
        task.write("UPDATE notification.notification SET rendered = template || '!' WHERE task_id = %s", task.row["task_id"])
        task.report("Processing", "render")
        done = "render"
    if done == "render":
        view = task.view()
        if view is None:
            raise KeyError("its row in notification.notification is gone")
        for channel, address in (("email", view["address"]), ("sms", view["number"])):
            if address is not None and view[channel + "_sent_at"] is None:
                send(outbox, channel, address, view["rendered"], attempt)
                task.write(f"UPDATE notification.{channel} SET sent_at = now() WHERE task_id = %s", task.row["task_id"])
                task.report("Processing")  # still at the same step: this much is not sent again
        task.report("Processing", "send")
    task.write("UPDATE notification.notification SET confirmed_at = now() WHERE task_id = %s", task.row["task_id"])
    task.report("Completed", "confirm", response="confirmed")


def main():
    conninfo, queue, outbox = sys.argv[1:]
    name = f"{socket.gethostname()}/{os.getpid()} python"
    connection = psycopg.connect(conninfo, application_name="notification worker", row_factory=dict_row)
    connection.execute("LISTEN lockstep_external")
    connection.commit()
    while True:
        row = connection.execute("SELECT * FROM lockstep.next_task(%s, %s, ARRAY['notification'])", (queue, name)).fetchone()
        connection.commit()  # it is ours from here on
        if row is None:
            select.select([connection], [], [], 0.5)  # something new, or an attempt is due: what it was, next_task tells
            continue
        task = Task(connection, row)
        try:
            try:
                work(task, outbox)
                print(f"{row['name']}: confirmed", flush=True)
            except OSError as failure:
                connection.rollback()
                task.report("Error", error=str(failure))
                print(f"{row['name']}: {failure}", flush=True)
            except (KeyError, psycopg.DataError, psycopg.IntegrityError) as failure:  # its message lacks something: no
                connection.rollback()  # attempt would end better, and the next task may be a good one
                task.report("Failed", error=f"{type(failure).__name__}: {failure}")
                print(f"{row['name']}: failed, {failure}", flush=True)
        except Stale as stale:  # the report of a failure may come too late, too
            print(f"{row['name']}: {stale}", flush=True)


if __name__ == "__main__":
    main()
