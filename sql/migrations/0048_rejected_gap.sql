-- What may account for a gap in a run is found by lockstep.claim without reading all that was rejected: what names no run, and the run's own.
CREATE INDEX rejected_loose ON lockstep.rejected_message (queue_id, epoch, kafka_offset) WHERE run_no IS NULL;
CREATE INDEX rejected_of_run ON lockstep.rejected_message (run_no, kafka_offset) WHERE run_no IS NOT NULL;
DROP INDEX lockstep.rejected_run;
