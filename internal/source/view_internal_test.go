package source

import (
	"encoding/json"
	"testing"

	"collie/internal/tool"
)

// TestNamesAreReplacedAlike: the fast way to replace a name in a definition gives the same bytes as the slow one.
func TestNamesAreReplacedAlike(t *testing.T) {
	t.Parallel()
	for _, def := range []string{
		`{"name":"echo","description":"a \"b\""}`, `{"name":"echo"}`, `{ "name" : "echo" , "x":1}`, `{"title":"t","name":"echo"}`,
		`{"name":"ech\u006f","x":1}`, `{"name":"echoes","x":1}`, `{"name":"echo","name":"two"}`, `{"name":"a&b"}`, `{"name":"a\"b"}`, `{}`,
	} {
		for _, old := range []string{"echo", "a&b", `a"b`, "", "x"} {
			for _, name := range []string{"echo", "srv__echo", "a<b", "é", `q"`} {
				l := newList(tool.ListTools, 0)
				l.add(json.RawMessage(`1`))
				l.addNamed(json.RawMessage(def), old, name)
				want := newList(tool.ListTools, 0)
				want.add(json.RawMessage(`1`))
				want.add(withName(json.RawMessage(def), old, name))
				if got, want := string(l.bytes()), string(want.bytes()); got != want {
					t.Errorf("%s of %s as %s:\n got %s\nwant %s", old, def, name, got, want)
				}
			}
		}
	}
}

// TestNamesCostNothing: a definition whose name is its first member is copied once, into the list.
func TestNamesCostNothing(t *testing.T) { //nolint:paralleltest // it counts objects, those of other tests would count too
	def := json.RawMessage(`{"name":"echo","description":"` + string(make([]byte, 1000)) + `"}`)
	l := newList(tool.ListTools, 1<<20)
	if made := testing.AllocsPerRun(100, func() { l.addNamed(def, "echo", "srv__echo") }); made > 0 {
		t.Errorf("%.0f objects to add a definition, expected none", made)
	}
}
