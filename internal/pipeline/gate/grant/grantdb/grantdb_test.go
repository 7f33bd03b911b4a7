package grantdb_test

import (
	"testing"
	"time"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/grantdb"
	"collie/internal/pipeline/gate/grant/granttest"
	"collie/internal/store"
	"collie/internal/tool"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir, grantdb.Schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Two stores on one file stand for two processes.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	granttest.TestStore(t, func(now func() time.Time) grant.Store { return grantdb.New(openStore(t, dir), now) })
}

// The table's constraints refuse a grant for a critical action and one for high risk that never expires.
func TestTableRefuses(t *testing.T) {
	t.Parallel()
	s := grantdb.New(openStore(t, t.TempDir()), nil)
	critical, forever := granttest.Sample(1), granttest.Sample(2)
	critical.Risk, forever.Expires = tool.RiskCritical, time.Time{}
	for _, g := range []grant.Grant{critical, forever} {
		if err := s.Add(t.Context(), &g); err == nil {
			t.Errorf("%+v was kept", g)
		}
	}
	if all, err := s.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}
