package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program prints its address, follows its script, and records the requests it gets.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, record := filepath.Join(dir, "script.json"), filepath.Join(dir, "requests.jsonl")
	if err := os.WriteFile(script, []byte(`{"conversations": [{"turns": [{"say": "Good dog."}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-script", script, "-record", record}, stdout) }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSpace(url)+"/v1/responses", strings.NewReader(`{"model": "m", "input": "Hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || !bytes.Contains(answer, []byte("Good dog.")) {
		t.Errorf("it answers %s, %v", answer, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(record); err != nil || !bytes.Contains(kept, []byte(`"text":"Hello"`)) {
		t.Errorf("on record is %s, %v", kept, err)
	}
}
