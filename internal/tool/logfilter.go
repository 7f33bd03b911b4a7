package tool

import "time"

// LogFilter selects lines of a server's log. The zero value selects all lines there are.
type LogFilter struct {
	Since   time.Time // lines from this time on; zero means all
	Streams []string  // lines of these streams; empty means all
	Last    int       // the last so many of the selected lines; 0 means all
	Follow  bool      // also lines that are written later, until the context ends
}
