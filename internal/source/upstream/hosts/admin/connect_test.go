package admin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// testHome is a user's home folder with the file of one client, and with Collie's settings, which have no servers until
// importAll.
type testHome struct {
	t            *testing.T
	env          config.Env
	client, file string
	before       string
}

// newTestHome returns one whose client's file holds before, or does not exist if before is empty.
func newTestHome(t *testing.T, client, before string) *testHome {
	t.Helper()
	home := t.TempDir()
	d := &testHome{t: t, client: client, before: before, env: config.EnvOf("HOME="+home, "USERPROFILE="+home, "APPDATA="+filepath.Join(home, "Roaming"), "PATH=/nowhere")}
	for _, c := range hostadmin.ClientConnections(d.env, home, func(string) bool { return false }) {
		if c.Client == client {
			d.file = c.File
		}
	}
	if err := os.MkdirAll(filepath.Dir(d.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if before != "" {
		d.writeClientFile(before)
	}
	return d
}

func (d *testHome) writeClientFile(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.file, []byte(text), 0o640); err != nil {
		d.t.Fatal(err)
	}
}

func (d *testHome) readClientFile() string {
	d.t.Helper()
	text, err := os.ReadFile(d.file)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

func (d *testHome) settings() *config.Config {
	d.t.Helper()
	cfg, err := config.Load(config.Options{Env: d.env})
	if err != nil {
		d.t.Fatal(err)
	}
	return cfg
}

// importAll imports all servers of the client.
func (d *testHome) importAll() {
	d.t.Helper()
	cfg := d.settings()
	plan, err := hostadmin.PlanImport(cfg, d.env, hostadmin.ImportOptions{From: d.client, File: d.file, Dir: "/w", OnlyHere: true})
	if err != nil {
		d.t.Fatal(err)
	}
	entries, err := plan.Entries("the import", cfg.Paths.Config)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := config.AddServers(d.t.Context(), cfg.Paths.ConfigFile, entries, false); err != nil {
		d.t.Fatal(err)
	}
}

// connect writes Collie into the client's file. With move it also removes the servers that Collie serves, and returns
// their names.
func (d *testHome) connect(move bool) (taken []string) {
	d.t.Helper()
	c, err := hostadmin.Connect(d.client, d.env, hostadmin.ConnectOptions{Name: "collie", Command: "/usr/local/bin/collie", Args: []string{"stdio"}})
	if err != nil {
		d.t.Fatal(err)
	}
	if move {
		twins, err := hostadmin.Duplicates(d.settings(), d.env, d.client, "/w", "")
		if err == nil {
			err = c.Remove(twins)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
	if err := c.ApplyRecorded(d.t.Context(), d.settings()); err != nil {
		d.t.Fatal(err)
	}
	return c.Removed()
}

// disconnect disconnects the client. With restore it puts the removed servers back, with remove it removes Collie.
func (d *testHome) disconnect(restore, remove bool) []hostadmin.Disconnected {
	d.t.Helper()
	done, err := hostadmin.Disconnect(d.t.Context(), d.settings(), d.env, hostadmin.DisconnectOptions{Client: d.client, Restore: restore, Remove: remove})
	if err != nil {
		d.t.Fatal(err)
	}
	return done
}

// serverNames returns the names of the client's servers.
func (d *testHome) serverNames() []string {
	d.t.Helper()
	plan, err := hostadmin.PlanImport(d.settings(), d.env, hostadmin.ImportOptions{From: d.client, File: d.file})
	if err != nil {
		d.t.Fatal(err)
	}
	var out []string
	for _, s := range plan.Servers {
		out = append(out, s.Project+"/"+s.From)
	}
	slices.Sort(out)
	return out
}

// samples returns sample files by client.
func samples(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	all, err := filepath.Glob("../testdata/*/before.*")
	if err != nil || len(all) < 8 {
		t.Fatalf("%d samples, %v", len(all), err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(file))] = string(text)
	}
	return out
}

// Disconnecting restores a client's file byte for byte, in one step or several.
func TestConnectAndBack(t *testing.T) {
	t.Parallel()
	moved := 0
	for client, before := range samples(t) {
		d := newTestHome(t, client, before)
		d.importAll()
		was := d.serverNames()
		taken := d.connect(true)
		moved += len(taken)
		if left := len(d.serverNames()); left != len(was)-len(taken)+1 {
			t.Errorf("%s: %d entries before, %d taken out, %d left: %s", client, len(was), len(taken), left, d.readClientFile())
		}
		d.disconnect(true, true)
		if diff := cmp.Diff(before, d.readClientFile()); diff != "" {
			t.Errorf("%s, in one go (-was +is):\n%s", client, diff)
		}
		d.connect(false)
		d.connect(true)
		d.disconnect(true, false)
		d.disconnect(false, true)
		if diff := cmp.Diff(before, d.readClientFile()); diff != "" {
			t.Errorf("%s, step by step (-was +is):\n%s", client, diff)
		}
		if info, err := os.Stat(d.file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", client, info.Mode(), err)
		}
		if again := d.disconnect(true, true); len(again) > 0 {
			t.Errorf("%s: a second time does %+v", client, again)
		}
	}
	if moved < 9 {
		t.Errorf("%d entries were moved in all samples", moved)
	}
}

// A file that connect created is deleted again, unless somebody has changed it.
func TestConnectMadeTheFile(t *testing.T) {
	t.Parallel()
	for _, c := range hostadmin.Clients() {
		d := newTestHome(t, c.Name, "")
		d.connect(false)
		if done := d.disconnect(false, true); len(done) != 1 || !done[0].Deleted {
			t.Errorf("%s: %+v", c.Name, done)
		}
		if _, err := os.Stat(d.file); err == nil {
			t.Errorf("%s: %s is still there", c.Name, d.file)
		}
	}
}

// If the client has changed its file since, each entry comes back as it was written, and the client's changes stay.
func TestConnectBackAfterChanges(t *testing.T) {
	t.Parallel()
	for client, before := range samples(t) {
		d := newTestHome(t, client, before)
		d.importAll()
		was := d.serverNames()
		taken := d.connect(true)
		text := d.readClientFile()
		if strings.HasSuffix(d.file, ".toml") {
			text = "later = 1\n" + text
		} else {
			text = strings.Replace(text, "{", "{ /* later */ \"later\": 1,", 1)
		}
		d.writeClientFile(text)
		d.disconnect(true, false)
		if diff := cmp.Diff(append(slices.Clone(was), "/collie"), d.serverNames(), cmp.Transformer("sort", func(l []string) []string { return slices.Sorted(slices.Values(l)) })); diff != "" {
			t.Errorf("%s: put back (-was +is):\n%s", client, diff)
		}
		d.disconnect(false, true)
		if diff := cmp.Diff(was, d.serverNames()); diff != "" || !strings.Contains(d.readClientFile(), "later") {
			t.Errorf("%s: servers (-were +are):\n%s\n%s", client, diff, d.readClientFile())
		}
		if len(taken) > 0 && strings.Contains(before, "//") != strings.Contains(d.readClientFile(), "//") {
			t.Errorf("%s: comments were lost: %s", client, d.readClientFile())
		}
	}
}

// Comments and unknown fields of an entry survive a move and its reversal.
func TestMovedEntryKeepsItsText(t *testing.T) {
	t.Parallel()
	const entry = "{ // mine\n      \"command\": \"npx\", \"args\": [\"-y\", \"x\"], /* 中文 */ \"mystery\": 1.50,\n    }"
	before := "{\n  \"mcpServers\": {\n    \"a\": " + entry + ",\n    \"b\": {\"url\": \"https://b.example.org/mcp/\"}\n  }\n}\n"
	d := newTestHome(t, "cursor", before)
	d.importAll()
	if taken := d.connect(true); !slices.Equal(taken, []string{"a", "b"}) || strings.Contains(d.readClientFile(), "mystery") {
		t.Fatalf("took out %v: %s", taken, d.readClientFile())
	}
	d.writeClientFile(d.readClientFile() + "// later\n")
	if done := d.disconnect(true, true); len(done) != 1 || done[0].Exact || !slices.Equal(done[0].Restored, []string{"a", "b"}) {
		t.Errorf("put back %+v", done)
	}
	if now := d.readClientFile(); !strings.Contains(now, entry) || strings.Contains(now, "collie") || !strings.Contains(now, "// later") {
		t.Errorf("now %s", now)
	}
}

// A client that was connected twice is disconnected in one step.
func TestConnectedTwice(t *testing.T) {
	t.Parallel()
	d := newTestHome(t, "cursor", `{"mcpServers":{"a":{"command":"x"}}}`)
	d.importAll()
	d.connect(false)
	d.connect(true)
	if done := d.disconnect(true, true); len(done) != 1 || !slices.Equal(done[0].Removed, []string{"collie"}) {
		t.Errorf("%+v", done)
	}
}

// A file that somebody has edited is not called what it was before, even where Collie's entry is gone from it already.
func TestDisconnectOfAnEditedFile(t *testing.T) {
	t.Parallel()
	d := newTestHome(t, "cursor", `{"mcpServers":{"a":{"command":"x"}}}`)
	d.connect(false)
	d.writeClientFile(`{"mcpServers":{"a":{"command":"y"}}}`)
	if done := d.disconnect(false, true); len(done) != 1 || done[0].Exact || len(done[0].Removed) > 0 {
		t.Errorf("%+v", done)
	}
}

// Disconnecting one of two entries leaves the other one, whichever was made first.
func TestDisconnectOneOfTwoNames(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"collie", "work"}, {"work", "collie"}} {
		for _, before := range []string{"", `{"mcpServers":{"a":{"command":"x"}}}`} {
			d := newTestHome(t, "cursor", before)
			for _, name := range names {
				c, err := hostadmin.Connect("cursor", d.env, hostadmin.ConnectOptions{Name: name, Command: "/usr/local/bin/collie", Args: []string{"stdio", "--profile", name}})
				if err == nil {
					err = c.ApplyRecorded(t.Context(), d.settings())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			done, err := hostadmin.Disconnect(t.Context(), d.settings(), d.env, hostadmin.DisconnectOptions{Client: "cursor", Name: "work", Remove: true})
			if err != nil || len(done) != 1 || !slices.Equal(done[0].Removed, []string{"work"}) || done[0].Deleted {
				t.Errorf("%v: %+v, %v", names, done, err)
			}
			if text := d.readClientFile(); !strings.Contains(text, `"collie"`) || strings.Contains(text, `"work"`) {
				t.Errorf("%v: the file is %s", names, text)
			}
			if done := d.disconnect(false, true); len(done) != 1 || !slices.Equal(done[0].Removed, []string{"collie"}) {
				t.Errorf("%v, then all: %+v", names, done)
			}
		}
	}
}

// An entry that somebody has added again is not overwritten.
func TestRestoreLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	d := newTestHome(t, "cursor", `{"mcpServers":{"a":{"command":"x"}}}`)
	d.importAll()
	d.connect(true)
	d.writeClientFile(`{"mcpServers":{"a":{"command":"mine"}}}`)
	if done := d.disconnect(true, false); len(done) != 1 || !slices.Equal(done[0].NameTaken, []string{"a"}) {
		t.Errorf("%+v", done)
	}
	if d.readClientFile() != `{"mcpServers":{"a":{"command":"mine"}}}` {
		t.Errorf("now %s", d.readClientFile())
	}
}

// A symbolic link stays a link, and a file that cannot be parsed is not changed.
func TestConnectLinkAndBrokenFile(t *testing.T) {
	t.Parallel()
	d := newTestHome(t, "cursor", "")
	real := filepath.Join(t.TempDir(), "dot.json")
	const before = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n"
	if err := os.WriteFile(real, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, d.file); err != nil {
		t.Skip("no symbolic links here")
	}
	d.importAll()
	if taken := d.connect(true); !slices.Equal(taken, []string{"a"}) {
		t.Errorf("took out %v", taken)
	}
	d.disconnect(true, true)
	if info, err := os.Lstat(d.file); err != nil || info.Mode()&os.ModeSymlink == 0 || d.readClientFile() != before {
		t.Errorf("%v, %v: %s", info.Mode(), err, d.readClientFile())
	}
	d.connect(true)
	d.writeClientFile(`{"mcpServers": [`)
	if _, err := hostadmin.Disconnect(t.Context(), d.settings(), d.env, hostadmin.DisconnectOptions{Client: "cursor", Restore: true, Remove: true}); err == nil || d.readClientFile() != `{"mcpServers": [` {
		t.Errorf("a broken file: %v: %s", err, d.readClientFile())
	}
	d.writeClientFile(before)
	if done := d.disconnect(true, true); len(done) != 1 || d.readClientFile() != before {
		t.Errorf("once it is mended: %+v: %s", done, d.readClientFile())
	}
}

// A client counts as installed if its program is in PATH, even without a file. For opencode the file is whichever of
// its two exists.
func TestClientsThatAreThere(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := config.EnvOf("HOME="+home, "USERPROFILE="+home, "APPDATA="+home)
	for _, c := range hostadmin.ClientConnections(env, home, func(command string) bool { return command == "codex" }) {
		if c.Installed != (c.Client == "codex") {
			t.Errorf("%s: installed %t", c.Client, c.Installed)
		}
	}
	d := newTestHome(t, "opencode", "")
	const before = "{ // mine\n  \"mcp\": {}\n}\n"
	d.file += "c"
	d.writeClientFile(before)
	d.connect(false)
	if !strings.Contains(d.readClientFile(), "collie") || !strings.Contains(d.readClientFile(), "// mine") {
		t.Errorf("opencode.jsonc is %s", d.readClientFile())
	}
	d.disconnect(false, true)
	if d.readClientFile() != before {
		t.Errorf("then %s", d.readClientFile())
	}
}

// A change that was not made leaves no record.
func TestNoNoteOfWhatWasNotDone(t *testing.T) {
	t.Parallel()
	d := newTestHome(t, "cursor", `{"mcpServers":{"a":{"command":"x"}}}`)
	d.importAll()
	c, err := hostadmin.Connect(d.client, d.env, hostadmin.ConnectOptions{Name: "collie", Command: "/usr/local/bin/collie", Args: []string{"stdio"}})
	if err != nil {
		t.Fatal(err)
	}
	twins, err := hostadmin.Duplicates(d.settings(), d.env, d.client, "/w", "")
	if err == nil {
		err = c.Remove(twins)
	}
	if err != nil {
		t.Fatal(err)
	}
	const theirs = `{"mcpServers":{"a":{"command":"x"}},"later":1}`
	d.writeClientFile(theirs)
	if err := c.ApplyRecorded(t.Context(), d.settings()); err == nil || d.readClientFile() != theirs {
		t.Errorf("a file that was changed meanwhile: %v: %s", err, d.readClientFile())
	}
	if done := d.disconnect(true, true); len(done) > 0 {
		t.Errorf("there is something to take back: %+v", done)
	}
}

// If one of two files cannot be changed, the change to the other is still recorded, and the next attempt is about the
// first alone.
func TestDisconnectFromOneOfTwoFiles(t *testing.T) {
	t.Parallel()
	const before, broken = `{"mcpServers":{}}`, `{"mcpServers": [`
	d := newTestHome(t, "cursor", before)
	first, second := d.file, filepath.Join(t.TempDir(), "mcp.json")
	for _, file := range []string{first, second} {
		d.file = file
		d.writeClientFile(before)
		c, err := hostadmin.Connect(d.client, d.env, hostadmin.ConnectOptions{Name: "collie", File: file, Command: "/usr/local/bin/collie", Args: []string{"stdio"}})
		if err == nil {
			err = c.ApplyRecorded(t.Context(), d.settings())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	connected := d.readClientFile()
	d.writeClientFile(broken)
	done, err := hostadmin.Disconnect(t.Context(), d.settings(), d.env, hostadmin.DisconnectOptions{Client: d.client, Restore: true, Remove: true})
	if err == nil || len(done) != 1 || done[0].File != first || d.readClientFile() != broken {
		t.Errorf("with a broken file: %+v, %v", done, err)
	}
	if d.file = first; d.readClientFile() != before {
		t.Errorf("the other one is %s", d.readClientFile())
	}
	d.file = second
	d.writeClientFile(connected)
	if done := d.disconnect(true, true); len(done) != 1 || done[0].File != second || d.readClientFile() != before {
		t.Errorf("once it is mended: %+v: %s", done, d.readClientFile())
	}
}
