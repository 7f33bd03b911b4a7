package vault

import (
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// step is a recorded step of an endpoint in scope, with the result of its replay.
type step struct {
	kerneltest.Row
	diffs []kerneltest.Difference
	// sent is false if the step was not sent: its request was not recorded, it has no recorded answer, or it
	// is in unsent.
	sent bool
}

// isSame reports whether the vault gave the recorded answer.
func (s step) isSame() bool { return s.sent && len(s.diffs) == 0 }

// scenarios yields the rows of each scenario, in the order in which they were sent.
func scenarios(t *testing.T) iter.Seq[[]kerneltest.Row] {
	rows := kerneltest.Recordings(t)
	return func(yield func([]kerneltest.Row) bool) {
		for len(rows) > 0 {
			end := slices.IndexFunc(rows, func(r kerneltest.Row) bool { return r.Scenario != rows[0].Scenario })
			if end < 0 {
				end = len(rows)
			}
			if !yield(rows[:end]) {
				return
			}
			rows = rows[end:]
		}
	}
}

// replayScenario replays the rows of a scenario at their recorded times, and returns the steps in scope. Rows of other
// endpoints prepare later ones: they are sent if the vault has the endpoint; if not, their stand-ins are.
func replayScenario(t *testing.T, rows []kerneltest.Row, scope []string) []step {
	handler, routes := newReplayVault(t)
	replay, clock := kerneltest.NewReplay(t, handler), newClock(rows)
	var steps []step
	for i, row := range rows {
		clock.waitForRow(i)
		row = withBody(t, row)
		for _, c := range preparingCalls(row, routes[row.Endpoint()]) {
			replay.Compare(c.row())
		}
		isInScope := slices.Contains(scope, row.Endpoint())
		s := step{Row: row, sent: row.Playable() && unsent[stepName(row)] == "" && (isInScope || routes[row.Endpoint()])}
		if s.sent {
			s.diffs = replay.Compare(row)
		}
		if isInScope {
			steps = append(steps, s)
		}
	}
	return steps
}

// addEditorEndpoints adds endpoints that the recordings use and no tool does: for views of databases, decks, and tags of
// snapshots.
func addEditorEndpoints(mux *api.Mux) {
	setView := func(member string, value func(data gjson.Result) any) api.Handler {
		return func(tx *workspace.Tx, req api.Request) api.Reply {
			at := siyuanapi.DatabasePath(req.Str("avID"))
			if file := tx.ReadFile(at); file != nil {
				file, _ = sjson.SetBytes(file, "views.0."+member, value(req.Get("data")))
				tx.WriteFile(at, file, time.Time{})
			}
			return api.Done()
		}
	}
	mux.Write("/api/av/setAttrViewFilters", setView("filters", gjson.Result.Value))
	mux.Write("/api/av/setAttrViewSorts", setView("sorts", func(data gjson.Result) any {
		if len(data.Array()) == 0 {
			return nil
		}
		return data.Value()
	}))
	mux.Write("/api/riff/renameRiffDeck", func(tx *workspace.Tx, req api.Request) api.Reply {
		if r := tx.Record("deck", req.Str("deckID")); r != nil {
			r.Body, _ = sjson.SetBytes(r.Body, "name", req.Str("name"))
			tx.PutRecord(*r)
		}
		return api.Done()
	})
	mux.Write("/api/riff/removeRiffDeck", func(tx *workspace.Tx, req api.Request) api.Reply {
		for _, card := range tx.Records("card", req.Str("deckID")) {
			tx.RemoveRecord("card", card.ID)
		}
		tx.RemoveRecord("deck", req.Str("deckID"))
		return api.Done()
	})
	mux.Write("/api/repo/removeRepoTagSnapshot", func(tx *workspace.Tx, req api.Request) api.Reply {
		tx.RemoveRecord("snapshot-tag", req.Str("tag"))
		return api.Done()
	})
}

// newReplayVault makes an empty vault that also answers the endpoints of addEditorEndpoints. It returns its handler and all its
// endpoints.
func newReplayVault(t *testing.T) (h http.Handler, routes map[string]bool) {
	file := filepath.Join(t.TempDir(), "vault.db")
	if err := vault.Create(file); err != nil { // without a key for snapshots, like the recorded kernel
		t.Fatal(err)
	}
	v := vault.New(file, vault.Options{})
	t.Cleanup(func() { _ = v.Close() })
	w, err := v.Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	editor := api.New(w, nil)
	addEditorEndpoints(editor)
	own := vault.Endpoints()
	routes = map[string]bool{}
	for _, route := range slices.Concat(editor.Routes(), own) {
		routes[route] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if routes[r.URL.Path] && !slices.Contains(own, r.URL.Path) {
			editor.ServeHTTP(w, r)
			return
		}
		v.ServeHTTP(w, r)
	}), routes
}
