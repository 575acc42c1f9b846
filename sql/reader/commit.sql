-- reader_commit :none  ends the transaction of the last task that is sent ahead
COMMIT;
