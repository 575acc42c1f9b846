-- migrate_record :none  a migration is applied: version, name, checksum
INSERT INTO lockstep.migration (version, name, checksum) VALUES ($1::int, $2::text, $3::text);
