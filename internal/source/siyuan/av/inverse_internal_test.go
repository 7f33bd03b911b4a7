package av

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/kernel"
)

// TestFormer: cellInput writes each stored value in the form that set_cells accepts.
func TestFormer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ value, want string }{
		"text":     {`{"type":"text","text":{"content":"was 旧"}}`, `{"text":"was 旧"}`},
		"no text":  {`{"type":"text","text":{"content":""}}`, `{"clear":true}`},
		"number":   {`{"type":"number","number":{"content":1.5,"isNotEmpty":true,"format":"percent"}}`, `{"number":1.5,"numberFormat":"percent"}`},
		"date":     {`{"type":"date","date":{"content":1700000000000,"isNotEmpty":true,"isNotTime":true}}`, `{"date":1700000000000,"includeTime":false}`},
		"range":    {`{"type":"date","date":{"content":1,"isNotEmpty":true,"hasEndDate":true,"content2":2,"isNotEmpty2":true}}`, `{"date":1,"endDate":2,"includeTime":true}`},
		"checkbox": {`{"type":"checkbox","checkbox":{"checked":false}}`, `{"checked":false}`},
		"select":   {`{"type":"select","mSelect":[{"content":"a"}]}`, `{"option":"a"}`},
		"options":  {`{"type":"mSelect","mSelect":[{"content":"a"},{"content":"b"}]}`, `{"options":["a","b"]}`},
		"relation": {`{"type":"relation","relation":{"blockIDs":["20240801130000-detach1"]}}`, `{"relationBlockIDs":["20240801130000-detach1"]}`},
		"assets":   {`{"type":"mAsset","mAsset":[{"type":"image","name":"n","content":"assets/x.png"}]}`, `{"assets":[{"type":"image","name":"n","content":"assets/x.png"}]}`},
		"url":      {`{"type":"url","url":{"content":"https://x"}}`, `{"url":"https://x"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v kernel.Value
			if err := json.Unmarshal([]byte(c.value), &v); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(cellInput(&v))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, c.want), decoded(t, string(got))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if got := cellInput(nil); got["clear"] != true {
		t.Errorf("a cell that was not there: %v", got)
	}
}

// decoded returns a JSON value decoded, to compare values and not their spelling.
func decoded(t *testing.T, raw string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
