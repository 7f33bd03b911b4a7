package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// notes measures the SiYuan tools with a test kernel: what a call costs in addition to its requests. The
// baseline makes only those requests over HTTP, one after the other.
func (b *bench) notes(ctx context.Context) error {
	var end stopper
	defer func() { end.stop(b.log) }()
	w := newWorkspace(b.plan.documents)
	defer w.end()
	gateway, err := end.daemon(b.serveNotes(ctx, w.URL()))
	if err != nil {
		return err
	}
	for _, what := range []struct {
		name, tool, args string
	}{
		{"fs.read", "fs", `{"action":"read","path":"/Notes/Long 长"}`},
		{"search.fulltext", "search", `{"action":"fulltext","query":"paragraph"}`},
	} {
		c, err := dialHTTP(ctx, gateway.endpoint, legacy)
		if err != nil {
			return err
		}
		end.add(c.close)
		c.prepare(callTool(what.tool, what.args))
		for range 2 { // the first one reads levels and switches
			w.ResetCalls()
			if _, err := c.call(); err != nil {
				return fmt.Errorf("%s: %w", what.name, err)
			}
		}
		floor := &requests{base: w.URL(), calls: w.Calls()}
		through, alone := lane{client: c, name: what.name}, lane{client: floor, name: what.name + ", its requests alone"}
		for range b.plan.rounds {
			if err := b.runRound(ctx, b.plan.noteCalls, []*lane{&through, &alone}); err != nil {
				return err
			}
		}
		b.add("p50 of "+what.name+" ÷ its requests alone", ratio, combineRounds(through.p50, alone.p50, div), bound{})
		b.add("kernel requests of "+what.name, number, []float64{float64(len(floor.calls))}, bound{})
		b.add("p50, "+through.name, microseconds, through.p50, bound{})
		b.add("p50, "+alone.name, microseconds, alone.p50, bound{})
	}
	return nil
}

// serveNotes runs `collie serve` with a kernel.
func (b *bench) serveNotes(ctx context.Context, url string) (*daemon, error) {
	dir, err := os.MkdirTemp(b.dir, "notes-")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"siyuan": map[string]any{
		"connections": map[string]any{"bench": map[string]string{"url": url, "token": kerneltest.Token}},
	}})
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "collie.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	return b.serveIn(ctx, filepath.Join(dir, "home"), config, collieListens)
}

// workspace is a test kernel that runs outside of a test.
type workspace struct {
	*kerneltest.Kernel
	tb *outside
}

// outside implements the parts of testing.TB that a test kernel needs, outside of a test.
type outside struct {
	testing.TB
	cleanups []func()
}

func (o *outside) Helper()                  {}
func (o *outside) Cleanup(f func())         { o.cleanups = append(o.cleanups, f) }
func (o *outside) Context() context.Context { return context.Background() }
func (o *outside) TempDir() string {
	dir, err := os.MkdirTemp("", "collie-bench-notes-")
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (o *outside) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
func (o *outside) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (o *outside) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }

// newWorkspace returns a test kernel with a notebook: one document of 40 paragraphs, and so many others.
func newWorkspace(others int) *workspace {
	tb := &outside{}
	w := &workspace{kerneltest.New(tb), tb}
	nb := w.Notebook("Notes")
	for i := range others {
		w.Doc(nb, fmt.Sprintf("/Folder %d/Document %d", i%10, i), fmt.Sprintf("# Heading\n\nA paragraph of document %d 第几篇.\n\n- item", i))
	}
	w.Doc(nb, "/Long 长", strings.Repeat("A paragraph that somebody wrote, 一段文字.\n\n", 40))
	return w
}

func (w *workspace) end() {
	for _, v := range slices.Backward(w.tb.cleanups) {
		v()
	}
}

// requests is a client that makes the same requests to a kernel each time.
type requests struct {
	base  string
	calls []kerneltest.Call
}

func (r *requests) prepare(request) {}

func (r *requests) call() ([]byte, error) {
	var last []byte
	for _, c := range r.calls {
		req, err := http.NewRequest(http.MethodPost, r.base+c.Path, bytes.NewReader([]byte(c.Body)))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Token "+kerneltest.Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		last, err = io.ReadAll(resp.Body)
		if cerr := resp.Body.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

func (r *requests) close() error { return nil }
