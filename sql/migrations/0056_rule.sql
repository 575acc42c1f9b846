-- A rule of times in the form in which times are computed from it: lockstep.rule_of reads it from what people write. The days on which it holds, the
-- seconds of such a day, and the zone whose clock both are read from. Sets are bits: bit n is value n.
CREATE TYPE lockstep.rule AS (
    kind text,              -- interval, instant, never, or how its days follow each other: days, weeks, months
    zone text,              -- of the clock
    is_fixed boolean,       -- its times name an hour and a minute: once where the clock repeats or skips them
    start_date date,        -- the first day; days, weeks and months are counted from it; NULL: none
    end_date date,          -- the last day on which a window opens
    factor int,             -- every how many days, weeks (blocks of seven days from the start) or months
    months int,             -- 1 to 12
    days bigint,            -- 1 to 31
    days_from_end bigint,   -- 0: the last day, 1: the one before it
    workdays bigint,        -- 1 to 31: the weekday that is nearest to this day, in the same month
    last_workday boolean,
    weekdays int,           -- 0: Sunday, to 6
    nth_weekdays bigint,    -- bit 7 * (k - 1) + d: the k-th weekday d of the month
    last_weekdays int,      -- the last weekday d of the month
    ordinal int,            -- of the days that match only this one: 1 to 4, 5 the last; NULL: all
    is_both boolean,         -- a day matches days and weekdays; otherwise either suffices
    hours int, minutes bigint, seconds bigint,   -- the times of a day, or
    times int[],                                 -- seconds after midnight, ascending, or
    opens int, closes int, step int,             -- each step seconds from opens to closes, which may lie in the next day
    every bigint, phase bigint,                  -- interval: seconds, from the epoch on
    instant timestamptz,
    not_before timestamptz, not_after timestamptz -- bounds of all kinds, included
);
