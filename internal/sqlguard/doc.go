// Package sqlguard decides which SQL that a user wrote may run over the tables SiYuan documents, so that it can neither
// change anything nor see what it may not. SQLite itself judges: a statement is compiled against an empty database that
// has the documented tables and nothing else, under an authorizer. A lexer of SQLite's rules checks what the authorizer
// does not see, above all the names of functions, which must be on a list. What is unknown is refused.
//
// Two policies stand on that. They differ because of who carries a statement out.
//
// [Parse] is for a statement that is sent to a SiYuan kernel, which nothing can stop once it is busy: there is no
// recursion, and no plan whose cost grows with the third power of the workspace, as far as a plan tells. The kernel's own
// checks are thin: its default mode runs writes, and it answers an unknown column with its name instead of an error.
// [Statement.Limited] is the text to send for a caller that may read everything. [Statement.Scoped] is the text for one
// that may not: each table is shadowed by a common table expression of the same name that holds only the rows of given
// notebooks. That no name of the statement goes around it is proved by compiling it a second time against a database
// where the real names do not exist at all. The expressions are materialized, so that nothing of the statement is
// computed over a row that is not shown, and no error can tell of it either.
//
// [Runner.Select] is for a statement that runs here, over the views of a vault. SQLite compiles it once more on the real
// connection, under an authorizer that lets only these views reach what lies below. It runs without the authorizer, but
// within limits of time, of the length of a value and of the size of the result. Questions about the schema are answered
// by the empty database. What SiYuan does beside plain SQLite is done here as well: the operator REGEXP, names of
// columns that do not exist as texts, a limit for a statement that has none. That a write is ignored is for the caller
// to say.
//
// The package sends nothing and knows no levels.
package sqlguard
