-- run_pulse :maybe  a text that changes whenever run $1 makes progress, no matter how
-- columns: pulse
SELECT concat_ws('/', r.status, r.first_offset, r.next_seq, r.tasks, r.phases, count(p.done_at), count(p.opened_at),
                 (SELECT concat_ws('/', count(*) FILTER (WHERE lockstep.is_finished(t.status)), sum(t.attempt_num))
                  FROM lockstep.task t
                  WHERE t.phase_id = ANY (array_agg(p.phase_id) FILTER (
                                              WHERE p.opened_at IS NOT NULL AND p.done_at IS NULL)))) AS pulse
FROM lockstep.run r
LEFT JOIN lockstep.phase p USING (run_no)
WHERE r.run_no = $1::bigint
GROUP BY r.run_no;
