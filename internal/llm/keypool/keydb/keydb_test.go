package keydb_test

import (
	"testing"

	"collie/internal/llm/keypool"
	"collie/internal/llm/keypool/keydb"
	"collie/internal/llm/keypool/keypooltest"
	"collie/internal/store"
)

func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keypooltest.TestStore(t, func() keypool.Store {
		s, err := store.Open(t.Context(), dir, keydb.Schema)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return keydb.New(s)
	})
}
