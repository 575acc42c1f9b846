-- It has another parameter, and returns a row for each firing.
DROP FUNCTION IF EXISTS lockstep.dispatch(text, timestamptz, boolean);
