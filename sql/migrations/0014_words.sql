-- The texts of reasons and events, in the words of the glossary.
UPDATE lockstep.halt_reason h SET meaning = n.meaning FROM (VALUES
    ('topic_replaced', 'the topic''s birthmark is gone: it was deleted and created again'),
    ('fingerprint', 'another record is where the last claimed one was: the topic was created again or replaced')) AS n (reason, meaning)
WHERE h.reason = n.reason;
UPDATE lockstep.halt_reason h SET remedy = n.remedy FROM (VALUES
    ('topic_deleted', 'Create the topic again with one partition, then: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('retention', 'Publish the lost runs again. To continue with what is left: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('truncated', 'Find the runs that were claimed in part. To continue from the log''s end: lockstep queue resume QUEUE --accept-topic --from-offset latest'),
    ('kafka', 'Repair what the detail says, then: lockstep queue resume QUEUE'),
    ('unknown_run', 'Publish that run again as another run. To record it as failed and continue behind it: lockstep queue resume QUEUE --accept-topic'),
    ('rejection_refused', 'Find the constraint or trigger on lockstep.rejected_message that is not Lockstep''s, and drop it. Then: lockstep queue resume QUEUE'),
    ('other_server', 'If the connection leads to the wrong server, correct it. If this one is meant: lockstep queue resume QUEUE --accept-server')) AS n (reason, remedy)
WHERE h.reason = n.reason;
UPDATE lockstep.wait_reason w SET meaning = n.meaning FROM (VALUES
    ('executors_without_readers', 'all executors of the queue are set to use no reader'),
    ('no_executor', 'no executor works for the queue'),
    ('executor_silent', 'an executor holds its locks, and its heartbeat stands still'),
    ('nothing_waits', 'it continues'),
    ('run_replay', 'a replay is reading it')) AS n (reason, meaning)
WHERE w.reason = n.reason;
UPDATE lockstep.wait_reason w SET helps = n.helps FROM (VALUES
    ('executor_without_login', 'Let that login in (its password, NOLOGIN, pg_hba.conf, connections left): the executor on HOST continues by itself. Where its password is new: change [postgres] task_conninfo there and restart the executor'),
    ('queue_set_aside', 'Repair what the error names; the executor tries again by itself'),
    ('run_paused_by_failure', 'To try it again: lockstep run retry RUN. To continue without it: lockstep run resume RUN. To give the run up: lockstep run cancel RUN'),
    ('run_replay', 'To continue one that was interrupted: lockstep replay --queue QUEUE --resume REPLAY. To give it up: lockstep replay --queue QUEUE --abandon REPLAY'),
    ('run_abandoned', 'To continue it: lockstep publish --queue QUEUE --resume RUN. To close it: lockstep run end RUN'),
    ('lookahead', 'Nothing: it continues when the next phase opens. To claim more ahead: lockstep queue set QUEUE --lookahead FARTHER')) AS n (reason, helps)
WHERE w.reason = n.reason;
UPDATE lockstep.event_type e SET meaning = n.meaning FROM (VALUES
    ('run_reopened', 'it had ended and continues: a retry or a replay'),
    ('phase_done', 'an opened phase has no unfinished task; written when the next one opens or the run ends')) AS n (event, meaning)
WHERE e.event = n.event;
UPDATE lockstep.status_transition SET why = 'an attempt has run for 50 ms' WHERE from_status = 'Pending' AND to_status = 'Processing';
