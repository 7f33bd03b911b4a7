// Package salvage recovers notes from a vault file that SQLite can no longer read.
//
// [Read] parses the pages of the file and of its write-ahead log without SQLite: first those reachable from the first
// page, then all others that look like pages of rows. It accepts a row only if it has the right shape, including the
// form of its ids. [Found.Fill] converts the rows to documents of a new vault, and returns what is missing.
//
// The file is only read. Nothing in it is trusted: each number is checked against the bytes that exist.
package salvage
