//go:build !unix

package mcp

// tryWrite writes as much as the other side takes within holdTime.
func (l *lineWriter) tryWrite(buf []byte) (n int, err error) { return l.deadlineWrite(buf) }
