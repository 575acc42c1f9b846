-- executor_locks_settle :many  a statement failed: keeps S of phases $1 and IX of phases $2, no other lock of a phase,
-- and answers which of them this session lacks: sql/functions/lock/locks_settle.sql
-- columns: phase_id, shared
SELECT s.phase_id, s.shared FROM lockstep.locks_settle(p_shared => $1::bigint[], p_intents => $2::bigint[]) AS s;
