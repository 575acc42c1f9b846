-- publish_read_begin :none  one snapshot for the whole query, and no way for it to change anything
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
