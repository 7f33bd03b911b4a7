// Package workspace keeps notebooks, documents, blocks and files in one SQLite file, as a SiYuan workspace keeps them
// in folders, and answers SQL over the tables that SiYuan documents.
//
// Everything happens in a transaction: [Workspace.View] reads one state of the file, [Workspace.Update] also writes,
// one at a time over all processes that have the file open. A [Tx] hands out trees of package tree; what a function
// given to Update changes in them is found by comparison and written when it returns nil, the rows that SQL sees
// included, so that search and SQL never lag. When it returns an error nothing is written.
//
// Nothing is held in memory that the file does not hold: trees are kept between transactions only together with the
// revision of their document, and are read again when it has moved on.
//
// Entry point: [Open].
package workspace
