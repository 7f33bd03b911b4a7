package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
		Long: "Shows what the cache keeps of each server, and what that is worth now; with NAME all that is\n" +
			"kept of one, with --json the file itself, decompressed, or the entry of NAME as it lies in it.\n\n" +
			"VERDICT is hit (listed at once, nobody is asked), stale (listed, and asked for again), expired or\n" +
			"miss (not listed before the server has told). REASON says why.",
		ValidArgsFunction: p.completeCached(1),
		RunE:              func(c *cobra.Command, args []string) error { return p.cacheShow(c.Context(), args) },
	}
}

func (p *program) cacheShow(ctx context.Context, args []string) error {
	if p.json && len(args) == 0 {
		return p.cacheShowFile()
	}
	kept, _, err := p.readCache(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return p.showCached(kept)
	}
	names := make([]string, len(kept.Servers))
	for i := range kept.Servers {
		names[i] = kept.Servers[i].Name
	}
	i := slices.Index(names, args[0])
	if i < 0 {
		return &tool.Error{
			Op: "cache show", Kind: tool.Unknown, Subject: args[0], Message: "it is neither configured nor kept",
			Hint: first(didYouMeanHint(args[0], names), "collie cache show lists what is kept"),
		}
	}
	s := &kept.Servers[i]
	if s.Entry == nil {
		return &tool.Error{
			Op: "cache show", Kind: tool.Unknown, Subject: s.Name, Message: "nothing is kept of it" + inBrackets(s.Reason),
			Hint: "collie cache warm " + s.Name + " learns its tools, or says why it cannot",
		}
	}
	if p.json {
		return p.writeJSON(s.Entry)
	}
	return p.table(nil, cachedDetails(s))
}

// cacheShowFile prints the file, decompressed.
func (p *program) cacheShowFile() error {
	path, data, err := p.readCacheFile(nil)
	if err != nil {
		return err
	}
	if data, err = app.PlainCache(data); err == nil && !json.Valid(data) {
		err = errors.New("it is no JSON")
	}
	if err != nil {
		return &tool.Error{Op: "cache show", Kind: tool.Invalid, Subject: path, Err: err, Hint: "collie cache verify shows what is wrong"}
	}
	return p.writeJSON(data)
}

// showCached is the table of all servers.
func (p *program) showCached(kept app.CacheContents) error {
	if len(kept.Servers) == 0 {
		p.note("the cache is empty, and no server is configured")
		return nil
	}
	if err := p.table(cachedTable(kept.Servers)); err != nil {
		return err
	}
	if kept.File.Missing {
		p.note("there is no cache file yet; collie cache warm makes it, and so does a gateway")
	}
	return nil
}

func cachedTable(servers []app.CachedServer) (head []string, rows [][]string) {
	head = []string{"NAME", "VERDICT", "CONFIRMED", "TOOLS", "SIZE", "STATE", "ERA", "SCOPE", "LAST ERROR", "REASON"}
	for i := range servers {
		s := &servers[i]
		row := []string{s.Name, first(string(s.Verdict), "-"), "-", "-", "-", "-", "-", "-", "-", first(whyCached(s), "-")}
		if s.Entry != nil {
			copy(row[2:], []string{
				confirmed(s), strconv.Itoa(s.Tools), sizeOf(int64(s.Bytes)), string(s.State),
				first(s.Era, "-"), first(s.Scope, "-"), first(s.LastError, "-"),
			})
		}
		rows = append(rows, row)
	}
	return withoutEmpty(head, rows, "NAME", "VERDICT")
}

// withoutEmpty leaves out the columns in which no row has anything, but for those that are kept.
func withoutEmpty(head []string, rows [][]string, keep ...string) ([]string, [][]string) {
	var names []string
	cells := make([][]string, len(rows))
	for i, name := range head {
		if !slices.Contains(keep, name) && !slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "-" }) {
			continue
		}
		names = append(names, name)
		for j, row := range rows {
			cells[j] = append(cells[j], row[i])
		}
	}
	return names, cells
}

// whyCached says what speaks against the entry of a server.
func whyCached(s *app.CachedServer) string {
	if !s.Configured {
		return "not_configured"
	}
	return first(s.Reason, s.StateReason)
}

// confirmed is how long ago a live server has told its lists.
func confirmed(s *app.CachedServer) string {
	if s.ValidatedAt.IsZero() {
		return "-"
	}
	return age(max(0, time.Duration(s.AgeSeconds)*time.Second))
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// writeJSON prints JSON that others made, as it is.
func (p *program) writeJSON(raw json.RawMessage) error {
	_, err := p.out.Write(append(bytes.TrimRight(raw, "\n"), '\n'))
	return err
}

// didYouMeanHint is a hint with the nearest name, empty if none is near.
func didYouMeanHint(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return "did you mean " + near + "?"
	}
	return ""
}
