package admin

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
)

// A notebook is found again by its id, else by its name if only one has that.
func TestSameNotebook(t *testing.T) {
	t.Parallel()
	all := []kernel.Notebook{{ID: "1", Name: "a"}, {ID: "2", Name: "b"}, {ID: "3", Name: "b"}, {ID: "4", Name: "c"}}
	for _, tt := range []struct {
		id, name string
		want     kernel.ID
	}{{id: "1", name: "x", want: "1"}, {id: "9", name: "a", want: "1"}, {id: "3", name: "b", want: "3"}, {id: "9", name: "b"}, {id: "4", name: "a", want: "4"}, {id: "9", name: "x"}} {
		got := sameNotebook(all, kernel.Notebook{ID: kernel.ID(tt.id), Name: tt.name})
		if (got == nil) != (tt.want == "") || got != nil && got.ID != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}
