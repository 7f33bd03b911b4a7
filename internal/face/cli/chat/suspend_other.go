//go:build !unix

package chat

// stopProcess does nothing, because a terminal cannot stop programs on this system.
func stopProcess() {}
