//go:build !unix

package mcp

// tryWrite writes what the other side takes before a caller has waited for holdTime.
func (l *lineWriter) tryWrite(buf []byte) (n int, err error) { return l.deadlineWrite(buf) }
