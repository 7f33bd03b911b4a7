package mcp

import (
	"bytes"
	"testing"
)

// marksOf agrees with Parse on valid messages, and does not panic on any input.
func FuzzMarks(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","method":"x","params":{"id":4}}`,
		`{"jsonrpc":"2.0","id":null,"error":{}}`, `{"result":NaN,"id":3}`, `{"a":"\`, `{"id":"x`, `{"result":{"id":7}`, `{"jsonrpc":"2.0","result":"a "b"","id": 9, "jsonrpc":"2.0"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := marksOf(b)
		cut := len(b) / 2
		_ = cutFrameError(b[:cut], b[cut:], errClosed)
		if e := badFrameError(b, &syntaxError{Offset: len(b), Message: "x"}); e.answer.Found == "" {
			t.Error("nothing was found")
		}
		msg, err := Parse(b)
		if err != nil || bytes.IndexByte(b, '\\') >= 0 {
			return
		}
		if m.method != (msg.Method != "") || m.id != ID(cleanUTF8([]byte(msg.ID))) {
			t.Errorf("%q: id %q, method %t; read as %q, %q", b, m.id, m.method, msg.ID, msg.Method)
		}
		if msg.IsResponse() && msg.ID != "" && !m.answer {
			t.Errorf("%q is a response and not taken for one", b)
		}
	})
}
