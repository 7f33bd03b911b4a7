package kerneltest

import (
	"encoding/json"
	"net/http"
)

// reply is what a handler answers. The zero value is code 0 with data null.
type reply struct {
	// status is the HTTP status; 0 means 200.
	status int
	code   int
	msg    string
	data   any
	// raw replaces the JSON envelope by these bytes when it is not nil.
	raw         []byte
	contentType string
}

// ok answers code 0 with data.
func ok(data any) reply { return reply{data: data} }

// done answers code 0 with data null, which is success for most writes.
func done() reply { return reply{} }

// fail answers an error the way most handlers do: HTTP 200, data null.
func fail(code int, msg string) reply { return reply{code: code, msg: msg} }

// notice answers an error that the kernel also shows in its own window for ms milliseconds.
func notice(msg string, ms int) reply {
	return reply{code: -1, msg: msg, data: map[string]any{"closeTimeout": ms}}
}

// file answers the bytes of a file.
func file(data []byte, contentType string) reply { return reply{raw: data, contentType: contentType} }

// body renders r as it goes on the wire.
func (r reply) body() []byte {
	if r.raw != nil {
		return r.raw
	}
	return mustJSON(struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data any    `json:"data"`
	}{r.code, r.msg, r.data})
}

func (r reply) httpStatus() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// mustJSON encodes v, which is always built from plain maps, slices and structs.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("kerneltest: " + err.Error())
	}
	return data
}
