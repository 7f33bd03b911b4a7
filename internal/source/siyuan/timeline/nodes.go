package timeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/sorting"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool timeline that list and create nodes, which are named states of a document or
// the workspace.

type listArgs struct {
	Scope    string    `json:"scope" about:"default: document if documentId is given, else global" enum:"global,document,all"`
	Document kernel.ID `json:"documentId" about:"document, for scope document"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1"`
	Size     int       `json:"pageSize" about:"nodes a page" default:"50" min:"1" max:"100"`
}

// listNodes returns the action list_nodes of the tool timeline.
func listNodes() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "list_nodes", Purpose: "List named states, newest first", Common: true,
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Needs: needsOnScope(access.Read),
		Endpoints: []string{"repo/getRepoTagSnapshots", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"id": "documentId"},
		Result:    action.Page[node]{},
		Example:   `{"documentId":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a listArgs) (any, error) {
		target, err := scopeTarget(r)
		if err != nil {
			return nil, err
		}
		found, err := listAllNodes(ctx, r)
		if err != nil {
			return nil, err
		}
		scope := scopeOf(r)
		found = slices.DeleteFunc(found, func(n node) bool {
			return target != nil && n.Document != target.Root || scope == global && n.Document != ""
		})
		sorting.By(found, func(a, b node) int {
			return cmp.Or(strings.Compare(b.at, a.at), strings.Compare(a.Tag, b.Tag))
		})
		return action.Paged(found, a.Page, a.Size), nil
	})
}

type createArgs struct {
	Name     string    `json:"name" about:"what the state is called" req:"true" min:"1" max:"60"`
	Scope    string    `json:"scope" about:"default: document if documentId is given, else global" enum:"global,document"`
	Document kernel.ID `json:"documentId" about:"document, for scope document"`
}

type createNodeResult struct {
	Success bool `json:"success" about:"true"`
	node
}

// createNode returns the action create_node of the tool timeline.
func createNode() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "create_node", Purpose: "Name the present state, to come back to it later", Common: true,
		Guide: "Do it before larger edits. The whole workspace goes into the snapshot; the node is for one document unless scope is global.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite, Needs: needsOnScope(access.Write),
		Endpoints: []string{
			"repo/createSnapshot", "repo/getRepoSnapshots", "repo/tagSnapshot", "repo/getRepoTagSnapshots", "notebook/lsNotebooks",
			"sqlite/flushTransaction",
		},
		Aliases: map[string]string{"id": "documentId"},
		Result:  createNodeResult{},
		Example: `{"name":"before the rewrite 改写前","documentId":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a createArgs) (any, error) {
		a.Name = strings.TrimSpace(a.Name)
		if wrong := nameProblem(a.Name); wrong != "" {
			return nil, r.Invalid("name", wrong)
		}
		target, err := scopeTarget(r)
		if err != nil {
			return nil, err
		}
		doc := kernel.ID("")
		if target != nil {
			doc = target.Root
		}
		tag := tagOf(doc, a.Name, time.Now())
		existing, err := listAllNodes(ctx, r) // also fails if there is no repository key, before anything is created
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(existing, func(n node) bool { return n.Tag == tag }) {
			return nil, &tool.Error{Op: "create node", Kind: tool.Exists, Subject: a.Name, Message: "a node of that name was made this very second"}
		}
		snapshot, err := takeSnapshot(ctx, r, a.Name)
		if err != nil {
			return nil, err
		}
		if err := r.Kernel.TagSnapshot(ctx, snapshot.ID, tag); err != nil {
			return nil, err
		}
		created, err := listAllNodes(ctx, r)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(created, func(n node) bool { return n.Tag == tag && n.Snapshot == snapshot.ID })
		if i < 0 {
			return nil, &tool.Error{
				Op: "create node", Kind: kernel.Mismatch, Subject: a.Name, OutcomeUnknown: true,
				Message: "the kernel accepted the tag, and the list does not show it", Hint: `timeline(action="list_nodes") shows what there is`,
			}
		}
		return createNodeResult{true, created[i]}, nil
	})
}

// takeSnapshot returns a snapshot of the current workspace. It takes up to a second, see nextSecond.
func takeSnapshot(ctx context.Context, r *action.Request, memo string) (kernel.Snapshot, error) {
	if err := r.Kernel.FlushNow(ctx); err != nil { // a block that was deleted just now may still be in its file
		return kernel.Snapshot{}, err
	}
	if err := r.Kernel.CreateSnapshot(ctx, memo); err != nil {
		return kernel.Snapshot{}, err
	}
	list, err := r.Kernel.Snapshots(ctx, 1)
	if err == nil && len(list) == 0 {
		err = &tool.Error{Op: "make snapshot", Kind: kernel.Mismatch, Message: "the kernel accepted the snapshot, and lists none", OutcomeUnknown: true}
	}
	if err != nil {
		return kernel.Snapshot{}, err
	}
	return list[0], waitForNextSecond(ctx, list[0].Created) // the newest, which is an older one if nothing has changed since
}

