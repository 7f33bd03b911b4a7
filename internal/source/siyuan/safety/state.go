package safety

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file compares the state of notes with what the caller saw, and saves it before a write.

// shortestHash is the minimum length of a caller's hash, in hex digits.
const shortestHash = 8

const hashPrefix = "sha256:v1:"

// hasState reports whether actions of this class depend on the state of their targets.
func hasState(c action.Class) bool {
	return c == action.State || c == action.Structure || c == action.Manifest
}

// readTargets reads the current targets: what undo needs, and the hash to compare with the caller's.
func (w *guardedWrite) readTargets(ctx context.Context) error {
	a := w.r.Action
	var blocks []kernel.ID
	for _, t := range w.r.WritableTargets() {
		if t.ID != "" && (t.What == access.Block || t.What == access.Document || t.What == access.Path) { // else it does not exist yet
			blocks = append(blocks, t.ID)
		}
	}
	switch {
	case w.r.OnMemory():
		w.entry.NoUndo = "it changed " + action.AgentsFile + ", of which no former text is kept"
	case a.Class == action.Creates:
		w.entry.NoUndo = "it overwrote nothing; delete what it added"
	}
	wants := w.r.Meta.IfMatch != "" || w.r.Meta.Expected != "" || w.r.Meta.ValidateOnly || w.mode == Strict
	saves := w.mode != Off && a.Saves != "" && !w.r.Meta.ValidateOnly
	if !hasState(a.Class) || !wants && !saves && a.Inverse == nil {
		return nil
	}
	var saved []content.Saved
	if len(blocks) > 0 && (wants || saves) {
		var err error
		if w.hash, saved, err = content.State(ctx, w.r.Kernel, blocks); err != nil {
			return err
		}
	}
	if wants && len(blocks) == 0 {
		var err error
		if w.hash, err = w.manifestHash(ctx); err != nil {
			return err
		}
	}
	switch {
	case w.r.Meta.ValidateOnly || w.mode == Off:
		return nil
	case a.Inverse != nil:
		inverse, err := a.Inverse(ctx, w.r)
		w.entry.Inverse = inverse
		return err
	case saves && len(saved) > 0:
		if a.Saves == action.SavesTrees {
			below, err := w.readDescendants(ctx)
			if err != nil || w.entry.NoUndo != "" {
				return err
			}
			return w.saveTargets(ctx, append(saved, below...))
		}
		return w.saveTargets(ctx, saved)
	}
	return nil
}

