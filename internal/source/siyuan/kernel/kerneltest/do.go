package kerneltest

import (
	"strings"

	"github.com/tidwall/gjson"
)

// do makes a call that is neither recorded nor subject to faults, and fails the test unless it answers code 0. Fixtures
// go through it so that they meet the same code as a client.
func (k *Kernel) do(path string, body map[string]any) gjson.Result {
	k.t.Helper()
	req := request{Result: gjson.ParseBytes(mustJSON(body))}
	rep := k.answer(path, k.routes[path], req, nil)
	if rep.code != 0 || rep.data == nil && !strings.Contains(path, "/set") {
		k.t.Fatalf("kerneltest: %s answers code %d %q", path, rep.code, rep.msg)
	}
	return gjson.ParseBytes(rep.body())
}
