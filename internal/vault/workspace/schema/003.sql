-- The last common state of a folder that is kept equal with its notebook, beside what "imported" has of each file.

CREATE TABLE synced (
    origin INTEGER NOT NULL,          -- origin.n
    path   TEXT NOT NULL,             -- as in imported
    rev    INTEGER NOT NULL,          -- document.rev at that time
    held   TEXT NOT NULL,             -- hash of the document, '' where the file says the same: it is imported.held then
    PRIMARY KEY (origin, path)
) WITHOUT ROWID;
