-- reader_begin :none  opens the transaction of the first task that is sent ahead
BEGIN;
