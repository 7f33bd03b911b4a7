package httpserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// pipes is a listener with in-memory connections.
type pipes struct {
	next chan net.Conn
	done chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}
func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A connection with an incomplete header is closed after headerTimeout, and an idle one after idleTimeout. A connection whose
// request is being served stays open, however long that takes.
func TestConnectionsThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var watched conns
		listener := pipes{make(chan net.Conn), make(chan struct{})}
		srv := &http.Server{
			ConnState: watched.observe,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/slow" {
					await.Sleep(time.Hour)
				}
				_, _ = io.WriteString(w, "ok")
			}),
		}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(watchedListener{listener, &watched}) }()
		dial := func(text string) net.Conn {
			ours, theirs := net.Pipe()
			listener.next <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Error(err)
			}
			return ours
		}
		timeUntilClosed := func(c net.Conn) time.Duration {
			begun := time.Now()
			_, _ = io.Copy(io.Discard, c)
			return time.Since(begun)
		}
		readAnswer := func(c net.Conn) {
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("answered %v, %v", resp, err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		slow := dial("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		if took := timeUntilClosed(dial("GET / HTTP/1.1\r\nHo")); took < headerTimeout-checkEvery || took > headerTimeout+2*checkEvery {
			t.Errorf("half a header was waited for %v", took)
		}
		idle := dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		readAnswer(idle)
		if took := timeUntilClosed(idle); took < idleTimeout-checkEvery || took > idleTimeout+2*checkEvery {
			t.Errorf("an idle connection was kept for %v", took)
		}
		readAnswer(slow)
		_ = slow.Close()
		synctest.Wait()
		watched.mu.Lock()
		left := len(watched.all)
		watched.mu.Unlock()
		if left != 0 {
			t.Errorf("%d connections are watched that have ended", left)
		}
		_ = srv.Close()
		<-served
	})
}
