-- publish_hindrances :many  the obstacles for which a run that is published to queue $1 does not run: a sentence, and
-- the remedy
-- columns: sentence, helps
SELECT sentence, helps FROM lockstep.publish_hindrances($1::int);
