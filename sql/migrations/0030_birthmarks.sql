-- All birthmarks are in one group now (lockstep-birthmarks). Those of before are not in it: each queue signs its topic once more.
UPDATE lockstep.queue SET marked_at = NULL;
