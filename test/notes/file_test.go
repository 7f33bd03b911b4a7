package notes_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

// This file tests what happens if the file with the levels of notebooks is missing or cannot be read.

// newGatewayWithoutLevels is a gateway to notes in which nobody has set a level.
func newGatewayWithoutLevels(t *testing.T) *gateway {
	t.Helper()
	return newGateway(t, newWorkspace(t, layout{}))
}

// TestMissingPermissionFile: if no file of levels exists, every notebook can be read, nothing is filtered, also not
// in SQL, and nothing can be written.
func TestMissingPermissionFile(t *testing.T) {
	t.Parallel()
	r := newGatewayWithoutLevels(t)
	got := r.call("notebook.get_permissions", object{"notebook": "all"})
	for _, p := range []*place{r.open, r.shut, r.hidden} {
		if level := gjson.Get(got.text, `structuredContent.notebooks.#(id=="`+string(p.nb)+`").permission`).String(); level != "r" {
			t.Errorf("%s has level %q, want r: %s", p.name(), level, got.text)
		}
	}
	rows := r.call("search.query_sql", object{"stmt": "SELECT count(DISTINCT box) AS n FROM blocks"})
	if n := gjson.Get(rows.text, "structuredContent.data.0.n").Int(); rows.kind != "" || n != 3 {
		t.Errorf("SQL counts %d notebooks, want 3: %s", n, rows.text)
	}
	read := r.call("fs.read", object{"path": r.hidden.notePath("a")})
	if read.kind != "" || !strings.Contains(read.text, r.hidden.word("para")) {
		t.Errorf("reading: %s", read.text)
	}
	if wrote := r.appendX(); wrote.kind != tool.Denied || len(wrote.writes) > 0 {
		t.Errorf("writing: %q %s, wrote %q", wrote.kind, wrote.text, wrote.writes)
	}
}

// appendX asks for a block at the end of a document that may be written.
func (r *gateway) appendX() *outcome {
	return r.call("block.append", object{"parentID": r.open.id("docb"), "dataType": "markdown", "data": "x"})
}

// invalidFiles are contents of a file of levels that are not JSON.
var invalidFiles = []string{`{"a":`, "none", "\x00\x01", `{"` + strings.Repeat("x", 100), "{"}

// TestCorruptPermissionFile: a gateway that finds an invalid file of levels, and has never read a valid one, neither
// writes nor reads.
func TestCorruptPermissionFile(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{ownDir, pluginDir} {
		t.Run(dir, func(t *testing.T) {
			w := newWorkspace(t, layout{})
			for _, text := range invalidFiles {
				r := newGateway(t, w)
				r.File(dir+"notebookPermissions", []byte(text))
				if out := r.appendX(); out.kind != tool.LevelsUnknown || len(out.writes) > 0 {
					t.Errorf("%s%q: writing got %q %s, wrote %q", dir, text, out.kind, out.text, out.writes)
				}
				if out := r.call("fs.read", object{"path": r.open.notePath("a")}); out.kind != tool.LevelsUnknown {
					t.Errorf("%s%q: reading got %q %s", dir, text, out.kind, out.text)
				}
			}
		})
	}
}

// TestPermissionFileBecomesCorrupt: while the file of levels is invalid, nothing is written, and only what the last valid
// file allowed can be read. Once it is repaired, it counts again.
func TestPermissionFileBecomesCorrupt(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{ownDir, pluginDir} {
		t.Run(dir, func(t *testing.T) {
			r := newGateway(t, newWorkspace(t, layout{}))
			read := func(p *place) *outcome { return r.call("fs.read", object{"path": p.notePath("a")}) }
			for _, text := range invalidFiles {
				r.File(dir+"notebookPermissions", nil) // empties the file
				r.setShutLevel(access.Read)            // writes a valid one, in ownDir
				if out := read(r.open); out.kind != "" {
					t.Errorf("valid before %q: %q %s", text, out.kind, out.text)
				}
				r.File(dir+"notebookPermissions", []byte(text))
				r.source.Levels().Forget()
				if out := r.appendX(); out.kind != tool.LevelsUnknown || len(out.writes) > 0 {
					t.Errorf("%s%q: writing got %q %s, wrote %q", dir, text, out.kind, out.text, out.writes)
				}
				if out := read(r.open); out.kind != "" {
					t.Errorf("%s%q: reading got %q %s", dir, text, out.kind, out.text)
				}
				if out := read(r.hidden); out.kind != tool.NotFound {
					t.Errorf("%s%q: what was hidden got %q %s", dir, text, out.kind, out.text)
				}
			}
		})
	}
}

// levelsAnswer is a transport in front of a kernel that, while body is set, answers requests for a file of levels with it.
type levelsAnswer struct {
	body atomic.Pointer[string]
}

// RoundTrip answers getFile for a file of levels, with status 202, and passes on all other requests.
func (a *levelsAnswer) RoundTrip(req *http.Request) (*http.Response, error) {
	body := a.body.Load()
	if body == nil || req.URL.Path != "/api/file/getFile" {
		return http.DefaultTransport.RoundTrip(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(gjson.GetBytes(raw, "path").String(), "/notebookPermissions") {
		req.Body = io.NopCloser(strings.NewReader(string(raw)))
		return http.DefaultTransport.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusAccepted, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(*body)),
	}, nil
}

// TestAnswer202IsNoFile: what getFile answers with status 202 is an error, not the file. Only code 404 in it means
// that the file does not exist.
func TestAnswer202IsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, layout{})
	a := &levelsAnswer{}
	w.useTransport(a)
	r := newGateway(t, w)
	for body, want := range map[string]tool.ErrorKind{
		`{"code":404,"msg":"file does not exist","data":null}`: "",
		`{"code":403,"msg":"forbidden","data":null}`:           tool.LevelsUnknown,
		`{"code":500,"msg":"disk","data":null}`:                tool.LevelsUnknown,
		`{"code":-1,"msg":"none","data":"none"}`:               tool.LevelsUnknown,
		`{"code":-3,"msg":"locked","data":null}`:               tool.LevelsUnknown,
		`{"code":0,"msg":"","data":null}`:                      tool.LevelsUnknown,
		`{"` + string(w.open.nb) + `":"rwd"}`:                  tool.Unavailable, // not an answer of a kernel
		`not JSON`:                                             tool.Unavailable,
	} {
		a.body.Store(&body)
		fresh := newGateway(t, w) // has never read a valid file of levels
		for _, act := range []string{"notebook.list", "fs.read"} {
			args := object{}
			if act == "fs.read" {
				args["path"] = w.open.notePath("a")
			}
			if out := fresh.call(act, args); out.kind != want {
				t.Errorf("%s with %s: %q %s, want %q", act, body, out.kind, out.text, want)
			}
		}
		out := fresh.appendX()
		// The data of an answer that is an error, "none", is not taken for a level.
		if out.kind == "" || len(out.writes) > 0 || strings.Contains(out.text, `"none"`) {
			t.Errorf("writing with %s: %q %s, wrote %q", body, out.kind, out.text, out.writes)
		}
	}
	a.body.Store(nil)
	r.setShutLevel(access.Read)
	if out := r.call("fs.read", object{"path": w.open.notePath("a")}); out.kind != "" {
		t.Errorf("afterwards: %q %s", out.kind, out.text)
	}
}
