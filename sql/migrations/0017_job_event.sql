-- The log of jobs names what the monitor finds late and stuck.
ALTER TABLE lockstep.job_event DROP CONSTRAINT job_event_event;
ALTER TABLE lockstep.job_event ADD CONSTRAINT job_event_event
    CHECK (event IN ('fired', 'skipped', 'missed', 'completed', 'error', 'zombie', 'changed', 'alert', 'recovered', 'late', 'stuck'));
