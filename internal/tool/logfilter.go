package tool

import "time"

// LogFilter says which lines of a server's log are wanted. The zero value wants all that
// there are.
type LogFilter struct {
	Since   time.Time // lines from then on; zero means all
	Streams []string  // of these streams only; none means all
	Last    int       // the last so many of what is there; 0 means all
	Follow  bool      // what comes as well, until the context ends
}
