-- A run whose end never comes is closed by an operator (lockstep.run_end): who. No record of the topic stands for such an end.
ALTER TABLE lockstep.run ADD COLUMN closed_by text;
INSERT INTO lockstep.event_type (event, about, meaning) VALUES
    ('run_closed', 'run', 'by an operator, because its end never came; it ends when its tasks are finished');

-- What helps is a command that is taken as it is printed, in the situation that it is printed for.
UPDATE lockstep.wait_reason SET helps = 'Nothing has to be done.' WHERE reason = 'run_ended';
UPDATE lockstep.wait_reason SET meaning = 'its producer is at work',
    helps = 'Wait for its producer, or: lockstep run cancel RUN' WHERE reason = 'run_publishing';
UPDATE lockstep.wait_reason SET meaning = 'its tasks are finished, and its end has not come',
    helps = 'If no more of it will come: lockstep run end RUN' WHERE reason = 'run_end_missing';
INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('run_retryable', 'it is over, and some of it failed or was cancelled',
     'lockstep run retry RUN'),
    ('run_incomplete', 'it is over, and something of it is missing or was refused',
     'Publish the work again as another run. What was refused: lockstep rejected list --queue QUEUE'),
    ('run_abandoned', 'its producer is gone and has not finished',
     'To go on with it: lockstep publish --queue QUEUE --resume RUN. To close it: lockstep run end RUN'),
    ('run_end_unclaimed', 'its end is still on the topic',
     'Nothing: it ends when its end is claimed; lockstep queue explain QUEUE'),
    ('run_before_endless', 'the runs of the queue are serial, and the end of the one before has not come',
     'If no more of it will come: lockstep run end OTHER'),
    ('run_before_stopping', 'the runs of the queue are serial, and the one before is cancelled',
     'Nothing: it ends when what runs of it has stopped');
