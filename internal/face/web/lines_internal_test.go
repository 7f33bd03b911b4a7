package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// blockedWriter is a caller that reads nothing until freed is closed.
type blockedWriter struct {
	*httptest.ResponseRecorder
	freed chan struct{}
}

func (h *blockedWriter) Write(b []byte) (int, error) {
	<-h.freed
	return h.ResponseRecorder.Write(b)
}

// A caller that does not read blocks nobody. It gets as many notifications as there was room for, the number
// of those left out, and finally its answer.
func TestLinesOfACallerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &blockedWriter{httptest.NewRecorder(), make(chan struct{})}
		var l lines
		l.begin(w, http.NewResponseController(w), func() { t.Error("given up") })
		begun := time.Now()
		l.notify(json.RawMessage(`"first"`))
		synctest.Wait()
		for range 20 {
			l.notify(json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`))
		}
		l.send(json.RawMessage(`"answer"`))
		if took := time.Since(begun); took > 0 {
			t.Errorf("senders were held for %v", took)
		}
		close(w.freed)
		l.end()
		got := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		if n := len(got); n != 10 || got[0] != `"first"` || !strings.Contains(got[8], `"13 messages were left out`) || got[9] != `"answer"` {
			t.Errorf("%d lines came, the last ones %.100q", n, got[max(0, n-2):])
		}
	})
}
