-- Whether a notice is being sent until due_at, or waits until then. One that waits may be tried earlier, or dropped.
ALTER TABLE lockstep.job_notice ADD COLUMN is_claimed boolean NOT NULL DEFAULT false;
