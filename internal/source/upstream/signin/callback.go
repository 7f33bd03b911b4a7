package signin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// callback is the HTTP server on 127.0.0.1 to which the browser is redirected at the end of a sign-in.
type callback struct {
	server *http.Server
	served chan struct{}
}

// serveCallback serves l until close. It sends each answer to answers, and the page shows the result.
func serveCallback(l net.Listener, answers chan<- attempt) *callback {
	stop, cancel := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	host, host80 := l.Addr().String(), ""
	if name, port, err := net.SplitHostPort(host); err == nil && port == "80" {
		host80 = name // browsers leave out the port of the scheme
	}
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host && (host80 == "" || r.Host != host80) { // another name for this address may be DNS rebinding
			http.Error(w, "not here", http.StatusMisdirectedRequest)
			return
		}
		verdict := make(chan error, 1)
		select {
		case answers <- attempt{answer{values: r.URL.Query()}, verdict}:
		case <-r.Context().Done():
			return
		case <-stop.Done():
			writePage(w, http.StatusGone, pageOver)
			return
		}
		switch err := <-verdict; {
		case err == nil:
			writePage(w, http.StatusOK, pageDone)
		case errors.Is(err, errBadAnswer):
			writePage(w, http.StatusBadRequest, pageOver)
		default:
			writePage(w, http.StatusOK, pageFailed)
		}
	})
	c := &callback{
		server: &http.Server{
			Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // discarded: errors could quote authorization codes
		},
		served: make(chan struct{}),
	}
	c.server.RegisterOnShutdown(cancel)
	go func() {
		defer close(c.served)
		_ = c.server.Serve(l) // returns at close
	}()
	return c
}

// close gives the browser up to a second to read the last page.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	<-c.served
}

const (
	pageDone   = "Signed in. You can close this window.\n已登录，可以关闭此窗口。"
	pageFailed = "Not signed in. The terminal says why.\n登录失败，原因见终端。"
	pageOver   = "This is not the answer to a sign-in that waits.\n没有等待此答复的登录。"
)

// writePage writes a fixed text: nothing of the request gets into the page.
func writePage(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the browser may be gone, which does not matter
}
