-- job_show :maybe  job $1
-- columns: job, queue, mode, enabled, next_at, last_scheduled, last_outcome, last_status, open_run, overlap, version,
--          drifted, file, changed_at, changed_by, description, spec
SELECT s.job, s.queue, s.mode, s.enabled, s.next_at, s.last_scheduled, s.last_outcome, s.last_status, s.open_run,
       s.overlap, s.version, s.drifted, s.file, s.changed_at, s.changed_by, s.description, j.spec
FROM lockstep.job_status s JOIN lockstep.job j ON j.name = s.job WHERE s.job = $1::text;
