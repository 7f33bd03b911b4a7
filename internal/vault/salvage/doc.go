// Package salvage recovers notes from a vault file that SQLite can no longer read.
//
// [Read] reads the pages of the file and of its write-ahead log itself: first those reachable from the first page,
// then all others that look like pages of rows. It accepts a row only if it has the right shape, down to the form of
// its ids. [Found.Fill] turns the rows into documents of a new vault, and says what is missing.
//
// The file is only read. Nothing in it is trusted: each number is checked against the bytes that are there.
package salvage
