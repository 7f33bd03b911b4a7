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

// Nowhere is an id that no kernel has.
const Nowhere = "20990101000000-zzzzzzz"

// Children are the ids of the blocks right below a document or block.
func (k *Kit) Children(t testing.TB, id kernel.ID) []kernel.ID {
	t.Helper()
	var ids []kernel.ID
	for _, b := range k.below(t, id) {
		ids = append(ids, b.ID)
	}
	return ids
}

// Texts are the Markdown of the blocks right below a document or block; not nil.
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

// Post asks the kernel for what no action does, such as what a person does in SiYuan, and returns its answer. One whose
// code is not 0 fails the test.
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

// Asked are the bodies of the requests to an endpoint, such as "/api/block/updateBlock", since the calls were reset.
func (k *Kit) Asked(path string) []gjson.Result {
	var out []gjson.Result
	for _, c := range k.Calls() {
		if c.Path == path {
			out = append(out, gjson.Parse(c.Body))
		}
	}
	return out
}

// Guarded holds an action to the level that it needs on a notebook: with the one below it is denied, and with none what
// id names, which args have in them, is not found in the words in which [Nowhere] is not. It writes nothing.
func (k *Kit) Guarded(t testing.TB, a *action.Action, need access.Level, notebook, id kernel.ID, args string) {
	t.Helper()
	old, had := k.Levels[notebook]
	defer func() {
		delete(k.Levels, notebook)
		if had {
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

// HiddenAsMissing checks that an action finds what is hidden as little as what does not exist: args name the one, and
// the other where missing stands in the place of hidden.
func (k *Kit) HiddenAsMissing(t testing.TB, a *action.Action, args, hidden, missing string) {
	t.Helper()
	SameRefusal(t, k.Refused(t, a, args, tool.Unknown), k.Refused(t, a, strings.ReplaceAll(args, hidden, missing), tool.Unknown), hidden, missing)
}

// SameRefusal checks that two errors, one for what is hidden and one for what does not exist, differ in nothing but what
// the caller called the two.
func SameRefusal(t testing.TB, hidden, missing *tool.Error, hiddenText, missingText string) {
	t.Helper()
	want := strings.ReplaceAll(string(missing.Payload()), missingText, hiddenText)
	if diff := cmp.Diff(want, string(hidden.Payload())); diff != "" {
		t.Errorf("what is hidden differs from what does not exist (-missing +hidden):\n%s", diff)
	}
}

// Members are the texts of a member of each item of a list; not nil.
func Members(list gjson.Result, member string) []string {
	out := []string{}
	for _, item := range list.Array() {
		out = append(out, item.Get(member).String())
	}
	return out
}
