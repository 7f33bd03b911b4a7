// Package salvage reads what is left of the file of a vault that SQLite cannot read any more.
//
// [Read] goes through the pages of the file and of the log beside it by itself: those that hang together from the first page
// on, then all others that look like pages of rows. What it takes for a row has the shape of one, down to the form of its
// ids. [Found.Fill] makes documents of them in a new vault, and says what is missing.
//
// The file is only read. Nothing in it is believed: each number is held against the bytes that are there.
package salvage
