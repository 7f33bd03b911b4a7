-- Where imported documents and assets came from, so that the same place can be imported again.

CREATE TABLE origin (
    n        INTEGER PRIMARY KEY,
    place    TEXT NOT NULL,           -- the folder or archive, absolute, without symbolic links
    notebook TEXT NOT NULL,           -- id of the notebook that takes what is new
    state    TEXT NOT NULL            -- hash of all that the last import which came to its end had read, '' before
);
CREATE INDEX origin_place ON origin (place);

CREATE TABLE imported (
    origin INTEGER NOT NULL,          -- origin.n
    path   TEXT NOT NULL,             -- in that place; of a folder that no file stands for, it ends with a slash
    kind   TEXT NOT NULL,             -- page or asset
    target TEXT NOT NULL,             -- id of the document, or address of the asset
    title  TEXT NOT NULL,             -- that the document was given
    parent TEXT NOT NULL,             -- id of the document it was put under, '' at the top
    source TEXT NOT NULL,             -- hash of the file
    held   TEXT NOT NULL,             -- hash of what was made of it, as the vault then held it
    names  TEXT NOT NULL,             -- JSON: ids of the headings and blocks that links name
    PRIMARY KEY (origin, path)
) WITHOUT ROWID;
CREATE INDEX imported_target ON imported (target);
