-- Equal times of several schedules of a job are one run: what the schedules before have done is another parameter.
DROP FUNCTION IF EXISTS lockstep.job_decide(lockstep.job, lockstep.schedule, timestamptz);
-- Of what is due at the same moment the same schedule comes first, in a database that was set back, too: a run has the id of its schedule.
DROP INDEX lockstep.schedule_due;
CREATE INDEX schedule_due ON lockstep.schedule (wake_at, schedule_id) WHERE is_active AND wake_at IS NOT NULL;
