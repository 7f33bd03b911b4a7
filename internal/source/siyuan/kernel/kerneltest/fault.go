package kerneltest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// This file makes chosen requests fail, to test what clients do then.

// Mode is a way for a call to go wrong.
type Mode string

// The ways for a call to go wrong.
const (
	// FailServer answers HTTP 500 and does nothing.
	FailServer Mode = "500"
	// FailBusy answers HTTP 429 and does nothing.
	FailBusy Mode = "429"
	// FailAuth answers HTTP 401 and does nothing.
	FailAuth Mode = "401"
	// FailClose closes the connection and does nothing.
	FailClose Mode = "close"
	// FailLost does the work and closes the connection without an answer, so that the caller does not know the
	// outcome.
	FailLost Mode = "lost"
	// FailHang does nothing and answers nothing until the caller gives up.
	FailHang Mode = "hang"
	// FailEmpty answers 200 without a body, as a kernel does when a handler panics late.
	FailEmpty Mode = "empty"
	// FailGarbage answers 200 with a body that is not JSON.
	FailGarbage Mode = "garbage"
)

// FailMessage returns the mode that answers with a kernel error, code -1 and msg, and does nothing.
func FailMessage(msg string) Mode { return Mode(messageMode + msg) }

const messageMode = "msg:"

// fault is a fault to inject into one call; the zero value injects none.
type fault struct{ mode Mode }

// Fail makes the next n calls to the endpoint path fail in the given way. Several calls of Fail for one path queue
// up.
func (k *Kernel) Fail(path string, n int, mode Mode) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults[path] = append(k.faults[path], slices.Repeat([]fault{{mode}}, n)...)
}

func (k *Kernel) takeFault(path string) (f fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if queue := k.faults[path]; len(queue) > 0 {
		f, k.faults[path] = queue[0], queue[1:]
	}
	return f
}

// before plays a fault that replaces the work, and reports whether it did.
func (f fault) before(w http.ResponseWriter, r *http.Request) bool {
	switch f.mode {
	case "", FailLost:
		return false
	case FailServer:
		http.Error(w, "internal server error", http.StatusInternalServerError)
	case FailBusy:
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case FailAuth:
		writeJSON(w, http.StatusUnauthorized, map[string]any{"code": -1, "msg": "Auth failed [session]"})
	case FailClose:
		closeConnection(w)
	case FailHang:
		<-r.Context().Done()
	case FailEmpty:
		w.WriteHeader(http.StatusOK)
	case FailGarbage:
		_, _ = w.Write([]byte("<html>not the kernel</html>"))
	default:
		writeJSON(w, http.StatusOK, struct {
			Code int    `json:"code"`
			Msg  string `json:"msg"`
			Data any    `json:"data"`
		}{-1, strings.TrimPrefix(string(f.mode), messageMode), nil})
	}
	return true
}

// after plays a fault that follows the work, and reports whether it did.
func (f fault) after() bool {
	if f.mode == FailLost {
		panic(http.ErrAbortHandler)
	}
	return false
}

// closeConnection drops the connection. With a recorder, which has none, the caller sees an empty 200.
func closeConnection(w http.ResponseWriter) {
	if _, recorded := w.(*httptest.ResponseRecorder); recorded {
		return
	}
	panic(http.ErrAbortHandler)
}
