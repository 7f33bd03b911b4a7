package kernel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"collie/internal/source/siyuan/kernel"
)

// The kernel answers null for some lists if they are empty, which is not an error.
func TestNullIsAnEmptyList(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"code":0,"msg":"","data":null}`)
	}))
	t.Cleanup(server.Close)
	c := kernel.New(server.URL, kernel.Options{})
	t.Cleanup(c.Close)
	for name, list := range map[string]func(context.Context) (int, error){
		"recent blocks": func(ctx context.Context) (int, error) { l, err := c.RecentBlocks(ctx); return len(l), err },
		"assets":        func(ctx context.Context) (int, error) { l, err := c.SearchAssets(ctx, "x", nil); return len(l), err },
		"unused assets": func(ctx context.Context) (int, error) { l, err := c.UnusedAssets(ctx); return len(l), err },
		"decks":         func(ctx context.Context) (int, error) { l, err := c.Decks(ctx); return len(l), err },
		"tags":          func(ctx context.Context) (int, error) { l, err := c.Tags(ctx, 0, true); return len(l), err },
		"paths":         func(ctx context.Context) (int, error) { l, err := c.IDsByHPath(ctx, "x", "/x"); return len(l), err },
	} {
		if n, err := list(t.Context()); n != 0 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
