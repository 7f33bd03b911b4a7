package acceptance_test

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/test/await"
	"collie/test/gateway"
)

// toolsListBytes is the result of tools/list as the gateway sends it, byte for byte.
func toolsListBytes(t *testing.T, g *gateway.Gateway) json.RawMessage {
	t.Helper()
	raw, err := g.Dial(t, gateway.Legacy, "").Do(t.Context(), "tools/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSizeOfTheList checks that the list of the eleven tools is at most 9216 bytes on the wire. TestSize of package
// siyuan measures each tool.
func TestSizeOfTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw := toolsListBytes(t, w.serve(t))
	t.Logf("%d bytes", len(raw))
	if len(raw) > 9216 {
		t.Errorf("%d bytes of tools, want at most 9216", len(raw))
	}
	var names, want []string
	for _, def := range gjson.GetBytes(raw, "tools").Array() {
		names = append(names, def.Get("name").String())
		if required := def.Get("inputSchema.required").Raw; required != `["action"]` {
			t.Errorf("%s requires %s", def.Get("name"), required)
		}
	}
	for _, tl := range siyuan.Tools() {
		if !tl.Off {
			want = append(want, tl.Name)
		}
	}
	if !slices.Equal(names, want) || len(names) != 11 {
		t.Errorf("%d tools %v, want the eleven in their order: %v", len(names), names, want)
	}
}

// TestListIsStable lists the tools in two processes, for two workspaces whose configs differ only
// in their order. Both lists must have the same bytes.
func TestListIsStable(t *testing.T) {
	t.Parallel()
	var lists []json.RawMessage
	for _, config := range []string{
		`{"tag":{"enabled":true,"actions":{"list":true,"rename":false,"remove":false}},"block":{"enabled":true,"actions":{"delete":true,"dom":false}}}`,
		`{"block":{"actions":{"dom":false,"delete":true},"enabled":true},"tag":{"actions":{"remove":false,"rename":false,"list":true},"enabled":true}}`,
	} {
		w := newWorld(t)
		w.File(ownFolder+configFile, []byte(config))
		g := w.serve(t)
		c := openSession(t, g, modern, nobody)
		await.Until(t, "the config", func() bool { return slices.Equal(c.actionsOf(t, "tag"), []string{"list"}) })
		for range 3 {
			lists = append(lists, toolsListBytes(t, g))
		}
	}
	for i, raw := range lists {
		if string(raw) != string(lists[0]) {
			t.Errorf("list %d differs: %x, %x", i, sha256.Sum256(raw), sha256.Sum256(lists[0]))
		}
	}
	if !gjson.GetBytes(lists[0], `tools.#(name=="block").inputSchema.properties.action.enum.#(=="delete")`).Exists() {
		t.Error("the config is not in the list")
	}
}
