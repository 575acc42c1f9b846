-- A remedy names a page: the page stands with the how-to pages now.
UPDATE lockstep.wait_reason SET helps = pg_catalog.replace(helps, 'docs/EXTERNAL.md', 'docs/how-to/external-workers.md')
WHERE helps LIKE '%docs/EXTERNAL.md%';
