package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the command `collie cache show`, which prints what is cached of each server.

// cachedDetails returns all facts about one server's entry.
func cachedDetails(s *serveradmin.CachedServer) [][]string {
	var out [][]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, []string{name, value})
		}
	}
	moment := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, t.Local().Format(time.RFC3339))
		}
	}
	entry := gjson.ParseBytes(s.Entry)
	text := func(name string) string { return entry.Get(name).String() }
	add("name", s.Name)
	add("verdict", string(s.Verdict))
	add("reason", staleReason(s))
	add("state", strings.TrimSpace(string(s.State)+inBrackets(s.StateReason)))
	moment("confirmed", s.ValidatedAt)
	moment("changed", s.LastUpdated)
	if s.LastError != "" {
		add("last error", locale.Sprintf("%s at %s", s.LastError, text("lastError.at")))
	}
	add("size", output.BinarySize(int64(s.Bytes)))
	add("server", strings.TrimSpace(text("serverInfo.name")+" "+text("serverInfo.version")))
	add("era", strings.TrimSpace(s.Era+" "+s.ProtocolVersion))
	add("transport", s.Transport)
	add("scope", s.Scope)
	if ttl := entry.Get("ttlMs"); ttl.Exists() {
		add("ttl", (time.Duration(ttl.Int()) * time.Millisecond).String())
	}
	if text("principal") != "" {
		add("for", locale.T("who was signed in when it was fetched"))
	}
	add("config hash", text("configHash"))
	add("settings", entry.Get("serverConfig").Raw)
	for _, d := range entry.Get("dropped").Array() {
		add("dropped", d.Get("name").String()+": "+d.Get("reason").String())
	}
	if entry.Get("truncated").Bool() {
		add("cut", locale.T("the server offers more than is kept"))
	}
	for _, l := range []struct{ name, list, key string }{
		{"prompts", "prompts", "name"}, {"resources", "resources", "uri"}, {"templates", "resourceTemplates", "uriTemplate"},
	} {
		if list := entry.Get(l.list).Array(); len(list) > 0 {
			add(l.name, fmt.Sprintf("%d: %s", len(list), namesOf(list, l.key)))
		}
	}
	list := entry.Get("tools").Array()
	add("tools", strconv.Itoa(len(list)))
	for _, t := range list {
		add("  "+t.Get("name").String(), output.FirstNonEmpty(t.Get("description").String(), t.Get("title").String(), "-"))
	}
	return out
}

// namesOf joins the members called key of the items, at most eight of them.
func namesOf(list []gjson.Result, key string) string {
	values := make([]gjson.Result, len(list))
	for i, v := range list {
		values[i] = v.Get(key)
	}
	return rawjson.JoinValues(values, 8)
}

func (p commands) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show what is cached, of one server or of all", Args: cobra.MaximumNArgs(1),
		Long: "Shows what the cache holds for each server and whether it can still be used; with NAME, everything\n" +
			"it holds for one; with --json, the decompressed file itself, or the entry of NAME as it is there.\n\n" +
			"VERDICT is hit (listed at once, without asking the server), stale (listed, and fetched again),\n" +
			"expired or miss (not listed until the server has answered). REASON says why.",
		ValidArgsFunction: p.completeCached(1),
		RunE:              func(c *cobra.Command, args []string) error { return p.show(c.Context(), args) },
	}
}

// show prints a table of all servers, or the entry of the one in args.
func (p commands) show(ctx context.Context, args []string) error {
	if p.JSON && len(args) == 0 {
		return p.showFile()
	}
	contents, _, err := p.readCache(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return p.showCached(contents)
	}
	names := contents.Names()
	i := slices.Index(names, args[0])
	if i < 0 {
		return &tool.Error{
			Op: "cache show", Kind: tool.NotFound, Subject: args[0], Message: "it is neither configured nor cached",
			Hint: output.FirstNonEmpty(root.DidYouMeanHint(args[0], names), "collie cache show lists what is kept"),
		}
	}
	s := &contents.Servers[i]
	if s.Entry == nil {
		return &tool.Error{
			Op: "cache show", Kind: tool.NotFound, Subject: s.Name, Message: "nothing is cached for it" + inBrackets(s.Reason),
			Hint: "collie cache warm " + s.Name + " learns its tools, or says why it cannot",
		}
	}
	if p.JSON {
		return p.WriteJSON(s.Entry)
	}
	return p.Table(nil, cachedDetails(s))
}

// showFile prints the decompressed file.
func (p commands) showFile() error {
	path, data, err := p.readCacheFile(nil)
	if err != nil {
		return err
	}
	if data, err = cacheadmin.Plain(data); err == nil && !json.Valid(data) {
		err = errors.New("it is not JSON")
	}
	if err != nil {
		return &tool.Error{Op: "cache show", Kind: tool.Invalid, Subject: path, Err: err, Hint: "collie cache verify shows what is wrong"}
	}
	return p.WriteJSON(data)
}

// showCached prints a table of all servers.
func (p commands) showCached(contents serveradmin.CacheContents) error {
	if len(contents.Servers) == 0 {
		p.Note("the cache is empty, and no server is configured")
		return nil
	}
	if err := p.Table(cachedTable(contents.Servers)); err != nil {
		return err
	}
	if contents.File.Missing {
		p.Note("there is no cache file yet; collie cache warm creates it, and so does a gateway")
	}
	return nil
}

// cachedTable returns a table with a row for each server, without empty columns.
func cachedTable(servers []serveradmin.CachedServer) (head []string, rows [][]string) {
	head = []string{"NAME", "VERDICT", "CONFIRMED", "TOOLS", "SIZE", "STATE", "ERA", "SCOPE", "LAST ERROR", "REASON"}
	for i := range servers {
		s := &servers[i]
		row := []string{s.Name, output.FirstNonEmpty(string(s.Verdict), "-"), "-", "-", "-", "-", "-", "-", "-", output.FirstNonEmpty(staleReason(s), "-")}
		if s.Entry != nil {
			copy(row[2:], []string{
				confirmedAgo(s), strconv.Itoa(s.Tools), output.BinarySize(int64(s.Bytes)), string(s.State),
				output.FirstNonEmpty(s.Era, "-"), output.FirstNonEmpty(s.Scope, "-"), output.FirstNonEmpty(s.LastError, "-"),
			})
		}
		rows = append(rows, row)
	}
	return withoutEmpty(head, rows, "NAME", "VERDICT")
}

// withoutEmpty removes columns in which all rows have "-", except those named in keep.
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

// staleReason returns why the entry of a server is not fresh.
func staleReason(s *serveradmin.CachedServer) string {
	if !s.Configured {
		return "not_configured"
	}
	return output.FirstNonEmpty(s.Reason, s.StateReason)
}

// confirmedAgo returns how long ago the running server confirmed its lists, "-" if it never did.
func confirmedAgo(s *serveradmin.CachedServer) string {
	if s.ValidatedAt.IsZero() {
		return "-"
	}
	return output.Age(max(0, time.Duration(s.AgeSeconds)*time.Second))
}

// inBrackets returns s in brackets after a space, "" for "".
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