// manifestHash returns a hash of targets that have no text of their own, such as databases with all their content.
func (w *guardedWrite) manifestHash(ctx context.Context) (string, error) {
	type target struct {
		What  access.What
		ID    kernel.ID
		Path  string
		Name  string
		State string `json:",omitempty"`
	}
	var list []target
	for _, t := range w.r.AllTargets() {
		hashed := target{What: t.What, ID: t.ID, Path: t.Path, Name: t.Title}
		if t.What == access.Database {
			db, err := w.r.Kernel.Database(ctx, t.ID)
			if err != nil {
				return "", err
			}
			hashed.State = hashOf(db.Raw)
		}
		list = append(list, hashed)
	}
	if w.r.OnMemory() {
		memory, err := w.r.Workspace.Memory(ctx)
		if err != nil {
			return "", err
		}
		list = append(list, target{What: access.Path, Path: action.AgentsFile, State: hashOf([]byte(memory))})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic("safety: targets do not encode: " + err.Error())
	}
	return hashPrefix + hashOf(raw), nil
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// checkExpectedHashes compares the targets with the hashes that the caller gave.
func (w *guardedWrite) checkExpectedHashes() error {
	m := w.r.Meta
	if w.mode == Strict && hasState(w.r.Action.Class) && m.Expected == "" && m.IfMatch == "" {
		return w.refusalError("precondition_required", "expectedHash", "strict writing needs expectedHash: call once with validateOnly:true, which gives it")
	}
	for field, given := range map[string]string{"ifMatch": m.IfMatch, "expectedHash": m.Expected} {
		if given == "" {
			continue
		}
		if w.hash == "" {
			return w.refusalError("precondition_required", field, "this write changes nothing that is there, so there is no state to hold it against; leave "+field+" out")
		}
		digits := strings.ToLower(strings.TrimPrefix(given, hashPrefix))
		if len(digits) < shortestHash || strings.Trim(digits, "0123456789abcdef") != "" {
			return w.refusalError("ambiguous_hash_prefix", field, fmt.Sprintf("%s is %q, expected %s and at least %d hex digits, as a read gave them", field, given, hashPrefix, shortestHash))
		}
		if !strings.HasPrefix(strings.TrimPrefix(w.hash, hashPrefix), digits) {
			return &tool.Error{
				Op: "write", Kind: tool.StateChanged, Code: "state_changed", Subject: w.r.Action.Tool + "." + w.r.Action.Name,
				Message: "the target is not what it was when " + field + " was made; nothing was written",
				Hint:    "read it again before you decide", Facts: map[string]any{"requestId": w.entry.ID},
			}
		}
	}
	return nil
}

// preview returns the answer to validateOnly: everything was checked, nothing was written.
func (w *guardedWrite) preview() json.RawMessage {
	out := struct {
		ValidateOnly bool   `json:"validateOnly"`
		Attempted    bool   `json:"writeAttempted"`
		Field        string `json:"preconditionField,omitempty"`
		Hash         string `json:"expectedHash,omitempty"`
		Targets      int    `json:"targetCount"`
		Mode         Mode   `json:"writeSafetyMode"`
	}{true, false, "", w.hash, len(w.r.AllTargets()), w.mode}
	if w.hash != "" {
		out.Field = "expectedHash"
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic("safety: a preview does not encode: " + err.Error())
	}
	return raw
}

// addReceipt adds to a result what its caller needs to know about the write.
func (w *guardedWrite) addReceipt(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return raw, nil
	}
	raw = withID(raw, w.entry.ID)
	if w.mode != Strict {
		return raw, nil
	}
	facts := map[string]any{
		"requestId": w.entry.ID, "writeSafetyMode": w.mode, "writeSafetyGuaranteed": w.hash != "", "writeAttempted": true,
		"writeExecuted": true, "replayed": false, "transactionState": "committed",
	}
	if w.hash != "" {
		facts["previousHash"] = w.hash
		var ids []kernel.ID
		for _, b := range w.entry.Before {
			ids = append(ids, b.ID)
		}
		if len(ids) > 0 {
			// The write is committed, so one that cannot be read back only lacks its hash.
			if after, _, err := content.State(ctx, w.r.Kernel, ids); err == nil {
				if facts["resultHash"] = after; after == w.hash {
					facts["transactionState"] = "no_change"
				}
			}
		}
	}
	if out, err := sjson.SetBytes(raw, "safety", facts); err == nil {
		return out, nil
	}
	return raw, nil
}

// saveTargets stores the former content and place of the targets, unless it is too large.
func (w *guardedWrite) saveTargets(ctx context.Context, saved []content.Saved) error {
	size := 0
	for _, s := range saved {
		size += len(s.Kramdown)
	}
	if size > w.opts.MaxSaved {
		w.entry.NoUndo = fmt.Sprintf("it changed %d KB, more than is kept; SiYuan's own history may have it", size/1024)
		return nil
	}
	ids := make([]kernel.ID, len(saved))
	for i, s := range saved {
		ids[i] = s.ID
	}
	around, err := w.r.Kernel.Nodes(ctx, ids)
	if err != nil {
		w.entry.NoUndo = "its place among other blocks could not be read"
		return nil //nolint:nilerr // undo is optional: writing must not depend on it
	}
	for _, s := range saved {
		t, ok := w.placeOf(s.ID)
		if !ok || s.Kramdown == "" {
			continue
		}
		b := Before{
			Saved: s, Document: t.ID == t.Root, Notebook: t.Notebook, Root: t.Root, Path: t.Path, HPath: t.HPath,
			Parent: around[s.ID].ParentID, Previous: around[s.ID].PreviousID, Next: around[s.ID].NextID,
		}
		if b.Document && b.Path == "" {
			if t, err := w.r.Located(ctx, t); err == nil {
				b.Path = t.Path
			}
		}
		if b.Document && b.HPath == "" {
			if hpath, err := w.r.Kernel.HPathByID(ctx, t.ID); err == nil {
				b.HPath = hpath
			}
		}
		if w.r.Action.Saves == action.SavesRemoved && b.isOnlyChild() {
			if b.Holder, err = w.soleContainer(ctx, &b); err != nil {
				w.entry.Before, w.entry.NoUndo = nil, "what holds it could not be read"
				return nil //nolint:nilerr // as above
			}
		}
		w.entry.Before = append(w.entry.Before, b)
	}
	return nil
}

