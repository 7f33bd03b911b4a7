package siyuan_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNotebooksAreFreshAfterAWrite: a read right after a notebook was changed does not get the old list, which reads
// share for a second.
func TestNotebooksAreFreshAfterAWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ write, args, read, readArgs, want string }{
		{"notebook.rename", `"name":"Archive 档案"`, "fs.ls", `{"path":"/Archive 档案"}`, "Plan"},
		{"notebook.rename", `"name":"Archive 档案"`, "notebook.list", `{}`, "Archive 档案"},
		{"notebook.set_open_state", `"opened":false`, "notebook.list", `{}`, `"closed":true`},
		{"notebook.set_conf", `"conf":{"closed":true}`, "notebook.list", `{}`, `"closed":true`},
	} {
		t.Run(c.write+" "+c.read, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.call(t, "notebook.list", `{}`)
			d.call(t, c.write, fmt.Sprintf(`{"notebook":%q,%s}`, d.notebook, c.args))
			if got, _ := d.call(t, c.read, c.readArgs); !strings.Contains(string(got.Raw), c.want) {
				t.Errorf("%s shows %s, want %q", c.read, got.Raw, c.want)
			}
		})
	}
}
