-- job_apply :many  makes jobs what list $1 from file $2 declares; $3 only tells, $4 prunes, $5 overwrites what was changed by hand
-- columns: job, action, detail
SELECT a.job, a.action, a.detail FROM lockstep.job_apply($1::jsonb, $2::text, $3::boolean, $4::boolean, $5::boolean) AS a;
