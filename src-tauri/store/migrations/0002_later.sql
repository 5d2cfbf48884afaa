-- What only looking things up needs is written after the deciding commit; older versions wrote everything in it.

-- One row: up to which fact the calls, and what they are found by, have followed the facts.
CREATE TABLE followed (
    one     INTEGER NOT NULL PRIMARY KEY,
    through INTEGER NOT NULL,
    CONSTRAINT followed_is_one_row CHECK (one = 1)
) STRICT;

INSERT INTO followed (one, through) VALUES (1, max(
    (SELECT coalesce(max(seq), 0) FROM facts),
    (SELECT coalesce(max(through_seq), 0) FROM stubs)
));
