-- Notes. What a tree holds is in notebook, document and node; attribute, span, ref, asset and annotation follow from
-- node and are written with it. The tables SiYuan documents (blocks, attributes, spans, refs, assets) are views over these.

CREATE TABLE notebook (
    id     TEXT PRIMARY KEY,
    conf   TEXT NOT NULL,             -- JSON, as conf.json of the notebook
    closed INTEGER NOT NULL,
    sort   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE document (
    n       INTEGER PRIMARY KEY AUTOINCREMENT, -- counts the documents as they are made
    id      TEXT NOT NULL UNIQUE,
    box     TEXT NOT NULL,
    parent  INTEGER NOT NULL,         -- n of the document above, 0 at the top of the notebook
    path    TEXT NOT NULL,            -- /<id>/<id>.sy
    hpath   TEXT NOT NULL,            -- by titles, "/" for the page of a notebook
    sort    INTEGER NOT NULL,
    changed INTEGER NOT NULL,         -- Unix milliseconds
    rev     INTEGER NOT NULL,         -- grows with every change of its nodes
    size    INTEGER NOT NULL          -- of its nodes, about as many bytes as they take in a .sy file
);
CREATE INDEX document_parent ON document (box, parent);
CREATE INDEX document_hpath ON document (box, hpath);

CREATE TABLE node (
    n        INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    doc      INTEGER NOT NULL,        -- document.n
    parent   INTEGER NOT NULL,        -- node.n of the container, 0 for the root of a document
    pos      INTEGER NOT NULL,        -- order among the children, with gaps
    above    TEXT NOT NULL,           -- id of the heading it lies under, or else of the container
    type     TEXT NOT NULL,
    subtype  TEXT NOT NULL,
    marker   TEXT NOT NULL,
    task     TEXT NOT NULL,
    ial      TEXT NOT NULL,           -- all attributes
    name     TEXT NOT NULL,
    alias    TEXT NOT NULL,
    memo     TEXT NOT NULL,
    tag      TEXT NOT NULL,
    content  TEXT NOT NULL,           -- plain text
    fcontent TEXT NOT NULL,
    markdown TEXT NOT NULL,           -- of a leaf: its text
    length   INTEGER NOT NULL,
    hash     TEXT NOT NULL,
    sort     INTEGER NOT NULL,
    updated  TEXT NOT NULL
);
CREATE INDEX node_doc ON node (doc);
CREATE INDEX node_above ON node (above);
CREATE INDEX node_updated ON node (updated);
CREATE INDEX node_documents ON node (doc) WHERE type = 'd'; -- the roots
CREATE INDEX node_databases ON node (type) WHERE type = 'av';
CREATE INDEX node_hit ON node (n, doc, type, sort, updated); -- all that a search asks of most of its hits
CREATE INDEX node_tag ON node (tag) WHERE tag <> '';

CREATE TABLE attribute (
    node  INTEGER NOT NULL,
    id    TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL
);
CREATE INDEX attribute_node ON attribute (node);
CREATE INDEX attribute_name ON attribute (name);

CREATE TABLE span (
    node     INTEGER NOT NULL,
    id       TEXT NOT NULL,
    content  TEXT NOT NULL,
    markdown TEXT NOT NULL,
    type     TEXT NOT NULL
);
CREATE INDEX span_node ON span (node);

CREATE TABLE ref (
    node     INTEGER NOT NULL,
    id       TEXT NOT NULL,
    def      TEXT NOT NULL,           -- id of the block it names, which may be gone
    content  TEXT NOT NULL,
    markdown TEXT NOT NULL,
    type     TEXT NOT NULL
);
CREATE INDEX ref_node ON ref (node);
CREATE INDEX ref_def ON ref (def);

CREATE TABLE asset (
    node  INTEGER NOT NULL,
    id    TEXT NOT NULL,
    path  TEXT NOT NULL,              -- assets/<name>
    name  TEXT NOT NULL,
    title TEXT NOT NULL
);
CREATE INDEX asset_node ON asset (node);
CREATE INDEX asset_path ON asset (path);

CREATE TABLE annotation (
    node       INTEGER NOT NULL,
    id         TEXT NOT NULL,
    path       TEXT NOT NULL,         -- assets/<name>, of what is annotated
    annotation TEXT NOT NULL,         -- id in the file of annotations beside it
    content    TEXT NOT NULL
);
CREATE INDEX annotation_node ON annotation (node);
CREATE INDEX annotation_path ON annotation (path);

CREATE TABLE file (
    path    TEXT PRIMARY KEY,         -- absolute in the workspace, /data/...
    parent  TEXT NOT NULL,
    dir     INTEGER NOT NULL,
    size    INTEGER NOT NULL,
    hash    TEXT NOT NULL,            -- SHA-256 in hex, '' for a folder
    changed INTEGER NOT NULL,         -- Unix milliseconds
    data    BLOB
);
CREATE INDEX file_parent ON file (parent);

CREATE TABLE record (
    kind  TEXT NOT NULL,
    id    TEXT NOT NULL,
    owner TEXT NOT NULL,
    at    INTEGER NOT NULL,
    body  BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX record_owner ON record (kind, owner, at);

-- Every block, those of closed notebooks included.
CREATE VIEW block_row AS
SELECT node.n AS n, node.id AS id, node.above AS parent_id, document.id AS root_id, node.hash AS hash,
    document.box AS box, document.path AS path,
    CASE WHEN document.id = document.box THEN '/' || json_extract(notebook.conf, '$.name') ELSE document.hpath END AS hpath,
    node.name AS name, node.alias AS alias, node.memo AS memo, node.tag AS tag, node.content AS content,
    node.fcontent AS fcontent, node.markdown AS markdown, node.length AS length, node.type AS type,
    node.subtype AS subtype, node.ial AS ial, node.sort AS sort, substr(node.id, 1, 14) AS created,
    node.updated AS updated, notebook.closed AS closed
FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box;

-- What the full text index reads, and holds: a notebook that is closed is taken out of it.
CREATE VIEW open_row AS SELECT * FROM block_row WHERE closed = 0;

CREATE VIEW blocks AS
SELECT id, parent_id, root_id, hash, box, path, hpath, name, alias, memo, tag, content, fcontent, markdown, length,
    type, subtype, ial, sort, created, updated
FROM block_row WHERE closed = 0;

CREATE VIEW attributes AS
SELECT attribute.id AS id, attribute.name AS name, attribute.value AS value, 'b' AS type, node.id AS block_id,
    document.id AS root_id, document.box AS box, document.path AS path
FROM attribute JOIN node ON node.n = attribute.node JOIN document ON document.n = node.doc
    JOIN notebook ON notebook.id = document.box
WHERE notebook.closed = 0;

CREATE VIEW spans AS
SELECT span.id AS id, node.id AS block_id, document.id AS root_id, document.box AS box, document.path AS path,
    span.content AS content, span.markdown AS markdown, span.type AS type, '' AS ial
FROM span JOIN node ON node.n = span.node JOIN document ON document.n = node.doc
    JOIN notebook ON notebook.id = document.box
WHERE notebook.closed = 0;

CREATE VIEW refs AS
SELECT ref.id AS id, ref.def AS def_block_id, coalesce(up.id, '') AS def_block_parent_id,
    defdoc.id AS def_block_root_id, defdoc.path AS def_block_path, node.id AS block_id, document.id AS root_id,
    document.box AS box, document.path AS path, ref.content AS content, ref.markdown AS markdown, ref.type AS type
FROM ref JOIN node ON node.n = ref.node JOIN document ON document.n = node.doc
    JOIN notebook ON notebook.id = document.box
    JOIN node AS def ON def.id = ref.def JOIN document AS defdoc ON defdoc.n = def.doc
    JOIN notebook AS defbox ON defbox.id = defdoc.box
    LEFT JOIN node AS up ON up.n = def.parent
WHERE notebook.closed = 0 AND defbox.closed = 0;

CREATE VIEW assets AS
SELECT asset.id AS id, node.id AS block_id, document.id AS root_id, document.box AS box, document.path AS docpath,
    asset.path AS path, asset.name AS name, asset.title AS title, coalesce(file.hash, '') AS hash
FROM asset JOIN node ON node.n = asset.node JOIN document ON document.n = node.doc
    JOIN notebook ON notebook.id = document.box
    LEFT JOIN file ON file.path = '/data/' || asset.path
WHERE notebook.closed = 0;

CREATE VIEW file_annotation_refs AS
SELECT annotation.id AS id, annotation.path AS file_path, annotation.annotation AS annotation_id, node.id AS block_id,
    document.id AS root_id, document.box AS box, document.path AS path, annotation.content AS content, 'textmark' AS type
FROM annotation JOIN node ON node.n = annotation.node JOIN document ON document.n = node.doc
    JOIN notebook ON notebook.id = document.box
WHERE notebook.closed = 0;

CREATE VIEW stat AS SELECT 'siyuan_database_ver' AS key, '202607031200' AS value;

-- Trigrams find any three characters in a row, of any script. The texts are indexed with two spaces behind them, so
-- that shorter words can be found as beginnings of trigrams through block_terms.
CREATE VIRTUAL TABLE blocks_fts USING fts5(
    id UNINDEXED, parent_id UNINDEXED, root_id UNINDEXED, hash UNINDEXED, box UNINDEXED, path UNINDEXED,
    hpath UNINDEXED, name, alias, memo, tag, content, fcontent UNINDEXED, markdown UNINDEXED, length UNINDEXED,
    type UNINDEXED, subtype UNINDEXED, ial UNINDEXED, sort UNINDEXED, created UNINDEXED, updated UNINDEXED,
    content = 'open_row', content_rowid = 'n', tokenize = 'trigram'
);
CREATE VIRTUAL TABLE block_terms USING fts5vocab(blocks_fts, instance);
