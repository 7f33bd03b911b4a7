package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
)

func (p *program) cacheShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show what is kept, of one server or of all", Args: cobra.MaximumNArgs(1),
		Long: "Shows what the cache keeps of each server; with --json the file itself, decompressed, or the\n" +
			"entry of NAME, as it lies in the file.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.cacheShow(c.Context(), args) },
	}
}

func (p *program) cacheShow(ctx context.Context, args []string) error {
	cache, cfg, err := p.openCache(ctx)
	if err != nil {
		return err
	}
	defer closeCache(cache, slog.New(slog.DiscardHandler))
	entries := cache.Entries()
	if len(args) == 1 && entries[args[0]] == nil {
		return &tool.Error{
			Op: "cache show", Kind: tool.Unknown, Subject: args[0], Message: "nothing is kept of it",
			Hint: firstOf(didYouMeanHint(args[0], slices.Collect(maps.Keys(entries))), "collie cache warm "+args[0]+" learns its tools"),
		}
	}
	if p.json {
		if len(args) == 1 {
			return p.writeJSON(entries[args[0]])
		}
		_, data, err := p.readCacheFile(nil)
		if err != nil {
			return err
		}
		if data, err = app.PlainCache(data); err != nil {
			return &tool.Error{Op: "cache show", Kind: tool.Invalid, Err: err, Hint: "collie cache verify shows what is wrong"}
		}
		return p.writeJSON(data)
	}
	verdicts := map[string]tool.ServerStatus{}
	for _, s := range app.ReadServers(ctx, cfg, p.env) {
		verdicts[s.Status.Name] = s.Status
	}
	var rows [][]string
	for _, r := range cache.Stats().Servers {
		if len(args) == 1 && r.Name != args[0] {
			continue
		}
		st, configured := verdicts[r.Name]
		verdict := first(string(st.Freshness), "miss")
		if st.Why != "" {
			verdict += " (" + st.Why + ")"
		}
		if !configured {
			verdict = "not configured"
		}
		kept := "-"
		if !r.ValidatedAt.IsZero() {
			kept = age(time.Duration(r.AgeSeconds) * time.Second)
		}
		rows = append(rows, []string{
			r.Name, string(r.State), verdict, kept, strconv.Itoa(r.Tools), sizeOf(int64(r.Bytes)), first(r.Scope, "-"), first(r.LastError, "-"),
		})
	}
	if len(rows) == 0 {
		p.note("the cache is empty; collie cache warm fills it")
		return nil
	}
	return p.table([]string{"NAME", "STATE", "VERDICT", "CONFIRMED", "TOOLS", "SIZE", "SCOPE", "LAST ERROR"}, rows)
}

// writeJSON prints JSON that others made, as it is.
func (p *program) writeJSON(raw json.RawMessage) error {
	_, err := p.out.Write(append(bytes.TrimRight(raw, "\n"), '\n'))
	return err
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// didYouMeanHint is a hint with the nearest name, empty if none is near.
func didYouMeanHint(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return "did you mean " + near + "?"
	}
	return ""
}

func (p *program) cacheStatsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Show how well the cache works", Args: cobra.NoArgs,
		Long: "Shows the file's own counters and, where a gateway runs, what it has looked up, refreshed and\n" +
			"written since its start.",
		RunE: func(c *cobra.Command, _ []string) error { return p.cacheStats(c.Context()) },
	}
}

func (p *program) cacheStats(ctx context.Context) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if r, same, err := p.gateway(ctx, cfg); err == nil {
		defer r.Close()
		if same {
			raw, err := r.do(ctx, http.MethodGet, "/toolcache/stats", nil)
			if err != nil {
				return err
			}
			return p.showStats(raw, true)
		}
	}
	cache, _, err := p.openCache(ctx)
	if err != nil {
		return err
	}
	defer closeCache(cache, slog.New(slog.DiscardHandler))
	raw, err := json.Marshal(cache.Stats())
	if err != nil {
		return err
	}
	return p.showStats(raw, false)
}

func (p *program) showStats(raw json.RawMessage, running bool) error {
	if p.json {
		return p.writeJSON(raw)
	}
	var s app.CacheStats
	if err := json.Unmarshal(raw, &s); err != nil {
		return &tool.Error{Op: "cache stats", Kind: tool.Internal, Err: err}
	}
	format := first(s.Format, "none yet")
	if s.Compressed {
		format += ", gzip, " + sizeOf(s.PlainSize) + " before"
	}
	rows := [][]string{
		{"file", s.Path}, {"format", format}, {"size", sizeOf(s.Size)},
		{"servers", strconv.Itoa(s.FileInfo.Servers)},
		{"entries written", strconv.FormatUint(s.Total, 10)}, {"file writes", strconv.FormatUint(s.FileInfo.Writes, 10)},
		{"generation", strconv.FormatUint(s.Generation, 10)},
	}
	if !s.Created.IsZero() {
		rows = append(rows, []string{"created", s.Created.Local().Format(time.RFC3339)}, []string{"last update", s.Updated.Local().Format(time.RFC3339)})
	}
	if !s.Writable {
		rows = append(rows, []string{"writable", "no"})
	}
	if running {
		rows = append(rows,
			[]string{"lookups", strconv.FormatUint(s.Lookups, 10) + ", " + strconv.Itoa(int(s.HitRate*100+0.5)) + " % served"},
			[]string{"hits, stale, misses", strconv.FormatUint(s.Hits, 10) + ", " + strconv.FormatUint(s.StaleHits, 10) + ", " + strconv.FormatUint(s.Misses, 10) + reasons(s.MissReasons)},
			[]string{"lists from servers", strconv.FormatUint(s.Refreshes.OK, 10) + ", " + strconv.FormatUint(s.Refreshes.Changed, 10) + " changed, " + strconv.FormatUint(s.Refreshes.Failed, 10) + " failed"},
			[]string{"writes", strconv.FormatUint(s.Writes.OK, 10) + reasons(s.Writes.Failed)},
			[]string{"load", strconv.FormatFloat(s.LoadMillis, 'f', 1, 64) + " ms"},
		)
	}
	if s.Shared != nil {
		rows = append(rows, []string{
			"shared", strconv.FormatUint(s.Shared.Adopted, 10) + " adopted, " + strconv.FormatUint(s.Shared.Pushed, 10) + " pushed, " +
				strconv.FormatUint(s.Shared.Dropped, 10) + " dropped" + reasons(s.Shared.Failures),
		})
	}
	if s.LastFailure != "" {
		rows = append(rows, []string{"last failure", s.LastFailure})
	}
	return p.table(nil, rows)
}

// reasons lists counts by reason in brackets; empty if there are none.
func reasons(counts map[string]uint64) string {
	out := ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out += " " + name + " " + strconv.FormatUint(counts[name], 10)
	}
	if out == "" {
		return ""
	}
	return " (" + out[1:] + ")"
}
