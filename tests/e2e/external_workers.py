#!/usr/bin/python3
"""external_workers.py CONNINFO QUEUE SEED COUNT: COUNT workers side by side, each a process, until standard input ends.

They behave as workers do on bad days: they fail, give back, report steps, take their time, extend, die in the middle of a
transaction, or come back after their lease. The effect of a task is a row in the table effect, written in the transaction that
reports it as Completed. At the end: what they did, one word and its number a line.
"""
import collections
import multiprocessing
import random
import sys
import time

import psycopg

MOODS = ("well", "one_transaction", "steps", "fails", "gives_back", "dies_taking", "dies_reporting", "late", "twice")
WEIGHTS = (40, 15, 10, 10, 5, 5, 5, 4, 6)


class Died(Exception):
    """The worker's session ends without a word; another one takes its place."""


def modify(db, task, status, **more):
    names = "".join(f", {name} => %s" for name in more)
    row = db.execute(f"SELECT updated_at FROM lockstep.modify_task(%s, %s, %s{names})",
                     (task["id"], task["token"], status, *more.values())).fetchone()
    task["token"] = row[0]


def complete(db, task, **more):
    db.execute("INSERT INTO effect VALUES (%s)", (task["id"],))
    modify(db, task, "Completed", **more)


def one(db, queue, name, dice):
    """Takes one task and does something with it; the word for it, None if there was none."""
    row = db.execute("SELECT task_id, updated_at, step FROM lockstep.next_task(%s, %s)", (queue, name)).fetchone()
    if row is None:
        db.commit()
        return None
    task = dict(zip(("id", "token", "step"), row))
    mood = dice.choices(MOODS, WEIGHTS)[0]
    if mood == "dies_taking":
        raise Died(mood)
    if mood != "one_transaction":
        db.commit()  # it is ours from here on
    time.sleep(dice.random() * 0.02)
    if mood == "fails":
        modify(db, task, "Error", error="a bad day", scheduled_for=None)
    elif mood == "gives_back":
        modify(db, task, "Pending")
    elif mood == "steps":
        if task["step"] is None:
            modify(db, task, "Processing", step="half")
            db.commit()
            if dice.random() < 0.5:
                modify(db, task, "Error")  # the next attempt finds the step
                db.commit()
                return mood
        task["token"] = db.execute("SELECT lockstep.extend_task(%s, %s, '1 min')", (task["id"], task["token"])).fetchone()[0]
        db.commit()
        complete(db, task)
    elif mood == "dies_reporting":
        complete(db, task)
        raise Died(mood)
    elif mood == "late":
        time.sleep(1.3)  # the lease is a second
        complete(db, task)
    elif mood == "twice":
        first = dict(task)
        complete(db, task)
        db.commit()
        complete(db, first)  # the same report once more is stale
    else:
        complete(db, task)
    db.commit()
    return mood


def work(conninfo, queue, seed, number, stop, answers):
    dice = random.Random(seed * 1000 + number)
    did = collections.Counter()
    db = psycopg.connect(conninfo)
    while not stop.is_set():
        try:
            word = one(db, queue, f"w{number}", dice)
            did[word or "idle"] += 1
            if word is None:
                time.sleep(0.01)
        except Died as died:
            db.close()  # nothing of it was committed
            did[str(died)] += 1
            db = psycopg.connect(conninfo)
        except psycopg.Error as failure:
            db.rollback()
            did[failure.sqlstate or "lost"] += 1
            if failure.sqlstate not in ("LS001", "LS002"):
                print(f"w{number}: {failure.sqlstate} {failure}", file=sys.stderr, flush=True)
    answers.put(did)


def main():
    conninfo, queue, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    stop, answers = multiprocessing.Event(), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(conninfo, queue, seed, n, stop, answers)) for n in range(count)]
    for worker in workers:
        worker.start()
    sys.stdin.read()
    stop.set()
    did = sum((answers.get() for _ in workers), collections.Counter())
    for worker in workers:
        worker.join()
    for word, number in sorted(did.items()):
        print(word, number)


if __name__ == "__main__":
    main()
