-- reader_commit_and_chain :none  ends a task's transaction and opens that of the next one
COMMIT AND CHAIN;
