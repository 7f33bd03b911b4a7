//go:build !linux

package atomicfile

// Noticed reports whether the system tells of every change of the files in a folder. Nothing is known of it here.
func Noticed(string) bool { return false }
