-- run_watch_end :none  the end of that snapshot
COMMIT;