// soleContainer returns the outermost container that contains nothing but the block. It is nil if there is none other
// than the document.
func (w *guardedWrite) soleContainer(ctx context.Context, b *Before) (*Before, error) {
	var out *Before
	for at := b; at.isOnlyChild() && at.Parent != "" && at.Parent != b.Root; {
		around, err := w.r.Kernel.Nodes(ctx, []kernel.ID{at.Parent})
		if err != nil {
			return nil, err
		}
		n := around[at.Parent]
		next := &Before{Notebook: b.Notebook, Root: b.Root, Path: b.Path, Parent: n.ParentID, Previous: n.PreviousID, Next: n.NextID}
		next.ID = at.Parent
		out, at = next, next
	}
	if out == nil {
		return nil, nil
	}
	_, saved, err := content.State(ctx, w.r.Kernel, []kernel.ID{out.ID})
	if err != nil {
		return nil, err
	}
	out.Saved = saved[0]
	return out, nil
}

// placeOf returns where a saved block or document is.
func (w *guardedWrite) placeOf(id kernel.ID) (action.Target, bool) {
	for _, t := range append(w.r.WritableTargets(), w.descendants...) {
		if t.ID == id {
			return t, true
		}
	}
	return action.Target{}, false
}

// maxDescendants bounds how many documents below a target are kept.
const maxDescendants = 1000

// readDescendants reads the documents below the targets, parents first. If they are too many, the write cannot be undone.
func (w *guardedWrite) readDescendants(ctx context.Context) ([]content.Saved, error) {
	var ids []kernel.ID
	for _, t := range w.r.WritableTargets() {
		if t.ID != t.Root {
			continue
		}
		t, err := w.r.Located(ctx, t) // a target named by its human path is not located yet
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(t.Path, string(t.ID)+".sy") {
			return nil, &tool.Error{Op: "write", Kind: tool.Internal, Subject: string(t.ID), Message: "the storage path of the document is not known"}
		}
		type document struct {
			ID    kernel.ID `json:"id"`
			Path  string    `json:"path"`
			HPath string    `json:"hpath"`
		}
		rows, err := kernel.SQL[document](ctx, w.r.Kernel, "SELECT DISTINCT id, path, hpath FROM blocks WHERE type = 'd' AND box = "+
			kernel.Quote(string(t.Notebook))+" AND path LIKE "+kernel.Quote(strings.TrimSuffix(t.Path, ".sy")+"/%")+" ORDER BY path LIMIT "+strconv.Itoa(maxDescendants+1))
		if err != nil {
			return nil, err
		}
		if len(rows) > maxDescendants {
			w.entry.NoUndo = fmt.Sprintf("it removed more than %d documents, more than are kept; SiYuan's own history may have them", maxDescendants)
			return nil, nil
		}
		for _, row := range rows {
			if row.ID == t.ID || slices.Contains(ids, row.ID) {
				continue
			}
			ids = append(ids, row.ID)
			w.descendants = append(w.descendants, action.Target{
				What: access.Document, ID: row.ID, Root: row.ID, Notebook: t.Notebook, Path: row.Path, HPath: row.HPath,
			})
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	_, saved, err := content.State(ctx, w.r.Kernel, ids)
	return saved, err
}
