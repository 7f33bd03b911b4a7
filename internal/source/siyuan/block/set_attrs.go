package block

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.set_attrs, which sets attributes of blocks.

type setAttrsArgs struct {
	ID    kernel.ID         `json:"id" about:"block or document" req:"true"`
	Attrs map[string]string `json:"attrs" about:"name, alias, memo, bookmark, icon, title, title-img, style, custom-*; \"\" removes" req:"true" list:"json"`
	Allow bool              `json:"allowSystemAttrs" about:"also custom-riff-decks and custom-avs; only a person at a terminal" default:"false"`
}

type setAttrsResult struct {
	Success bool              `json:"success" about:"true"`
	ID      kernel.ID         `json:"id" about:"the block"`
	Attrs   map[string]string `json:"attrs" about:"those that were set, as they are now"`
}

// setAttrs returns the action set_attrs of the tool block.
func setAttrs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "set_attrs",
		Purpose: "Set or remove attributes of a block or document",
		Guide:   "The others stay as they are. title renames a document.",
		Class:   action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite, Inverse: restoreAttrsInverse,
		Needs:      []action.Need{action.OnBlock(access.Write, "id")},
		Endpoints:  []string{"attr/setBlockAttrs", "attr/getBlockAttrs"},
		Positional: []string{"id"},
		Result:     setAttrsResult{},
		Example:    `{"id":"20260102030405-abcdefg","attrs":{"custom-status":"done","memo":""}}`,
	}, runSetAttrs)
}

