package secret_test

import (
	"testing"

	"github.com/zalando/go-keyring"

	"collie/internal/secret"
)

// TestSystemKeyring uses the keyring library with a mock, which is global to the process. Therefore the test is not
// parallel, and no other test uses the library.
func TestSystemKeyring(t *testing.T) { //nolint:paralleltest // see above
	keyring.MockInit()
	s := mustOpen(t, t.TempDir(), secret.Options{})
	mustSet(t, s, "a", "1")
	if got, err := s.Kind(t.Context()); got != secret.Keyring || err != nil {
		t.Errorf("Kind = %v, %v, want the keyring", got, err)
	}
	if got, err := keyring.Get("collie", "a"); got != "1" || err != nil {
		t.Errorf("the item in the keyring = %q, %v", got, err)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if got := mustGet(t, s, "a"); got != "(none)" {
		t.Errorf("after the delete = %q", got)
	}
}
