package siyuan_test

import (
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer"

	"collie/internal/source/siyuan"
)

// TestSize: eleven tools take at most 9 KiB of tools/list, with descriptions of 30 to 500 tokens each. Arguments are in
// the schemas, not in the descriptions.
func TestSize(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	raw := groupedToolList(t)
	on, all := 0, 0
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if all++; !tl.Off && !a.Off {
				on++
			}
		}
	}
	listed := 0
	for _, def := range gjson.GetBytes(raw, "tools").Array() {
		name := def.Get("name").String()
		listed += len(def.Get("inputSchema.properties.action.enum").Array()) - 1 // without the action help
		ids, _, err := codec.Encode(def.Get("description").String())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-10s %5d bytes, description %3d tokens", name, len(def.Raw), len(ids))
		if len(ids) < 30 || len(ids) > 500 {
			t.Errorf("description of %s has %d tokens, want 30 to 500", name, len(ids))
		}
	}
	t.Logf("%d actions, %d on by default, %d listed, %d bytes in all", all, on, listed, len(raw))
	if listed != on {
		t.Errorf("%d actions are listed, %d are on", listed, on)
	}
	if len(raw) > 9216 {
		t.Errorf("tools/list has %d bytes, want at most 9216: shorten the About of a tool", len(raw))
	}
}
