-- How many tasks a phase has is asked for by whoever plans a look at one, and ANALYZE answers with the average of those before it: behind
-- a run of ten million tasks in a phase it is ten million, until a twentieth of the table is new. Then the end of each run, each barrier
-- read all of the table. What is looked at is small as a rule, and where it is not, its index is the right way all the same.
ALTER TABLE lockstep.task ALTER COLUMN phase_id SET (n_distinct = -0.01); -- a hundred tasks in each
