-- Locks of phases are taken for the transaction and kept as the last thing that a statement does (lock_intent_xact, keep_intent, ...).
DROP FUNCTION IF EXISTS lockstep.lock_intent_try(bigint);
