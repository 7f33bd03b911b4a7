//go:build !linux

package atomicfile

// Noticed reports whether the system notifies watchers of every change to files in a folder. On this platform
// that is not known.
func Noticed(string) bool { return false }
