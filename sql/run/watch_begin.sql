-- run_watch_begin :none  one snapshot for the statements that follow
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
