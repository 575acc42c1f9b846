-- console_begin :none  a transaction of the API's begins
BEGIN;
