package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Server is one entry of mcpServers: fakemcp over stdio with Flags, unless Entry is set.
type Server struct {
	Name  string
	Flags []string
	// More are further JSON members of the entry, such as `"toolTimeout":"1s"`.
	More string
	// Entry replaces the whole entry.
	Entry string
}

// Settings writes a settings file with these servers, in order. more are further sections, such as
// `"http":{…}`. The tools for notes are off unless more has a section "siyuan".
func (p Programs) Settings(tb testing.TB, servers []Server, more ...string) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "collie.json")
	p.SettingsAt(tb, path, servers, more...)
	return path
}

// SettingsAt is Settings with a given path. It replaces an existing file in one step, as editors do.
func (p Programs) SettingsAt(tb testing.TB, path string, servers []Server, more ...string) {
	tb.Helper()
	entries := make([]string, len(servers))
	for i, s := range servers {
		entry := s.Entry
		if entry == "" {
			flags, err := json.Marshal(append([]string{}, s.Flags...))
			if err != nil {
				tb.Fatal(err)
			}
			entry = fmt.Sprintf(`{"command":%q,"args":%s`, p.Fake, flags)
			if s.More != "" {
				entry += "," + s.More
			}
			entry += "}"
		}
		entries[i] = fmt.Sprintf("%q:%s", s.Name, entry)
	}
	sections := append([]string{`"mcpServers":{` + strings.Join(entries, ",") + `}`}, more...)
	if !slices.ContainsFunc(more, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), `"siyuan"`) }) {
		sections = append(sections, `"siyuan":{"enabled":false}`)
	}
	next := path + ".next"
	err := os.WriteFile(next, []byte("{"+strings.Join(sections, ",")+"}"), 0o600)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
