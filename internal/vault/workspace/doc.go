// Package workspace stores notebooks, documents, blocks and files in one SQLite file, and answers SQL over the tables
// that SiYuan documents.
//
// Everything happens in a transaction: [Workspace.View] reads one state of the file; [Workspace.Update] also writes,
// one at a time across all processes. A [Tx] returns trees of package tree. A function given to Update changes those
// trees; when it returns nil, the changes are found by comparison and written, including the rows that SQL sees, so
// search and SQL are always up to date. When it returns an error nothing is written.
//
// Memory never has data that the file does not have: trees are cached only with the revision of their document, and
// read again if that has changed.
//
// Entry point: [Open].
package workspace
