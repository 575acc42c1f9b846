-- What is hidden from a login comes behind what is seen.
UPDATE lockstep.wait_reason SET rank = 39 WHERE reason = 'sessions_hidden';
