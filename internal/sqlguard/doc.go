// Package sqlguard decides which SQL may be sent to a SiYuan kernel, and narrows it to the
// notebooks that may be read. The kernel's own fence is thin: its default mode runs
// writes, and it answers an unknown column with its name instead of an error.
//
// The entry point is [Parse]: it reads a statement with a lexer of SQLite's rules, and has
// SQLite itself compile it against an empty database with the kernel's tables, under an
// authorizer. What is left is one statement that only reads, from the tables that [Tables]
// names, with functions from a list, without recursion, and without a plan whose cost grows with the
// third power of the workspace, as far as a plan tells: nothing can stop a kernel that is busy with a statement.
//
// [Statement.Limited] is for a caller that may read everything. [Statement.Scoped] is for one
// that may not: each table is shadowed by a common table expression of the same name that holds
// only the rows of given notebooks. That no name of the statement goes around it is proved by
// compiling it a second time against a database where the real names do not exist at all. The
// expressions are materialized, so that nothing of the statement is computed over a row that is
// not shown, and no error can tell of it either.
//
// The package sends nothing and knows no levels.
package sqlguard
