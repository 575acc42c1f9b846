-- A rejected message keeps its headers, too. Header n has the n-th name and the n-th value; a name may come twice, a value may
-- be NULL. raw NULL is a record without a value (a tombstone), key NULL one without a key.
DROP FUNCTION IF EXISTS lockstep.claim; -- its parameters have changed; the functions are applied after this
ALTER TABLE lockstep.rejected_message ADD COLUMN header_names text[], ADD COLUMN header_values bytea[];
