-- publish_read_fetch :many  the next rows of staged work; its columns are the query's
FETCH FORWARD 1000 FROM lockstep_staged;
