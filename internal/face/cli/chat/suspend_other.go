//go:build !unix

package chat

// stopProcess does nothing: programs are not stopped from the terminal here.
func stopProcess() {}
