package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/app"
)

// cachedDetails are all facts of what is kept of one server.
func cachedDetails(s *app.CachedServer) [][]string {
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
	add("reason", whyCached(s))
	add("state", strings.TrimSpace(string(s.State)+inBrackets(s.StateReason)))
	moment("confirmed", s.ValidatedAt)
	moment("changed", s.LastUpdated)
	if s.LastError != "" {
		add("last error", s.LastError+" at "+text("lastError.at"))
	}
	add("size", sizeOf(int64(s.Bytes)))
	add("server", strings.TrimSpace(text("serverInfo.name")+" "+text("serverInfo.version")))
	add("era", strings.TrimSpace(s.Era+" "+s.ProtocolVersion))
	add("transport", s.Transport)
	add("scope", s.Scope)
	if ttl := entry.Get("ttlMs"); ttl.Exists() {
		add("ttl", (time.Duration(ttl.Int()) * time.Millisecond).String())
	}
	if text("principal") != "" {
		add("for", "who was signed in when it was fetched")
	}
	add("config hash", text("configHash"))
	add("settings", entry.Get("serverConfig").Raw)
	for _, d := range entry.Get("dropped").Array() {
		add("dropped", d.Get("name").String()+": "+d.Get("reason").String())
	}
	if entry.Get("truncated").Bool() {
		add("cut", "the server offers more than is kept")
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
		add("  "+t.Get("name").String(), first(t.Get("description").String(), t.Get("title").String(), "-"))
	}
	return out
}

func namesOf(list []gjson.Result, key string) string {
	values := make([]gjson.Result, len(list))
	for i, v := range list {
		values[i] = v.Get(key)
	}
	return joinValues(values, 8)
}
