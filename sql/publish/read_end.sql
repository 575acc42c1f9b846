-- publish_read_end :none  closes the cursor and the transaction of the query
ROLLBACK;
