package upstream

import (
	"os"
	"sync"
	"time"

	"collie/internal/source/upstream/entry"
)

// identity is what makes a server what it is.
func (s *Set) identity(e *entry.Entry) string {
	if s.opts.Portable {
		return e.PortableHash(s.opts.Key)
	}
	return e.ConfigHash(s.opts.Key)
}

// fingerprint tells the files behind the command apart.
func (s *Server) fingerprint() string {
	return s.settings().Fingerprint(s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny, IsDir: s.set.folders.isDir})
}

// folders remembers for a moment which folders there are: all servers of a start ask for the
// same ones.
type folders struct {
	mu    sync.Mutex
	since time.Time
	known map[string]bool
}

// foldersFor is how long that is.
const foldersFor = 2 * time.Second

func (f *folders) isDir(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) > foldersFor {
		f.since, f.known = now, map[string]bool{}
	}
	is, known := f.known[dir]
	if !known {
		info, err := os.Stat(dir)
		is = err == nil && info.IsDir()
		f.known[dir] = is
	}
	return is
}
