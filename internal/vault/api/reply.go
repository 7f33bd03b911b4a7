package api

import (
	"encoding/json"
	"net/http"
)

// Reply is the answer of a handler. The zero value is code 0 with data null.
type Reply struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	Code   int
	Msg    string
	Data   any
	// Raw is sent instead of the JSON envelope, unless it is nil.
	Raw         []byte
	ContentType string
}

// OK returns a reply with code 0 and data.
func OK(data any) Reply { return Reply{Data: data} }

// Done returns a reply with code 0 and data null, which means success for most writes.
func Done() Reply { return Reply{} }

// Fail returns the error reply of most handlers: HTTP status 200, data null.
func Fail(code int, msg string) Reply { return Reply{Code: code, Msg: msg} }

// Notice returns an error reply for an error that the kernel also shows in its own window for ms milliseconds.
func Notice(msg string, ms int) Reply {
	return Reply{Code: -1, Msg: msg, Data: map[string]any{"closeTimeout": ms}}
}

// File returns a reply with the bytes of a file.
func File(data []byte, contentType string) Reply { return Reply{Raw: data, ContentType: contentType} }

// encode returns the body of the HTTP response.
func (r Reply) encode() []byte {
	if r.Raw != nil {
		return r.Raw
	}
	return MustJSON(struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data any    `json:"data"`
	}{r.Code, r.Msg, r.Data})
}

func (r Reply) httpStatus() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

// MustJSON encodes v, which must consist of plain maps, slices and structs. It panics if v cannot be encoded.
func MustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("vault: " + err.Error())
	}
	return data
}
