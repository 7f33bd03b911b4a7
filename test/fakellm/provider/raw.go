package provider

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Raw is an answer byte for byte, for anything that a provider, or a proxy in front of it, may send.
type Raw struct {
	Status int               `json:"status,omitempty"` // 200 where 0
	Header map[string]string `json:"header,omitempty"`
	Body   []Bytes           `json:"body,omitempty"`
	// Split is how many bytes are sent at once, even if that splits a character or \r\n; 0 sends each piece of Body as
	// it is.
	Split int `json:"split,omitempty"`
	// Length, unless 0, is announced as the length of the body. If it is more than the true length, the client sees an
	// answer that was cut off.
	Length int `json:"length,omitempty"`
	// Cut aborts the connection after the body. Hang keeps it open without sending more until the client leaves.
	Cut  bool `json:"cut,omitempty"`
	Hang bool `json:"hang,omitempty"`
}

// Bytes are a piece of a body.
type Bytes struct {
	Text   string   `json:"text,omitempty"`
	Base64 []byte   `json:"base64,omitempty"` // follows Text, for content that is not text
	Repeat int      `json:"repeat,omitempty"` // how many times; once where 0
	Wait   Duration `json:"wait,omitempty"`   // the time to wait before sending it
}

func (r *Raw) check() error {
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return fmt.Errorf("raw.status: %d; 200 to 599 are answers", r.Status)
	}
	if r.Split < 0 || r.Length < 0 {
		return fmt.Errorf("raw: split and length are numbers of bytes")
	}
	return nil
}

// raw answers byte for byte.
func (w *writer) raw(r *Raw) {
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
		if w.dialect.lines {
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
	}
	if r.Length > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(r.Length))
	}
	if w.asked.Status = r.Status; r.Status == 0 {
		w.asked.Status = http.StatusOK
	}
	if len(r.Body) > 0 || !r.Cut {
		w.WriteHeader(w.asked.Status)
	}
	for _, b := range r.Body {
		if !w.wait(time.Duration(b.Wait)) {
			return
		}
		data := append([]byte(b.Text), b.Base64...)
		for range max(b.Repeat, 1) {
			if w.bytes(data, r.Split) != nil {
				return
			}
		}
	}
	switch {
	case r.Hang:
		<-w.request.Context().Done()
		fallthrough
	case r.Cut, r.Length > 0:
		panic(http.ErrAbortHandler)
	}
}

// bytes sends data, split bytes at a time.
func (w *writer) bytes(data []byte, split int) error {
	if split <= 0 {
		split = len(data)
	}
	for len(data) > 0 {
		n := min(split, len(data))
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
			return err
		}
	}
	return nil
}

// textAt returns, as text, the value in decoded JSON that a path like messages.0.content names. A negative index counts from
// the end.
func textAt(v any, path string) (string, bool) {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < -len(in) || i >= len(in) {
				return "", false
			}
			v = in[(i+len(in))%len(in)]
		default:
			return "", false
		}
	}
	if v == nil {
		return "", false
	}
	return fmt.Sprint(v), true
}
