package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// With follow=1 the route of a server's log is an event stream that sends each line at once.
func TestLogsAreFollowed(t *testing.T) {
	t.Parallel()
	h, _ := newAPI(t)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v1/mcp/servers/s/logs?follow=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "control")
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type is %q", got)
	}
	lines := bufio.NewScanner(resp.Body)
	want := []string{`"stream":"stderr","text":"<hello>`, "", `"text":"你好"}`, ""}
	for _, part := range want { // both lines arrive while the stream is open
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if got := lines.Text(); part == "" && got != "" || !strings.Contains(got, part) || part != "" && !strings.HasPrefix(got, "data: {") {
			t.Errorf("line is %q, want %q", got, part)
		}
	}
	cancel()
	for lines.Scan() { // the stream must end, or the test hangs
	}
}

func TestAnErrorEndsTheStream(t *testing.T) {
	t.Parallel()
	h, _ := newAPI(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/mcp/servers/s/logs?follow=1", nil)
	req.Header.Set("Authorization", "control")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	_, end, _ := strings.Cut(w.Body.String(), "你好\"}\n\n")
	if !strings.HasPrefix(end, "event: error\ndata: {\"error\":{") || strings.Count(end, "data:") != 1 || !strings.HasSuffix(end, "}\n\n") {
		t.Errorf("it ends with %q", end)
	}
}
