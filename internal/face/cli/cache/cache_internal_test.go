package cache

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// parseLongTime takes days too, and refuses what is not a duration.
func TestLongTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "30d": 30 * 24 * time.Hour, "12h": 12 * time.Hour, "0d": 0,
	} {
		if got, err := parseLongTime(text); err != nil || got != want {
			t.Errorf("parseLongTime(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "1.5d", "99999d", "三十天", "30"} {
		if got, err := parseLongTime(text); err == nil {
			t.Errorf("parseLongTime(%q) = %v, want an error", text, got)
		}
	}
}

// A change of format is shown field by field, without old values that may be secret.
func TestChangesOf(t *testing.T) {
	t.Parallel()
	before := `{"version":"1.0.0","mcpServers":{"a/b":{"tools":[{"name":"查询","n":12345678901234567890}],"old":1,
		"serverConfig":{"env":{"KEY":"geheim"},"args":["geheim"]}}},"list":[1,2]}`
	after := `{"version":"1.1.0","mcpServers":{"a/b":{"tools":[{"n":12345678901234567890,"name":"查询"}],"state":"active",
		"serverConfig":{"env":{"KEY":"***"}}}},"list":[1,3]}`
	got, err := changesOf([]byte(before), []byte(after))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range got {
		lines = append(lines, c.Pointer+" "+string(c.Was)+" > "+string(c.Now))
	}
	want := []string{
		"/list/1 2 > 3",
		"/mcpServers/a~1b/old 1 > ",
		"/mcpServers/a~1b/serverConfig/args  > ",
		`/mcpServers/a~1b/serverConfig/env/KEY  > "***"`,
		`/mcpServers/a~1b/state  > "active"`,
		`/version "1.0.0" > "1.1.0"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(strings.Join(lines, ""), "geheim") {
		t.Error("a secret is shown")
	}
	if _, err := changesOf([]byte("{"), []byte("{}")); err == nil {
		t.Error("half a text has changes")
	}
}

// The table leaves out columns in which no server has a value.
func TestCachedTable(t *testing.T) {
	t.Parallel()
	kept := serveradmin.CachedServer{Era: "modern", Entry: []byte("{}")}
	kept.Name, kept.Configured, kept.Verdict, kept.Reason, kept.State = "trains", true, "stale", "too_old", "active"
	kept.Tools, kept.Bytes, kept.AgeSeconds, kept.ValidatedAt = 12, 2048, 3*24*3600, time.Unix(1, 0)
	gone := serveradmin.CachedServer{Entry: []byte("{}")}
	gone.Name, gone.State, gone.LastError = "gone", "removed", "dns"
	fresh := serveradmin.CachedServer{}
	fresh.Name, fresh.Configured, fresh.Verdict, fresh.Reason = "new", true, "miss", "no_entry"
	head, rows := cachedTable([]serveradmin.CachedServer{kept, gone, fresh})
	want := strings.TrimPrefix(`
NAME    VERDICT  CONFIRMED  TOOLS  SIZE     STATE    ERA     LAST ERROR  REASON
trains  stale    3 d        12     2.0 KiB  active   modern  -           too_old
gone    -        -          0      0 B      removed  -       dns         not_configured
new     miss     -          -      -        -        -       -           no_entry
`, "\n")
	if diff := cmp.Diff(want, output.LayOut(head, rows, 0)); diff != "" {
		t.Error(diff)
	}
}

// cachedDetails has a row for each fact that an entry holds.
func TestCachedDetails(t *testing.T) {
	t.Parallel()
	s := serveradmin.CachedServer{Era: "legacy", ProtocolVersion: "2025-11-25", Transport: "http", Entry: []byte(`{
		"serverInfo":{"name":"铁路","version":"2"},"serverConfig":{"url":"https://x"},"ttlMs":60000,"principal":"p","truncated":true,
		"dropped":[{"name":"坏","reason":"schema"}],"lastError":{"code":"dns","at":"2026-11-21T00:00:00.000Z"},
		"prompts":[{"name":"greet"}],"tools":[{"name":"查询","description":"列车"},{"name":"b","title":"B"},{"name":"c"}]}`)}
	s.Name, s.Configured, s.Verdict, s.State, s.StateReason, s.LastError = "trains", true, "hit", "active", "imported", "dns"
	got := output.LayOut(nil, cachedDetails(&s), 0)
	want := strings.TrimPrefix(`
name        trains
verdict     hit
reason      imported
state       active (imported)
last error  dns at 2026-11-21T00:00:00.000Z
size        0 B
server      铁路 2
era         legacy 2025-11-25
transport   http
ttl         1m0s
for         who was signed in when it was fetched
settings    {"url":"https://x"}
dropped     坏: schema
cut         the server offers more than is kept
prompts     1: greet
tools       3
  查询      列车
  b         B
  c         -
`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The JSON has the file as it is now, with the counters of the gateway, or zeros without one.
func TestStatsOf(t *testing.T) {
	t.Parallel()
	kept := serveradmin.CacheContents{File: cacheadmin.FileInfo{Path: "p", Compressed: true, Size: 10, PlainSize: 100}, Servers: []serveradmin.CachedServer{}}
	var b bytes.Buffer
	p := commands{&root.Program{Output: output.Output{Out: &b}}}
	if err := p.PrintJSON(statsOf(&kept, nil)); err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{`"running":false`, `"path":"p"`, `"servers":[]`, `"bytesSaved":90`, `"missReasons":{}`, `"lookups":0`} {
		if !strings.Contains(b.String(), has) {
			t.Errorf("%s is not in %s", has, &b)
		}
	}
	b.Reset()
	since := &cacheadmin.Stats{Lookups: 3, Hits: 2, HitRate: 0.67}
	since.Path, since.Size = "of the gateway", 99
	if err := p.PrintJSON(statsOf(&kept, since)); err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{`"running":true`, `"path":"p"`, `"size":10`, `"lookups":3`, `"hitRate":0.67`} {
		if !strings.Contains(b.String(), has) {
			t.Errorf("%s is not in %s", has, &b)
		}
	}
}

// An error of writing the cache keeps its own hint if it has one.
func TestNotKept(t *testing.T) {
	t.Parallel()
	var got *tool.Error
	if !errors.As(cacheadmin.NotKeptError("cache warm", errors.New("odd")), &got) || got.Kind != tool.Unavailable || !strings.Contains(got.Error(), "odd") {
		t.Errorf("%v", got)
	}
	inner := &tool.Error{Op: "write", Kind: tool.Unavailable, Subject: "/f", Message: "the file is read-only", Hint: "chmod u+w it"}
	if !errors.As(cacheadmin.NotKeptError("cache warm", inner), &got) || got.Hint != "chmod u+w it" || got.Subject != "/f" || strings.Count(got.Error(), "/f") != 1 {
		t.Errorf("%v", got)
	}
}
