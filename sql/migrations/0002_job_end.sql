-- Ends of a job that a schedule of the kind "after" has yet to decide, behind the one that is its next_at: each is an occurrence of its own.
CREATE TABLE lockstep.job_end (
    job_end_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id int NOT NULL REFERENCES lockstep.schedule ON DELETE CASCADE,
    scheduled_for timestamptz NOT NULL,
    wake_at timestamptz NOT NULL,
    UNIQUE (schedule_id, scheduled_for)
);
