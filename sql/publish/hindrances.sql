-- publish_hindrances :many  what keeps a run that is published to queue $1 from being run: a sentence, and what helps
-- columns: sentence, helps
SELECT sentence, helps FROM lockstep.publish_hindrances($1::int);
