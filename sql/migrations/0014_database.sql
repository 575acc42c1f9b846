-- Which server a queue was worked on last. The row goes with the database into every copy, so a copy is noticed: there, nothing
-- of the queue runs until an operator accepts the server.
ALTER TABLE lockstep.queue
    ADD COLUMN server_system text,     -- system identifier of the cluster; NULL: not worked on yet
    ADD COLUMN server_database bigint, -- oid of the database in it
    ADD COLUMN server_timeline bigint; -- grows with every promotion and every restore
