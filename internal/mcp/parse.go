package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// This file parses and writes JSON-RPC messages.

// invalidError says that a text is JSON but not a JSON-RPC message. ID is the message's id if it could be
// read, so that an answer can name it.
type invalidError struct {
	ID      ID
	Message string
}

// Error returns the message.
func (e *invalidError) Error() string { return "not a JSON-RPC message: " + e.Message }

// Parse parses one JSON-RPC message. The parts of the Message are slices of raw, which must not change
// afterwards. The error is a [*syntaxError], or an [*invalidError] if raw is JSON but not a message. Parse
// does not check for valid UTF-8; see [cleanUTF8].
func Parse(raw []byte) (Message, error) {
	msg := Message{Raw: raw}
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		if err := checkJSON(raw); err != nil {
			return msg, err
		}
		return msg, &invalidError{Message: "expected an object"}
	}
	var seen, bad uint8
	m := members{b: raw, i: i, depth: maxDepth}
	for m.next() {
		which := currentMember(&m)
		if which == 1<<memberResult && m.start < len(raw) && raw[m.start] == '{' {
			if !scanResult(&m, &msg) {
				break
			}
		} else if !m.skip() {
			break
		}
		if which == 0 {
			continue
		}
		if seen&which != 0 {
			bad |= which
		}
		seen |= which
		value := raw[m.start:m.end:m.end]
		if !msg.setMember(which, value) {
			bad |= which
		}
	}
	if m.err != nil {
		return msg, m.err
	}
	if end := skipSpace(raw, m.i); end != len(raw) {
		return msg, newSyntaxError(end, "text after the end of the message")
	}
	return msg, msg.checkMembers(seen, bad)
}

// The members of a message, as a bit set.
const (
	memberVersion = iota
	memberID
	memberMethod
	memberParams
	memberResult
	memberError
)

var memberNames = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func currentMember(m *members) uint8 {
	for n, name := range memberNames {
		if m.isNamed(name) {
			return 1 << n
		}
	}
	return 0
}

// scanResult skips a result object and reads the two fields that decide how it is handled.
func scanResult(outer *members, msg *Message) bool {
	in := members{b: outer.b, i: outer.start, depth: outer.depth - 1}
	for in.next() {
		if !in.skip() {
			break
		}
		switch {
		case in.isNamed("isError"):
			msg.IsError = string(in.b[in.start:in.end]) == "true"
		case in.isNamed("resultType"):
			msg.ResultType, _ = Text(in.b[in.start:in.end])
		}
	}
	outer.end, outer.err = in.i, in.err
	return in.err == nil
}

// setMember stores one member and reports whether its type is valid.
func (m *Message) setMember(which uint8, v json.RawMessage) bool {
	c := v[0]
	switch which {
	case 1 << memberVersion:
		return string(v) == `"2.0"`
	case 1 << memberID:
		if c == '"' || c == '-' || c >= '0' && c <= '9' || c == 'n' {
			m.ID = ID(v)
			return true
		}
		return false
	case 1 << memberMethod:
		var ok bool
		m.Method, ok = Text(v)
		return ok && m.Method != ""
	case 1 << memberParams:
		if c == 'n' {
			return true
		}
		m.Params = v
		return c == '{' || c == '['
	case 1 << memberResult:
		m.Result = v
	case 1 << memberError:
		if c == 'n' {
			return true
		}
		m.Error = v
		return c == '{'
	}
	return true
}

func (m *Message) checkMembers(seen, bad uint8) error {
	invalid := func(msg string) error { return &invalidError{ID: m.ID, Message: msg} }
	for n, name := range memberNames {
		if bad&(1<<n) != 0 {
			return invalid(`member "` + name + `" ` + memberWants[n])
		}
	}
	switch {
	case m.Method != "":
		if seen&(1<<memberVersion) == 0 {
			return invalid(`expected "jsonrpc":"2.0"`)
		}
		if m.ID == "null" {
			return invalid(`member "id" ` + memberWants[memberID])
		}
		m.Result, m.Error, m.IsError, m.ResultType = nil, nil, false, ""
	case m.Error != nil:
		m.Result, m.IsError, m.ResultType = nil, false, "" // if a peer sends both, the error counts
	case m.Result != nil && m.ID == "":
		return invalid(`a result without an "id"`)
	case m.Result == nil:
		return invalid(`expected "method", "result" or "error"`)
	}
	return nil
}

var memberWants = [...]string{
	`must be "2.0"`,
	"must be a string or a number, once",
	"must be a string that is not empty, once",
	"must be an object, once",
	"must stand once",
	"must be an object, once",
}

// parseBatch parses a message or an array of messages (JSON-RPC batches existed until MCP 2025-03-26).
// Elements that are not messages are left out; bad counts them.
func parseBatch(raw []byte) (msgs []Message, bad int, err error) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		m, err := Parse(raw)
		if err != nil {
			return nil, 0, err
		}
		return []Message{m}, 0, nil
	}
	if err := checkJSON(raw); err != nil {
		return nil, 0, err
	}
	for i = skipSpace(raw, i+1); raw[i] != ']'; {
		end, err := skipValue(raw, i, maxDepth)
		if err != nil {
			return nil, 0, err
		}
		if m, err := Parse(raw[i:end:end]); err == nil {
			msgs = append(msgs, m)
		} else {
			bad++
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return msgs, bad, nil
}

// cleanUTF8 returns raw with invalid UTF-8 replaced by U+FFFD, or raw itself if it is valid.
func cleanUTF8(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
}

// appendRequest appends a request to dst; params may be nil.
func appendRequest(dst []byte, id ID, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"method":`...)
	return appendParams(dst, method, params)
}

// AppendNotification appends a notification to dst; params may be nil.
func AppendNotification(dst []byte, method string, params json.RawMessage) []byte {
	return appendParams(append(dst, `{"jsonrpc":"2.0","method":`...), method, params)
}

func appendParams(dst []byte, method string, params json.RawMessage) []byte {
	dst = appendString(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// AppendResult appends a response with result to dst.
func AppendResult(dst []byte, id ID, result json.RawMessage) []byte {
	if n := len(id) + len(result) + len(`{"jsonrpc":"2.0","id":,"result":}`); n <= 64<<10 {
		dst = slices.Grow(dst, n) // slices.Grow clears the memory, so append is faster for a big result
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends a response with the error object obj to dst. An empty id is written as null.
func AppendError(dst []byte, id ID, obj json.RawMessage) []byte {
	if id == "" {
		id = "null"
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":`...)
	dst = append(dst, obj...)
	return append(dst, '}')
}

// Object returns e as a JSON-RPC error object.
func (e *Error) Object() json.RawMessage {
	raw, err := json.Marshal(e)
	if err != nil {
		panic("mcp: an error object does not encode: " + err.Error())
	}
	return raw
}
