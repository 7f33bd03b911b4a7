package vault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// answerWithin is how long any request to a small vault may take.
const answerWithin = await.Limit

// FuzzHandler sends one request to a small vault: any endpoint with any body. There is always a valid answer in time,
// the vault stays sound, and what only reads leaves the file as it is.
func FuzzHandler(f *testing.F) {
	endpoints := vault.Endpoints()
	slices.Sort(endpoints)
	file, ids := smallVault(f)
	for i, endpoint := range endpoints {
		f.Add(uint16(i), "{}")
		for _, body := range recordedBodies(f, endpoint, ids) {
			f.Add(uint16(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint16, body string) {
		endpoint := endpoints[int(i)%len(endpoints)]
		path := filepath.Join(t.TempDir(), "vault.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		v := vault.New(path, vault.Options{})
		t.Cleanup(func() { _ = v.Close() })
		sendAndCheck(t, v, endpoint, body)
		w, err := v.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantSound(t, w)
		if !wouldWrite(t, file, endpoint, body) && hasWriteAheadLog(t, path) {
			t.Errorf("%s only reads, and yet the file was written", endpoint)
		}
	})
}

// sendAndCheck sends a request and checks that the answer is well-formed and comes in time.
func sendAndCheck(t *testing.T, v http.Handler, endpoint, body string) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
	defer cancel()
	rec := httptest.NewRecorder()
	v.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body)))
	if ctx.Err() != nil {
		t.Fatalf("%s has not answered within %v", endpoint, answerWithin)
	}
	if code := rec.Code; code != http.StatusOK && code != http.StatusAccepted && (code < 400 || code > 499) {
		t.Fatalf("%s: status %d: %.500s", endpoint, code, rec.Body)
	}
	if !strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") || endpoint == "/api/file/getFile" {
		return rec
	}
	for values := json.NewDecoder(bytes.NewReader(rec.Body.Bytes())); ; { // some endpoints answer a failure two times
		var value struct {
			Code *int    `json:"code"`
			Msg  *string `json:"msg"`
		}
		err := values.Decode(&value)
		if errors.Is(err, io.EOF) {
			return rec
		}
		if err != nil || value.Code == nil || value.Msg == nil {
			t.Fatalf("%s: error %v, answer %.500q", endpoint, err, rec.Body)
		}
	}
}

// wouldWrite reports whether a request writes to the vault in file. It sends the request to a copy that is open for reading
// only, which refuses to write.
func wouldWrite(t *testing.T, file []byte, endpoint, body string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "read.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	v := vault.New(path, vault.Options{Workspace: workspace.Options{ReadOnly: true}})
	defer func() { _ = v.Close() }()
	rec := httptest.NewRecorder()
	v.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body)))
	return rec.Code == http.StatusInternalServerError && strings.Contains(rec.Body.String(), "opened for reading only")
}

// hasWriteAheadLog reports whether the vault at path was written since its file was copied there: then it has a write-ahead log.
func hasWriteAheadLog(t *testing.T, path string) bool {
	t.Helper()
	log, err := os.Stat(path + "-wal")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil && log.Size() > 0
}

// wantSound fails the test if the check of a workspace finds problems.
func wantSound(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	problems, err := w.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// smallVault returns the file of a vault with two notebooks, some documents and a block of each kind, and ids of some of
// these objects.
func smallVault(tb testing.TB) (file []byte, ids []string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "vault.db")
	v := vault.New(path, vault.Options{Fill: vault.Welcome("zh")})
	w, err := v.Workspace(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	err = w.Update(tb.Context(), func(tx *workspace.Tx) error {
		box := tx.CreateNotebook("Notes")
		up := tx.AddDocument(box, nil, "Up 上", "", tx.Identify(markup.Parse(everyKind)))
		down := tx.AddDocument(box, up, "Down", "", tx.Identify(markup.Parse("text with "+up.ID()+" and (("+up.ID()+" 'Up'))")))
		ids = append(ids, box.ID, up.ID(), down.ID())
		for _, b := range up.Root.Children {
			ids = append(ids, b.ID)
		}
		tx.WriteFile("/data/assets/a.png", []byte("png"), up.Changed)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := v.Close(); err != nil {
		tb.Fatal(err)
	}
	if file, err = os.ReadFile(path); err != nil {
		tb.Fatal(err)
	}
	return file, ids
}

const everyKind = "# Heading 标题\n\ntext #tag# ==mark== ![i](assets/a.png)\n\n- a\n- b\n  - [ ] task\n\n> quote\n\n" +
	"| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```go\nx\n```\n\n$$\ny\n$$\n\n---\n\n<div>html</div>\n\n" +
	"{{ SELECT * FROM blocks LIMIT 1 }}\n\n{{{row\nleft\n\nright\n}}}\n\n" +
	"<div data-type=\"NodeAttributeView\" data-av-id=\"20240101000000-aaaaaaa\" data-av-type=\"table\"></div>"

var idPattern = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

// recordedBodies returns up to four request bodies that were recorded for an endpoint of a kernel. Their ids are replaced
// by ids of the small vault.
func recordedBodies(tb testing.TB, endpoint string, ids []string) (bodies []string) {
	tb.Helper()
	const most = 4
	next := 0
	for _, row := range kerneltest.Recordings(tb) {
		if row.Endpoint() != endpoint || len(bodies) == most || len(row.ReqBody) == 0 || len(row.ReqBody) > 4<<10 {
			continue
		}
		body := idPattern.ReplaceAllStringFunc(string(row.ReqBody), func(string) string {
			next++
			return ids[next%len(ids)]
		})
		if !slices.Contains(bodies, body) {
			bodies = append(bodies, body)
		}
	}
	return bodies
}
