package actiontest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file prepares notes for tests of actions, and has checks that the tests of most actions share.

// Nowhere is an id that does not exist in any kernel.
const Nowhere = "20990101000000-zzzzzzz"

// Children returns the ids of the direct children of a document or block.
func (k *Kit) Children(t testing.TB, id kernel.ID) []kernel.ID {
	t.Helper()
	var ids []kernel.ID
	for _, b := range k.below(t, id) {
		ids = append(ids, b.ID)
	}
	return ids
}

// Texts returns the Markdown of the direct children of a document or block; never nil.
func (k *Kit) Texts(t testing.TB, id kernel.ID) []string {
	t.Helper()
	out := []string{}
	for _, b := range k.below(t, id) {
		out = append(out, b.Markdown)
	}
	return out
}

func (k *Kit) below(t testing.TB, id kernel.ID) []kernel.Block {
	t.Helper()
	list, err := k.Client.ChildBlocks(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Post sends a request that no action makes, such as what a person does in SiYuan, and returns the answer. It fails
// the test if the answer's code is not 0.
func (k *Kit) Post(t testing.TB, path string, body map[string]any) gjson.Result {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, k.URL()+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	got := gjson.ParseBytes(answer)
	if err != nil || !got.Get("code").Exists() || got.Get("code").Int() != 0 {
		t.Fatalf("%s: %s %v", path, answer, err)
	}
	return got
}

// Asked returns the bodies of the requests to an endpoint, such as "/api/block/updateBlock", since the calls were
// reset.
func (k *Kit) Asked(path string) []gjson.Result {
	var out []gjson.Result
	for _, c := range k.Calls() {
		if c.Path == path {
			out = append(out, gjson.Parse(c.Body))
		}
	}
	return out
}

// Guarded checks that an action needs a level on a notebook: with each lower level from r on it is denied. With none, the
// thing id, which occurs in args, gives the same "not found" error as [Nowhere]. Nothing is written in either case.
func (k *Kit) Guarded(t testing.TB, a *action.Action, need access.Level, notebook, id kernel.ID, args string) {
	t.Helper()
	old, existed := k.Levels[notebook]
	defer func() {
		delete(k.Levels, notebook)
		if existed {
			k.Levels[notebook] = old
		}
	}()
	for level := access.Read; level < need; level++ {
		k.Levels[notebook] = level
		k.Refused(t, a, args, tool.Denied)
	}
	k.Levels[notebook] = access.None
	k.HiddenAsMissing(t, a, args, string(id), Nowhere)
}

// HiddenAsMissing checks that an action treats something hidden as something that does not exist. args name the
// hidden thing, and the missing one with missing in place of hidden.
func (k *Kit) HiddenAsMissing(t testing.TB, a *action.Action, args, hidden, missing string) {
	t.Helper()
	SameRefusal(t, k.Refused(t, a, args, tool.NotFound), k.Refused(t, a, strings.ReplaceAll(args, hidden, missing), tool.NotFound), hidden, missing)
}

// SameRefusal checks that the errors for a hidden thing and for a missing one differ only in the name that the caller
// used.
func SameRefusal(t testing.TB, hidden, missing *tool.Error, hiddenText, missingText string) {
	t.Helper()
	want := strings.ReplaceAll(string(missing.Payload()), missingText, hiddenText)
	if diff := cmp.Diff(want, string(hidden.Payload())); diff != "" {
		t.Errorf("what is hidden differs from what does not exist (-missing +hidden):\n%s", diff)
	}
}

// Members returns one text member of each item of a list; never nil.
func Members(list gjson.Result, member string) []string {
	out := []string{}
	for _, item := range list.Array() {
		out = append(out, item.Get(member).String())
	}
	return out
}
