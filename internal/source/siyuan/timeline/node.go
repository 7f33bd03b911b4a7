package timeline

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// node is a named state. Document is empty for one of the whole workspace.
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

// stampLayout is the time in a tag: local, as in ids.
const stampLayout = "20060102150405"

var tagPattern = lazyregexp.New(`^sisyphustimeline_(global|[0-9]{14}-[0-9a-z]{7})_([0-9]{14})_(.+)$`)

// parseTag reads a tag; ok is false for one that is not ours.
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

// tagOf is the tag of a node; an empty document means the whole workspace.
func tagOf(doc kernel.ID, name string, at time.Time) string {
	scope := string(doc)
	if doc == "" {
		scope = global
	}
	return "sisyphustimeline_" + scope + "_" + at.Format(stampLayout) + "_" + name
}

// badName says what is wrong with the name of a node; "" is nothing. The kernel keeps tags as
// names of files.
func badName(name string) string {
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

// nodes are all nodes of the workspace, in no order.
func nodes(ctx context.Context, r *action.Request) ([]node, error) {
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

// onScope needs a level on the document that the arguments name, and that every notebook may be
// read where they mean the whole workspace: a snapshot holds all of it.
func onScope(level access.Level) []action.Need {
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

// scopeOf is the scope that a call means: that of a document where one is named.
func scopeOf(r *action.Request) string {
	if s := r.Strings("scope"); len(s) > 0 {
		return s[0]
	}
	if len(r.Strings("documentId")) > 0 {
		return document
	}
	return global
}

// scopeTarget is the document of a call whose scope is document, and none for others.
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
