package process

// SealInherited does nothing on Windows: children inherit only the handles named.
func SealInherited() error { return nil }
