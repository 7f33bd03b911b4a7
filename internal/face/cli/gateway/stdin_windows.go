package gateway

import "io"

// interruptible returns in: on Windows, closing a pipe ends a waiting read.
func interruptible(in io.Reader) io.Reader { return in }
