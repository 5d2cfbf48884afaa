-- How each tool of an MCP server was described when it was last let through: for whom, where. It outlives the day that
-- is recalled of calls, and what retention prunes.
CREATE TABLE definitions (
    agent      TEXT    NOT NULL,
    workspace  BLOB    NOT NULL,
    tool       TEXT    NOT NULL,
    definition BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (agent, workspace, tool),
    CONSTRAINT definitions_are_digests CHECK (length(definition) = 32)
) STRICT, WITHOUT ROWID;