// waitForNextSecond waits until the second of a time in milliseconds is over on the kernel's clock. For a snapshot, a file is
// unchanged if its time is in the same second as at the last snapshot: what is written in the rest of that second would
// never be in a snapshot.
func waitForNextSecond(ctx context.Context, moment int64) error {
	untilNext := time.NewTimer(time.Duration(1000-moment%1000) * time.Millisecond)
	defer untilNext.Stop()
	select {
	case <-untilNext.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// node is a named state. Document is empty if the node is about the whole workspace.
type node struct {
	Tag      string    `json:"tag" about:"for rollback_document"`
	Name     string    `json:"name" about:"its name"`
	Scope    string    `json:"scope" about:"global or document"`
	Document kernel.ID `json:"documentId,omitempty" about:"of scope document"`
	Created  string    `json:"created" about:"when it was made"`
	Snapshot string    `json:"snapshotId,omitempty" about:"the snapshot" verbose:"yes"`
	at       string    // local time, 14 digits
}

const (
	global   = "global"
	document = "document"
	all      = "all"
)

// stampLayout is the layout of the local time in a tag, as in ids.
const stampLayout = "20060102150405"

var tagPattern = lazyregexp.New(`^sisyphustimeline_(global|[0-9]{14}-[0-9a-z]{7})_([0-9]{14})_(.+)$`)

// parseTag parses the tag of a node; ok is false if the tag is not one of ours.
func parseTag(tag string) (n node, ok bool) {
	m := tagPattern.FindStringSubmatch(tag)
	if m == nil {
		return node{}, false
	}
	at, err := time.ParseInLocation(stampLayout, m[2], time.Local)
	if err != nil {
		return node{}, false
	}
	n = node{Tag: tag, Name: m[3], Scope: global, Created: at.Format(time.RFC3339), at: m[2]}
	if m[1] != global {
		n.Scope, n.Document = document, kernel.ID(m[1])
	}
	return n, true
}

// tagOf returns the tag of a node. An empty document means the whole workspace.
func tagOf(doc kernel.ID, name string, at time.Time) string {
	scope := string(doc)
	if doc == "" {
		scope = global
	}
	return "sisyphustimeline_" + scope + "_" + at.Format(stampLayout) + "_" + name
}

// nameProblem returns what is wrong with the name of a node, "" if it is valid. The kernel uses tags as names of files.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "must not be blank"
	case utf8.RuneCountInString(name) > 60:
		return "must not have more than 60 characters"
	case strings.ContainsAny(name, `\/:*?"'<>|`):
		return `must not contain any of \ / : * ? " ' < > |`
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "must not contain invisible characters"
	}
	return ""
}

// listAllNodes returns all nodes of the workspace, in no order.
func listAllNodes(ctx context.Context, r *action.Request) ([]node, error) {
	tagged, err := r.Kernel.TaggedSnapshots(ctx)
	if err != nil {
		return nil, err
	}
	var out []node
	for _, s := range tagged {
		if n, ok := parseTag(s.Tag); ok {
			n.Snapshot = s.ID
			out = append(out, n)
		}
	}
	return out, nil
}

// needsOnScope returns the levels that a call needs: a level on the document in its arguments, or reading every
// notebook if it is about the whole workspace, since a snapshot has all of them.
func needsOnScope(level access.Level) []action.Need {
	return []action.Need{
		action.OnDocument(level, "documentId"),
		action.On(access.Read, "every notebook, unless scope is document", "scope", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
			if scopeOf(r) == document {
				return nil, nil
			}
			return nil, r.Levels.Everywhere(ctx, access.Read)
		}),
	}
}

// scopeOf returns the scope of a call; the default is document if the call names one, else global.
func scopeOf(r *action.Request) string {
	if s := r.Strings("scope"); len(s) > 0 {
		return s[0]
	}
	if len(r.Strings("documentId")) > 0 {
		return document
	}
	return global
}

// scopeTarget returns the document of a call with scope document, nil for another scope.
func scopeTarget(r *action.Request) (*action.Target, error) {
	targets := r.Targets("documentId")
	switch scope := scopeOf(r); {
	case scope == document && len(targets) == 0:
		return nil, r.Invalid("documentId", "is required with scope document")
	case scope != document && len(targets) > 0:
		return nil, r.Conflicting("documentId goes with scope document only", "scope", "documentId")
	case scope == document:
		return &targets[0], nil
	}
	return nil, nil
}
