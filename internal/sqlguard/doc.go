// Package sqlguard decides which SQL of users may run over the tables that SiYuan documents, so that a statement can
// neither change anything nor see what it must not. SQLite itself judges: it compiles the statement under an
// authorizer, against an empty database that has only the documented tables. A lexer with SQLite's rules checks what
// the authorizer does not see, above all the names of functions, which must be on a list. Anything unknown is refused.
//
// There are two policies, since statements run in two places.
//
// [Parse] is for statements that are sent to a SiYuan kernel. Nothing can stop a kernel that is busy, so recursion is
// refused, and so are statements whose plan, as far as it shows, costs the cube of the number of rows. The kernel's own
// checks are weak: its default mode runs writes, and for an unknown column it returns the column's name instead of an
// error. [Statement.Limited] returns the text to send for a caller that may read everything, and [Statement.Scoped] the
// one for other callers: each table is shadowed by a common table expression of the same name, with only the rows of
// given notebooks. To prove that no name in the statement bypasses these, it is compiled a second time against a
// database without the real names. The expressions are materialized, so nothing in the statement is computed over a
// hidden row, and no error can reveal one.
//
// [Runner.Select] is for statements that run here, over the views of a vault. SQLite compiles the statement again on
// the real connection, under an authorizer that lets only these views read the tables below them. It then runs
// without the authorizer, but within limits of time, length of values and size of the result. Questions about the
// schema are answered by the empty database. It also does what SiYuan adds to plain SQLite: the operator REGEXP,
// names of missing columns as texts, and a limit for a statement without one. The caller reports that a write was
// ignored.
//
// The package sends nothing and does not know levels.
package sqlguard
