package mcptest

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzParseMessage compares parseMessage with encoding/json on texts that are JSON objects.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `{"id":7}`, "\xef\xbb\xbf{}", `{"jsonrpc":"2.0","id":null,"method":1,"params":[]}`,
		`{"id":"\u0037","method":"tools\/call","params":{"name":"\u0065cho","arguments":null,"_meta":{"progressToken":1.0}}}`,
		`{"params":{"_meta":3,"name":{},"uri":[]},"result":{},"error":0}`, `{"id":1}{"id":2}`, `{"id":1`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := parseMessage(b)
		var object map[string]json.RawMessage
		if valid := json.Unmarshal(b, &object) == nil && object != nil; ok != valid {
			t.Fatalf("parsed: %t, encoding/json: %t", ok, valid)
		}
		if !ok {
			return
		}
		for _, raw := range []string{m.id, m.result, m.err, m.meta.progressToken} {
			if raw != "" && !json.Valid([]byte(raw)) {
				t.Fatalf("no JSON text: %q", raw)
			}
		}
		if bytes.ContainsAny(oneLine(b), "\r\n") || !json.Valid(oneLine(b)) {
			t.Fatalf("oneLine broke %q", b)
		}
	})
}
