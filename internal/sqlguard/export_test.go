package sqlguard

// Tables are the names of the tables that may be read.
func Tables() []string { return tables() }
