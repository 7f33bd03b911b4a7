package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// writer answers one request.
type writer struct {
	http.ResponseWriter
	request *http.Request
	asked   *Request
	dialect *dialect
}

// json answers with a value.
func (w *writer) json(status int, v any) {
	w.asked.Status = status
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the whole answer was made here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// refuse answers a request that the real API would refuse, or that the script does not know.
func (w *writer) refuse(status int, message string) {
	w.asked.Fault = message
	w.fail(Failure{Status: status, Message: message})
}

// fail answers with an error that comes before any answer.
func (w *writer) fail(f Failure) {
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.json(f.Status, w.dialect.problem(f.problem()))
}

func (f Failure) problem() problem {
	p := problem{status: f.Status, kind: f.Type, message: f.Message, requestID: "req_fake"}
	if p.status == 0 {
		p.status = http.StatusInternalServerError
	}
	p.message = orDefault(p.message, orDefault(http.StatusText(p.status), "overloaded"))
	return p
}

// breakOff sends a failure inside an answer to a client that did not ask for a stream.
func (w *writer) breakOff(f Failure) {
	switch {
	case f.Hang:
		<-w.request.Context().Done()
	case f.Cut:
	default:
		f.Status = http.StatusInternalServerError
		w.fail(f)
		return
	}
	panic(http.ErrAbortHandler)
}

// stream sends the pieces of an answer. With a failure it stops after f.After pieces and fails as f says.
func (w *writer) stream(frames []frame, a answer, f *Failure) {
	if f == nil || f.After > 0 || !f.Cut {
		w.asked.Status = http.StatusOK
		w.Header().Set("Content-Type", "text/event-stream")
		if w.dialect.lines {
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
	}
	for i, one := range frames {
		if f != nil && i == f.After {
			break
		}
		if i > 0 && !w.wait(a.pace) {
			return
		}
		if a.until != nil && i == len(frames)/2 {
			select {
			case <-a.until:
			case <-w.request.Context().Done():
				return
			}
		}
		w.send(one, a.split)
	}
	if f != nil {
		w.breakStream(*f)
		return
	}
	_, _ = w.Write([]byte(w.dialect.end))
}

// breakStream ends a stream as the failure says.
func (w *writer) breakStream(f Failure) {
	switch {
	case f.Hang:
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		<-w.request.Context().Done()
	case !f.Cut:
		w.send(w.dialect.broken(f.problem()), 0)
		return
	}
	panic(http.ErrAbortHandler)
}

// wait waits for pace. It returns false if the client has left.
func (w *writer) wait(pace time.Duration) bool {
	if pace <= 0 {
		return w.request.Context().Err() == nil
	}
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.request.Context().Done():
		return false
	}
}

// nowPlaceholder stands for the time at which its piece is sent, in nanoseconds since 1970. One piece must contain
// all of it.
const nowPlaceholder = "$NOW"

// send writes one piece, split bytes at a time.
func (w *writer) send(one frame, split int) {
	data, err := json.Marshal(one.data)
	if err != nil {
		panic(err)
	}
	if bytes.Contains(data, []byte(nowPlaceholder)) {
		data = bytes.ReplaceAll(data, []byte(nowPlaceholder), strconv.AppendInt(nil, time.Now().UnixNano(), 10))
	}
	if w.dialect.lines {
		_ = w.bytes(append(data, '\n'), split)
		return
	}
	text := fmt.Sprintf("data: %s\n\n", data)
	if one.event != "" {
		text = "event: " + one.event + "\n" + text
	}
	_ = w.bytes([]byte(text), split)
}
