package toolcache_test

import (
	"path/filepath"
	"testing"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/toolcachetest"
)

func TestFileIsABackend(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "collie.cache.json")
	toolcachetest.RunBackend(t, func(*testing.T) toolcache.Backend {
		return toolcache.NewFile(path, toolcache.FileOptions{})
	})
}
