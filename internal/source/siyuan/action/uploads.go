package action

import (
	"slices"
	"sync"
)

// maxUploads bounds the remembered uploads; the oldest are forgotten first.
const maxUploads = 4096

// Uploads remembers which assets this process has uploaded, because a new asset belongs to no notebook until a
// note shows it. The zero value is empty. It is safe for concurrent use.
type Uploads struct {
	mu    sync.Mutex
	paths []string
}

// Add records an asset, by its path as documents write it.
func (u *Uploads) Add(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.paths) >= maxUploads {
		u.paths = slices.Delete(u.paths, 0, 1)
	}
	u.paths = append(u.paths, path)
}

// Has reports whether an asset was uploaded.
func (u *Uploads) Has(path string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Contains(u.paths, path)
}
