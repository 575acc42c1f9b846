-- What the rules of a time zone were when the next times of schedules in it were computed: print is of the offsets of two years from the day since on.
CREATE TABLE lockstep.zone (
    zone text PRIMARY KEY,
    since date NOT NULL,
    print text NOT NULL
);
