package analytics

// Entries yields the entries in a folder, for tests that check each of them.
var Entries = entries
