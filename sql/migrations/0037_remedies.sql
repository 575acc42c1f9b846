-- Remedies are commands that are taken as they are printed: with the queue's name and an offset that is one, each ended by the text's end or by
-- one of . , ; and a space.
UPDATE lockstep.halt_reason h SET remedy = v.remedy
FROM (VALUES
    ('topic_deleted', 'Make the topic again with one partition, then: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('topic_replaced', 'To read the new topic from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('fingerprint', 'To read the topic as it is now from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('retention', 'Publish the lost runs again. To go on with what is left: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('truncated', 'Look for runs that were claimed in part. To go on from the log''s end: lockstep queue resume QUEUE --accept-topic --from-offset latest'),
    ('other_cluster', 'If the brokers were named wrongly, name the right ones, then: lockstep queue resume QUEUE. If the topic moved here with its offsets: '
                      'lockstep queue resume QUEUE --accept-topic. If it begins here: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
    ('corrupt', 'Restore it from a replica, then: lockstep queue resume QUEUE. To give up what is not claimed yet: lockstep queue resume QUEUE --accept-topic --from-offset latest'),
    ('unknown_run', 'Publish that run again as another run. To record it as failed and go on behind it: lockstep queue resume QUEUE --accept-topic')) AS v (reason, remedy)
WHERE v.reason = h.reason;
UPDATE lockstep.wait_reason w SET helps = v.helps
FROM (VALUES
    ('executors_without_readers', 'lockstep executor set EXECUTOR --readers 1'),
    ('no_readers', 'lockstep queue set QUEUE --max-readers 1'),
    ('readers_busy', 'Wait for a task to finish. To let more run at once: lockstep queue set QUEUE --max-readers MORE. To see what runs: lockstep task list --queue QUEUE --status Processing'),
    ('lookahead', 'Nothing: it goes on when the next phase opens. To claim more ahead: lockstep queue set QUEUE --lookahead FARTHER'),
    ('run_end_unclaimed', 'Nothing: it ends when its end is claimed. What keeps that: lockstep queue explain QUEUE'),
    ('run_paused_by_failure', 'To try it again: lockstep run retry RUN. To go on without it: lockstep run resume RUN. To give the run up: lockstep run cancel RUN'),
    ('run_replay', 'To go on with one that was interrupted: lockstep replay --queue QUEUE --resume REPLAY. To give it up: lockstep replay --queue QUEUE --abandon REPLAY'),
    ('task_running', 'To stop it: lockstep task cancel TASK'),
    ('task_retry_later', 'To try it now: lockstep task retry TASK. To give it up: lockstep task fail TASK. To declare it done: lockstep task complete TASK'),
    ('task_unowned', 'An executor that has a free reader takes it within a second or two. If none does: lockstep queue explain QUEUE'),
    ('task_offered', 'Start a worker that calls lockstep.next_task(''QUEUE'', ...), see docs/EXTERNAL.md. To end it by hand: lockstep task complete TASK, or lockstep task fail TASK'),
    ('task_with_worker', 'Wait for its report or for the end of its lease. To end it, whoever has it: lockstep task cancel TASK'),
    ('task_finished', 'Nothing has to be done.')) AS v (reason, helps)
WHERE v.reason = w.reason;
INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('task_retryable', 'it is over, and is not done',
     'lockstep task retry TASK');
