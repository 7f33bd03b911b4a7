package process

import (
	"os"
	"sync"
)

// outPipe is the read end of a child's stdout. It tells when its reader is done, so that
// what is still in the pipe of a dead child is not thrown away too early. The file is a
// field of its own: its other ways to read would pass by unseen.
type outPipe struct {
	f    *os.File
	once sync.Once
	done chan struct{} // closed when no more will be read
}

func newOutPipe(f *os.File) *outPipe { return &outPipe{f: f, done: make(chan struct{})} }

// Read reads as the file does; any error is the end.
func (o *outPipe) Read(p []byte) (int, error) {
	n, err := o.f.Read(p)
	if err != nil {
		o.once.Do(func() { close(o.done) })
	}
	return n, err
}

// Close may be called twice.
func (o *outPipe) Close() error {
	o.once.Do(func() { close(o.done) })
	return o.f.Close()
}
