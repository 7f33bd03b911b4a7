package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the command `collie cache stats`, which prints the sizes in the cache file, and the hits and misses of the
// running gateway.

func (p commands) statsCommand() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use: "stats", Short: "Show how well the cache works", Args: cobra.NoArgs,
		Long: "Shows the counters of the cache file and, if a gateway runs, how much it has looked up, refreshed\n" +
			"and written since its start. With --kind, the counters of what a running gateway keeps of models.",
		RunE: func(c *cobra.Command, _ []string) error {
			switch err := checkKind(kind); {
			case err != nil:
				return err
			case kind == kindTools:
				return p.stats(c.Context())
			}
			return p.memoryStats(c.Context(), kind)
		},
	}
	addKindFlag(c, &kind)
	return c
}

// stats prints the facts about the file, a row for each server, and the counters of the running gateway.
func (p commands) stats(ctx context.Context) error {
	contents, cfg, err := p.readCache(ctx)
	if err != nil {
		return err
	}
	since, err := p.gatewayCounters(ctx, cfg)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(statsOf(&contents, since))
	}
	if err := p.Table(nil, fileRows(&contents.File)); err != nil {
		return err
	}
	if len(contents.Servers) > 0 {
		fmt.Fprintln(p.Out)
		if err := p.Table(cachedTable(contents.Servers)); err != nil {
			return err
		}
	}
	if since == nil {
		p.Note("no gateway with these settings runs in this home; its lookups and writes are counted only while it runs")
		return nil
	}
	fmt.Fprintln(p.Out)
	return p.Table([]string{"SINCE THE GATEWAY STARTED"}, counterRows(since))
}

// gatewayCounters asks the running gateway for the counters of its cache; nil without a gateway.
func (p commands) gatewayCounters(ctx context.Context, cfg *config.Config) (*cacheadmin.Stats, error) {
	r, sameSettings, err := p.Gateway(ctx, cfg)
	if err != nil {
		return nil, nil // no gateway is a regular answer
	}
	defer r.Close()
	if !sameSettings {
		return nil, nil //nolint:nilnil // as above
	}
	raw, err := r.Do(ctx, http.MethodGet, "/toolcache/stats", nil)
	if err != nil {
		return nil, err
	}
	var since cacheadmin.Stats
	if err := json.Unmarshal(raw, &since); err != nil {
		return nil, &tool.Error{Op: "cache stats", Kind: tool.Internal, Err: err}
	}
	return &since, nil
}

// statsOf returns the JSON output: the present state of file and servers, and the counters of the running
// gateway, all zero if none is running.
func statsOf(contents *serveradmin.CacheContents, since *cacheadmin.Stats) any {
	out := struct {
		Running bool `json:"running"`
		cacheadmin.Stats
		Servers []serveradmin.CachedServer `json:"servers"`
	}{Running: since != nil, Servers: contents.Servers}
	if since != nil {
		out.Stats = *since
	}
	out.FileInfo = contents.File
	if contents.File.Compressed {
		out.BytesSaved = contents.File.PlainSize - contents.File.Size
	}
	for _, m := range []*map[string]uint64{&out.StaleReasons, &out.MissReasons, &out.Refused, &out.ReadFailures, &out.Writes.Failed} {
		if *m == nil {
			*m = map[string]uint64{}
		}
	}
	return out
}

// fileRows returns the facts about the cache file.
func fileRows(f *cacheadmin.FileInfo) [][]string {
	if f.Missing {
		return [][]string{{"file", f.Path}, {"state", locale.T("not created yet")}}
	}
	format := f.Format
	if f.Compressed {
		format += locale.Sprintf(", gzip, %s before", output.BinarySize(f.PlainSize))
	}
	rows := [][]string{
		{"file", f.Path},
		{"format", format},
		{"size", output.BinarySize(f.Size)},
		{"servers", strconv.Itoa(f.Servers)},
		{"entries written", strconv.FormatUint(f.Total, 10)},
		{"file writes", strconv.FormatUint(f.Writes, 10)},
		{"generation", strconv.FormatUint(f.Generation, 10)},
	}
	if !f.Created.IsZero() {
		rows = append(rows, []string{"created", f.Created.Local().Format(time.RFC3339)}, []string{"last update", f.Updated.Local().Format(time.RFC3339)})
	}
	if !f.Writable {
		rows = append(rows, []string{"writable", locale.T("no")})
	}
	return rows
}

// counterRows returns the counters of the running gateway.
func counterRows(s *cacheadmin.Stats) [][]string {
	rows := [][]string{
		{"lookups", locale.Sprintf("%d, %.0f %% served", s.Lookups, s.HitRate*100)},
		{locale.T("hits, stale, misses"), fmt.Sprintf("%d, %d, %d%s", s.Hits, s.StaleHits, s.Misses, reasonCounts(s.MissReasons))},
		{"lists from servers", locale.Sprintf("%d, %d changed, %d failed", s.Refreshes.OK, s.Refreshes.Changed, s.Refreshes.Failed)},
		{"lists not kept", fmt.Sprintf("%d%s", sumCounts(s.Refused), reasonCounts(s.Refused))},
		{"writes", fmt.Sprintf("%d%s", s.Writes.OK, reasonCounts(s.Writes.Failed))},
		{"writing took", locale.Sprintf("%.1f ms last, %.1f ms mean, %.1f ms at most", s.Writes.LastMillis, s.Writes.MeanMillis, s.Writes.LongestMillis)},
		{"waits for the lock", strconv.FormatUint(s.Writes.LockWaits, 10)},
		{"merges", strconv.FormatUint(s.Merges, 10)},
		{"load", fmt.Sprintf("%.1f ms", s.LoadMillis)},
	}
	if s.Shared != nil {
		rows = append(rows, []string{
			"shared", locale.Sprintf("%d adopted, %d pushed, %d dropped%s", s.Shared.Adopted, s.Shared.Pushed, s.Shared.Dropped, reasonCounts(s.Shared.Failures)),
		})
	}
	if s.LastFailure != "" {
		rows = append(rows, []string{"last failure", s.LastFailure})
	}
	return rows
}

func sumCounts(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// reasonCounts returns the counts by reason, in brackets; empty if there are none.
func reasonCounts(counts map[string]uint64) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out.WriteString(" " + name + " " + strconv.FormatUint(counts[name], 10))
	}
	if out.String() == "" {
		return ""
	}
	return " (" + out.String()[1:] + ")"
}
