-- Watches: jobs that are done elsewhere and report in.
ALTER TABLE lockstep.job ALTER COLUMN queue_id DROP NOT NULL, ADD COLUMN is_watch boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT job_queue CHECK (is_watch = (queue_id IS NULL));
