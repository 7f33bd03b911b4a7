//go:build !linux

package atomicfile

// NotifiesChanges reports whether the system notifies watchers of every change to files in a folder. On this platform
// that is not known, so the answer is no.
func NotifiesChanges(string) bool { return false }
