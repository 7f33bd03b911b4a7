package system

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
)

type confArgs struct {
	Mode     string `json:"mode" about:"summary, or get one key" enum:"summary,get" default:"summary"`
	KeyPath  string `json:"keyPath" about:"such as editor.fontSize or tag.items[0]"`
	MaxDepth int    `json:"maxDepth" about:"levels shown" default:"1" min:"0" max:"5"`
	MaxItems int    `json:"maxItems" about:"entries shown of each" default:"12" min:"1" max:"100"`
}

// confResult is the summary, or one value.
type confResult struct {
	Mode      string          `json:"mode" about:"summary or get"`
	Total     int             `json:"totalTopLevelKeys,omitempty" about:"how many there are"`
	Names     []string        `json:"topLevelKeys,omitempty" about:"their names"`
	Truncated *int            `json:"truncatedTopLevelKeys,omitempty" about:"how many are not shown"`
	Summary   map[string]node `json:"summary,omitempty" about:"each key as far as maxDepth"`
	Path      string          `json:"keyPath,omitempty" about:"what was asked for"`
	Value     *node           `json:"value,omitempty" about:"type, and value, entries or items"`
	Hints     []string        `json:"hints" about:"how to go on"`
}

func conf() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "conf", Purpose: "Look into the kernel's configuration, a little at a time, with secrets hidden",
		Guide: "Begin with the summary, then ask for one keyPath with mode get. If a notebook may not be read, the sections that tell of notes are left out.",
		Off:   true, Class: action.Reads, Unguarded: "what tells of notes is left out where some notebook may not be read",
		Endpoints: []string{"system/getConf", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"path": "keyPath", "key": "keyPath"},
		Result:    confResult{},
		Example:   `{"mode":"get","keyPath":"editor.fontSize"}`,
	}, func(ctx context.Context, r *action.Request, a confArgs) (any, error) {
		raw, err := r.Kernel.Conf(ctx)
		if err != nil {
			return nil, err
		}
		if raw, err = readableConf(ctx, r, raw); err != nil {
			return nil, err
		}
		root := gjson.ParseBytes(raw)
		if a.Mode == "get" || a.KeyPath != "" {
			return confGet(r, root, &a)
		}
		return confSummary(root, &a), nil
	})
}

// node is one value of the configuration, as far as it is shown.
type node struct {
	Type      string          `json:"type"`
	Value     any             `json:"value,omitempty"`
	Entries   map[string]node `json:"entries,omitempty"`
	Items     []node          `json:"items,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Omitted   int             `json:"omittedKeys,omitempty"`
}

func confSummary(root gjson.Result, a *confArgs) any {
	var names []string
	total := 0
	root.ForEach(func(k, _ gjson.Result) bool {
		if total++; len(names) < a.MaxItems {
			names = append(names, k.String())
		}
		return true
	})
	all := show("", root, a.MaxDepth+1, a.MaxItems)
	left := total - len(names)
	return confResult{
		Mode: "summary", Total: total, Names: names, Truncated: &left, Summary: all.Entries,
		Hints: []string{`system(action="conf", mode="get", keyPath="editor") shows one key`},
	}
}

func confGet(r *action.Request, root gjson.Result, a *confArgs) (any, error) {
	if a.KeyPath == "" {
		return nil, r.Invalid("keyPath", "is required with mode get")
	}
	steps, ok := splitPath(a.KeyPath)
	if !ok {
		return nil, r.Invalid("keyPath", fmt.Sprintf("is %q, expected keys and indices such as editor.fontSize or list[0]", a.KeyPath))
	}
	at, masked := root, false
	for _, step := range steps {
		next, found := member(at, step)
		if !found {
			return nil, r.Invalid("keyPath", fmt.Sprintf("has no %q; there %s", step, inside(at)))
		}
		if at, masked = next, secret(step); masked {
			break // nor does what is in it show
		}
	}
	value := node{Type: "string", Value: hidden}
	if !masked {
		value = show("", at, a.MaxDepth, a.MaxItems)
	}
	return confResult{Mode: "get", Path: a.KeyPath, Value: &value, Hints: []string{"more with maxDepth and maxItems"}}, nil
}

var stepPattern = lazyregexp.New(`^[^.\[\]]+|^\[[0-9]+\]|^\["[^"]+"\]`)

// splitPath takes "a.b[0]" apart.
func splitPath(path string) (steps []string, ok bool) {
	for path != "" {
		step := stepPattern.FindString(path)
		if step == "" {
			return nil, false
		}
		path = strings.TrimPrefix(path[len(step):], ".")
		steps = append(steps, strings.Trim(step, `[]"`))
	}
	return steps, true
}

// member is what a key or an index names, by its exact name.
func member(v gjson.Result, step string) (found gjson.Result, ok bool) {
	if v.IsArray() {
		i, err := strconv.Atoi(step)
		items := v.Array()
		if err != nil || i < 0 || i >= len(items) {
			return found, false
		}
		return items[i], true
	}
	if v.IsObject() {
		v.ForEach(func(k, m gjson.Result) bool {
			if k.String() == step {
				found, ok = m, true
			}
			return !ok
		})
	}
	return found, ok
}

// inside says what a value holds, for a caller who asked for something else.
func inside(v gjson.Result) string {
	switch {
	case v.IsArray():
		return fmt.Sprintf("is a list of %d", len(v.Array()))
	case !v.IsObject():
		return "is a single value"
	}
	var names []string
	v.ForEach(func(k, _ gjson.Result) bool {
		names = append(names, k.String())
		return len(names) < 20
	})
	return "are " + strings.Join(names, ", ")
}

// show is a value, depth levels deep, with the values of secret keys hidden.
func show(name string, v gjson.Result, depth, most int) node {
	switch {
	case secret(name) && v.Type != gjson.Null && v.String() != "":
		return node{Type: "string", Value: hidden}
	case v.IsObject():
		n := node{Type: "object"}
		if depth > 0 {
			n.Entries = map[string]node{}
		}
		v.ForEach(func(k, m gjson.Result) bool {
			if depth <= 0 || len(n.Entries) >= most {
				n.Truncated = true
				n.Omitted++
				return true
			}
			n.Entries[k.String()] = show(k.String(), m, depth-1, most)
			return true
		})
		return n
	case v.IsArray():
		n := node{Type: "array"}
		v.ForEach(func(_, m gjson.Result) bool {
			if depth <= 0 || len(n.Items) >= most {
				n.Truncated = true
				n.Omitted++
				return true
			}
			n.Items = append(n.Items, show("", m, depth-1, most))
			return true
		})
		return n
	}
	switch v.Type {
	case gjson.String:
		return node{Type: "string", Value: address(v.Str)}
	case gjson.Number:
		return node{Type: "number", Value: json.RawMessage(v.Raw)} // with all its digits
	case gjson.True, gjson.False:
		return node{Type: "boolean", Value: v.Bool()}
	}
	return node{Type: "null"}
}
