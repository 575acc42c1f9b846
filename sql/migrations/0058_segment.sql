-- What an executor, or a replay, sends of a topic: records that follow each other and share kind, run, order and previous order.
CREATE TYPE lockstep.segment AS (
    kind text,                -- task, end, reject: what is no message
    run uuid,                 -- NULL: of an implicit run
    implicit uuid,            -- the id of the implicit run that would begin with the first record
    "order" bigint,
    previous bigint,
    offsets bigint[],
    seqs bigint[],
    payloads text[],
    names text[],             -- of tasks, as the next two
    max_attempts int[],
    traceparents text[],
    last_timestamp bigint,    -- of the last record, as the next one: the identity of the topic
    last_digest bytea,
    reasons text[],           -- of what is no message, as the next two
    details text[],
    raws bytea[],
    -- Keys and headers are what a rejected message keeps beside its value, and a task needs none of: so a segment comes without, and is
    -- asked for again when it is to be rejected. A header is one row of the three arrays: offset of its message, name, value.
    keys bytea[],
    end_tasks bigint,         -- of an end, as the next two
    end_phases bigint,
    aborted boolean,
    header_offsets bigint[],
    header_names text[],
    header_values bytea[],
    withheld boolean,         -- there are keys or headers, and they were not sent
    special boolean           -- there may be a condition, a key or a not_before: the text is looked at for them
);
