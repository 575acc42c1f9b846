-- console_commit :none  and is done
COMMIT;
