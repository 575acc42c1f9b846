-- view_check_list :many  what is wrong with the installation, as far as the database knows it
-- columns: subject, grade, finding, hint
-- words of grade: ok, warn, FAIL
SELECT c.subject, c.grade, c.finding, c.hint FROM lockstep.check_list() AS c ORDER BY c.no, c.subject, c.finding;
