package analytics

// Entries are what is kept, for tests from outside that look at each.
var Entries = entries