func runSetAttrs(ctx context.Context, r *action.Request, a setAttrsArgs) (any, error) {
	t := r.Target("id")
	if err := refuseNotebookPage(r, "id", t); err != nil {
		return nil, err
	}
	attrs, err := checkAttrs(r, t, a.Attrs, a.Allow)
	if err != nil {
		return nil, err
	}
	before, err := r.Kernel.Attrs(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if err := content.AdmitAssets(ctx, r, slices.Collect(maps.Values(attrs)), slices.Collect(maps.Values(before))...); err != nil {
		return nil, err
	}
	if err := r.Kernel.SetAttrs(ctx, a.ID, attrs); err != nil {
		return nil, err
	}
	now, err := r.Kernel.Attrs(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		// The kernel may normalize a value. If the value did not change at all, it was not written.
		if now[key] == before[key] && strings.TrimSpace(now[key]) != strings.TrimSpace(attrs[key]) {
			return nil, mismatchError(r, a.ID, fmt.Sprintf("the kernel accepted the attributes, and %s is still %q", key, now[key]))
		}
		set[key] = now[key]
	}
	r.RefreshDocument(t.Root)
	if isDocument(t) {
		if _, ok := attrs["title"]; ok {
			r.RefreshTree()
		}
		if _, ok := attrs["icon"]; ok {
			r.RefreshIcons()
		}
	}
	return setAttrsResult{true, a.ID, set}, nil
}

// restoreAttrsInverse returns the call that sets the attributes of this call back to their current values, and changes
// nothing else of the block.
func restoreAttrsInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	var a setAttrsArgs
	if err := json.Unmarshal(r.Args(), &a); err != nil {
		return nil, r.Invalid("attrs", err.Error())
	}
	now, err := r.Kernel.Attrs(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	old := map[string]string{}
	for key := range a.Attrs {
		old[strings.ToLower(key)] = now[strings.ToLower(key)] // "" removes what was not there
	}
	args, err := action.Encode(map[string]any{"id": a.ID, "attrs": old, "allowSystemAttrs": a.Allow})
	return &action.Inverse{Tool: name, Action: "set_attrs", Args: args}, err
}

// The names of attributes that may be set.
var (
	attrName    = lazyregexp.New(`^[a-z][a-z0-9-]*$`)
	plainAttrs  = []string{"name", "alias", "memo", "bookmark", "icon", "title", "title-img", "style"}
	systemAttrs = []string{"custom-riff-decks", "custom-avs"}
)

// checkAttrs returns attrs with their names as the kernel stores them, or what is wrong.
func checkAttrs(r *action.Request, t action.Target, attrs map[string]string, allow bool) (map[string]string, error) {
	if len(attrs) == 0 {
		return nil, r.Invalid("attrs", "is empty, expected at least one attribute")
	}
	out := map[string]string{}
	for _, given := range slices.Sorted(maps.Keys(attrs)) {
		key := strings.ToLower(given)
		if _, twice := out[key]; twice {
			return nil, attrError(r, given, "is there twice, since the case of a name does not count")
		}
		if err := checkAttr(r, t, key, attrs[given], allow); err != nil {
			return nil, err
		}
		out[key] = attrs[given]
	}
	return out, nil
}

func checkAttr(r *action.Request, t action.Target, key, value string, allow bool) error {
	custom := strings.HasPrefix(key, "custom-") && len(key) > len("custom-")
	switch {
	case slices.Contains([]string{"id", "updated", "data-node-id"}, key):
		return attrError(r, key, "belongs to the kernel and must not be set")
	case !attrName.MatchString(key) || !custom && !slices.Contains(plainAttrs, key):
		return attrError(r, key, "is not allowed, expected "+strings.Join(plainAttrs, ", ")+" or custom-… of a-z, 0-9 and -")
	case slices.Contains(systemAttrs, key) && !allow:
		return attrError(r, key, "is kept by the kernel; allowSystemAttrs=true is needed, and a person")
	case slices.Contains(systemAttrs, key) && r.Call.Origin != tool.Direct:
		return &tool.Error{
			Op: "call", Kind: tool.Unconfirmed, Subject: name + ".set_attrs",
			Message: fmt.Sprintf("only a person at a terminal may set %s: a wrong value breaks cards and databases", key),
			Hint:    `flashcard(action="create_card", …) and av(action="add_rows", …) change it safely`,
		}
	case key == "title" && !isDocument(t):
		return attrError(r, key, "is of documents only, and "+string(t.ID)+" is a block in one")
	case key == "title" && (strings.TrimSpace(value) == "" || strings.Contains(value, "/") || strings.ContainsFunc(value, unicode.IsControl)):
		return attrError(r, key, "renames the document: it must be one line, not empty, without /")
	case key == "title" && utf8.RuneCountInString(value) > longestTitle:
		return attrError(r, key, fmt.Sprintf("renames the document: it must not have more than %d characters", longestTitle))
	}
	return nil
}

// longestTitle is the maximum length of a document's title, in characters.
const longestTitle = 512

func attrError(r *action.Request, key, message string) error {
	return r.Invalid("attrs/"+key, message)
}

type foldArgs struct {
	ID     kernel.ID `json:"id" about:"block" req:"true"`
	Folded bool      `json:"folded" about:"true folds, false unfolds" req:"true"`
}

type foldResult struct {
	Success bool      `json:"success" about:"true"`
	ID      kernel.ID `json:"id" about:"the block"`
	Folded  bool      `json:"folded" about:"its state now"`
}

// setFoldState returns the action set_fold_state of the tool block.
func setFoldState() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "set_fold_state",
		Purpose: "Fold or unfold a block",
		Class:   action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite | tool.EffectUI,
		Inverse:    foldInverse,
		Needs:      []action.Need{action.OnBlock(access.Write, "id")},
		Endpoints:  []string{"block/foldBlock", "block/unfoldBlock", "attr/getBlockAttrs"},
		Positional: []string{"id", "folded"},
		Result:     foldResult{},
		Example:    `{"id":"20260102030405-abcdefg","folded":true}`,
	}, func(ctx context.Context, r *action.Request, a foldArgs) (any, error) {
		t := r.Target("id")
		hint := `block(action="get_children", id="` + string(a.ID) + `") lists its blocks, which can be folded`
		if err := refuseDocument(r, "id", t, hint); err != nil {
			return nil, err
		}
		if err := r.Kernel.Fold(ctx, a.ID, a.Folded); err != nil {
			return nil, err
		}
		attrs, err := r.Kernel.Attrs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if (attrs["fold"] == "1") != a.Folded {
			return nil, mismatchError(r, a.ID, "the kernel accepted the change, and the block is folded as before")
		}
		r.RefreshDocument(t.Root)
		return foldResult{true, a.ID, a.Folded}, nil
	})
}

// foldInverse returns the inverse write that restores whether the block is folded now.
func foldInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	id := r.Target("id").ID
	attrs, err := r.Kernel.Attrs(ctx, id)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"id": id, "folded": attrs["fold"] == "1"})
	return &action.Inverse{Tool: "block", Action: "set_fold_state", Args: args}, err
}
