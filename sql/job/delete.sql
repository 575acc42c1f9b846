-- job_delete :none  deletes job $1, if it is of version $2 (NULL: any)
SELECT lockstep.job_delete($1::text, $2::int);
