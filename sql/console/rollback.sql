-- console_rollback :none  or undone
ROLLBACK;
