-- reader_reset_role :none  behind a task that may have set its role: what records it is called as the executor's own
RESET ROLE;
