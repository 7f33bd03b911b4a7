package api

import (
	"encoding/json"
	"net/http"
)

// Reply is what a handler answers. The zero value is code 0 with data null.
type Reply struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	Code   int
	Msg    string
	Data   any
	// Raw replaces the JSON envelope by these bytes when it is not nil.
	Raw         []byte
	ContentType string
}

// OK answers code 0 with data.
func OK(data any) Reply { return Reply{Data: data} }

// Done answers code 0 with data null, which is success for most writes.
func Done() Reply { return Reply{} }

// Fail answers an error the way most handlers do: HTTP 200, data null.
func Fail(code int, msg string) Reply { return Reply{Code: code, Msg: msg} }

// Notice answers an error that the kernel also shows in its own window for ms milliseconds.
func Notice(msg string, ms int) Reply {
	return Reply{Code: -1, Msg: msg, Data: map[string]any{"closeTimeout": ms}}
}

// File answers the bytes of a file.
func File(data []byte, contentType string) Reply { return Reply{Raw: data, ContentType: contentType} }

// body renders r as it goes on the wire.
func (r Reply) body() []byte {
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

// MustJSON encodes v, which is always built from plain maps, slices and structs.
func MustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("vault: " + err.Error())
	}
	return data
}
