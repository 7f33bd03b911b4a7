package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/tool"
)

// This file lets the cache commands also work on the caches that a running gateway has in memory.

// kindTools is the tool cache, which is on disk. The other kinds are in the memory of a running gateway.
const kindTools = "tools"

// kinds returns the values of --kind.
func kinds() []string { return append([]string{kindTools}, llmadmin.CacheNames()...) }

// addKindFlag adds --kind to c.
func addKindFlag(c *cobra.Command, kind *string) {
	c.Flags().StringVar(kind, "kind", kindTools, "which cache: `KIND` is tools (what servers offer), models (what is set up of providers, with their secret headers) or transformers (how requests are adapted to a model)")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds(), cobra.ShellCompDirectiveNoFileComp)) // it fails only for an unknown flag
}

// checkKind refuses unknown kinds.
func checkKind(kind string) error {
	if !slices.Contains(kinds(), kind) {
		return root.Usage("--kind is %q, expected %s", kind, strings.Join(kinds(), ", "))
	}
	return nil
}

// memoryStats shows the figures of a cache that a running gateway has in memory.
func (p commands) memoryStats(ctx context.Context, kind string) error {
	raw, running, err := p.askMemory(ctx, http.MethodGet, "/caches", nil)
	if err != nil {
		return err
	}
	var got struct {
		Caches []llmadmin.CacheStats `json:"caches"`
	}
	if running {
		if err := json.Unmarshal(raw, &got); err != nil {
			return &tool.Error{Op: "cache stats", Kind: tool.Internal, Err: err}
		}
	}
	figures := llmadmin.CacheStats{Name: kind}
	for _, c := range got.Caches {
		if c.Name == kind {
			figures = c
		}
	}
	if p.JSON {
		return p.PrintJSON(struct {
			Running bool `json:"running"`
			llmadmin.CacheStats
		}{running, figures})
	}
	if !running {
		p.Note("no gateway with these settings runs in this home, and this cache lives in its memory")
		return nil
	}
	entries := strconv.Itoa(figures.Entries)
	if figures.Limit > 0 {
		entries = locale.Sprintf("%d of at most %d", figures.Entries, figures.Limit)
	}
	return p.Table(nil, [][]string{
		{"entries", entries},
		{locale.T("hits, misses, evicted"), fmt.Sprintf("%d, %d, %d", figures.Hits, figures.Misses, figures.Evicted)},
	})
}

// clearMemory empties a cache that a running gateway has in memory.
func (p commands) clearMemory(ctx context.Context, kind string) error {
	raw, running, err := p.askMemory(ctx, http.MethodPost, "/caches/"+kind+"/clear", []byte("{}"))
	if err != nil {
		return err
	}
	var got struct {
		Entries int `json:"entries"`
	}
	if running {
		if err := json.Unmarshal(raw, &got); err != nil {
			return &tool.Error{Op: "cache clear", Kind: tool.Internal, Err: err}
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"running": running, "entries": got.Entries})
	}
	if !running {
		p.Note("no gateway with these settings runs in this home, and this cache lives in its memory")
		return nil
	}
	_, err = fmt.Fprintln(p.Out, locale.Sprintf("forgot %d entries", got.Entries))
	return err
}

// askMemory sends a request about its caches to the running gateway. running is false if there is none with these settings.
func (p commands) askMemory(ctx context.Context, method, path string, body []byte) (raw json.RawMessage, running bool, err error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, false, err
	}
	r, sameSettings, err := p.Gateway(ctx, cfg)
	if err != nil {
		return nil, false, nil
	}
	defer r.Close()
	if !sameSettings {
		return nil, false, nil
	}
	raw, err = r.Do(ctx, method, path, body)
	return raw, true, err
}
