package sqlguard

// Tables returns the names of the tables that may be read.
func Tables() []string { return tables() }
