-- Which attempts count as lost. An executor may die before the row shows that an attempt has begun, which is written for long ones only.
-- Such an attempt is in doubt and does not count. So that a task that ends its server or its executor at once comes to an end all the same,
-- its next attempt is made alone, and is shown, durably, before it runs. A NULL costs a row nothing.
ALTER TABLE lockstep.task ADD COLUMN doubted boolean;
-- They have a column and a parameter more; the functions are applied after this.
DROP FUNCTION IF EXISTS lockstep.adopt(int, int, int, bigint[], bigint[]);
DROP FUNCTION IF EXISTS lockstep.lose(int, bigint[], uuid[], text);
