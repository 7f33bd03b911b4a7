package toolcache_test

import (
	"path/filepath"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/toolcachetest"
)

// The file passes the tests that each backend must pass.
func TestFileIsABackend(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "collie.cache.json")
	toolcachetest.RunBackend(t, func(*testing.T) toolcache.Backend {
		// Its limit of two seconds is not the contract's, and too short for ten writers on a busy machine.
		return toolcache.SlowFile(path, toolcache.Options{}, time.Minute, func(string) {})
	})
}
