// Package query runs SQL that users wrote over the tables SiYuan documents, so that it can neither change anything, nor
// see what is below these tables, nor take the process with it.
//
// A statement passes two fences before it runs. First SQLite compiles it on a database in memory that has the
// documented tables, empty, and nothing else, under an authorizer that allows reads of these only: what does not exist
// there cannot be named by it, whatever it calls its own expressions. Then SQLite compiles it on the real connection,
// where the tables are views, under an authorizer that lets only these views reach what lies below. It runs without the
// authorizer, but within limits of time, of the length of a value and of the size of the result.
//
// Questions about the schema are answered by the empty database, whose schema is the documented one.
//
// What SiYuan does beside plain SQLite is done here as well: the operator REGEXP, names of columns that do not exist as
// texts, a limit for a statement that has none. That a write is ignored is for the caller to say.
//
// Entry point: [Guard.Select].
package query
