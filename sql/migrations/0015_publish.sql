-- What a publish that was broken off needs to be resumed: how and from what the run was published, and a digest of its records
-- that are surely on the topic, so that a source that gives others is refused. publish_mode NULL: not begun by lockstep publish.
ALTER TABLE lockstep.run
    ADD COLUMN publish_mode text CHECK (publish_mode IN ('finite', 'stream')),
    ADD COLUMN publish_from text CHECK (publish_from IN ('file', 'pipe', 'query')),
    ADD COLUMN publish_source text,        -- the file's absolute path or the query; NULL: a pipe
    ADD COLUMN publish_format text CHECK (publish_format IN ('jsonl', 'csv')),
    ADD COLUMN publish_bytes bigint,       -- so many bytes of the file publish_digest is of
    ADD COLUMN publish_chain text,         -- of the records 0 to publish_acked_seq, each with the digest of those before it
    ADD COLUMN publish_error text;         -- why its producer, or the next one, ended it before all of it was published
