package toolcachetest_test

import (
	"testing"

	"go.uber.org/goleak"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/toolcachetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlace(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	toolcachetest.RunBackend(t, func(*testing.T) toolcache.Backend { return place.Open() })
}
