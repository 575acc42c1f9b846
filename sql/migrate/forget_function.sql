-- migrate_forget_function :none  the function or view $1 was dropped
DELETE FROM lockstep.function_version WHERE name = $1::text;
