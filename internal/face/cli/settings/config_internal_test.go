package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leaves lists the settings in nested objects by path; lists are single values.
func TestLeaves(t *testing.T) {
	t.Parallel()
	got := leaves([]byte(`{"b":{"y":"text","x":[1,"二"]},"a":12345678901234567890,"c":{},"d":null,"e":""}`))
	want := []setting{{"a", "12345678901234567890"}, {"b.x", `[1,"二"]`}, {"b.y", "text"}, {"d", "null"}, {"e", `""`}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(setting{})); diff != "" {
		t.Error(diff)
	}
}
