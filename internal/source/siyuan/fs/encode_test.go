package fs_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tidwall/gjson"
)

// encode makes a JSON object of pairs of names and values.
func encode(t testing.TB, pairs ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func parse(raw json.RawMessage) gjson.Result { return gjson.ParseBytes(raw) }

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
