-- reader_reset_role :none  behind a task that may have set its role: the functions that record the attempt are called
-- in the executor's own role
RESET ROLE;
