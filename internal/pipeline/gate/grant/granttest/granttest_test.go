package granttest_test

import (
	"testing"
	"time"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/granttest"
)

// Memory passes the tests for every grant.Store.
func TestMemory(t *testing.T) {
	t.Parallel()
	m := &granttest.Memory{}
	granttest.TestStore(t, func(now func() time.Time) grant.Store {
		m.Now = now
		return m
	})
}
