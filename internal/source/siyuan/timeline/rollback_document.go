package timeline

import (
	"context"
	"fmt"
	"path"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action timeline.rollback_document, which restores an earlier version.

type rollbackArgs struct {
	Document kernel.ID `json:"documentId" about:"document" req:"true"`
	Path     string    `json:"historyPath" about:"a copy, from compare_recent" list:"yes"`
	Tag      string    `json:"tag" about:"or a node, from list_nodes" list:"yes"`
}

// version is an earlier state of a document.
type version struct {
	blocks []blockState
	// isCurrent reports whether the current document equals this version.
	isCurrent func(ctx context.Context, present []blockState) (bool, error)
	read      func(ctx context.Context) (content string, err error)
	// restore replaces the document by this version.
	restore func(ctx context.Context) error
}

type rollbackDocumentResult struct {
	Success  bool           `json:"success" about:"true"`
	Document kernel.ID      `json:"documentId" about:"the document"`
	Path     string         `json:"historyPath,omitempty" about:"where it was brought back from"`
	Tag      string         `json:"tag,omitempty" about:"or the node"`
	Undone   map[string]int `json:"undone" about:"changes that are gone, by kind: added, removed, changed, moved"`
	Hint     string         `json:"hint" about:"the way back to what was before"`
}

// rollbackDocument returns the action rollback_document of the tool timeline.
func rollbackDocument() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "rollback_document", Purpose: "Bring a document back to an earlier state",
		Guide: "Give historyPath or tag. The present state is kept in the history of the document first.",
		Off:   true, Dangerous: true, Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite, Saves: action.SavesBlocks,
		Needs: []action.Need{
			action.OnDocument(access.Delete, "documentId"),
			action.On(access.Read, "every notebook, for a global tag", "tag", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
				for _, tag := range r.Strings("tag") {
					if n, ok := parseTag(tag); ok && n.Scope == global {
						return nil, r.Levels.Everywhere(ctx, access.Read)
					}
				}
				return nil, nil
			}),
		},
		Endpoints: []string{
			"block/getBlockDOM", "block/getChildBlocks", "history/getDocHistoryContent", "file/getFile", "history/createDocHistory", "history/rollbackDocHistory",
			"repo/getRepoTagSnapshots", "repo/createSnapshot", "repo/getRepoSnapshots", "repo/diffRepoSnapshots", "repo/openRepoSnapshotFile",
			"repo/rollbackRepoSnapshotFile", "block/getBlockKramdown", "filetree/listDocsByPath", "sqlite/flushTransaction", "notebook/lsNotebooks",
		},
		Aliases: map[string]string{"id": "documentId"},
		Result:  rollbackDocumentResult{},
		Example: `{"documentId":"20260102030405-abcdefg","historyPath":"/history/2026-01-02-030405-update/20260101000000-abcdefg/20260102030405-abcdefg.sy"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("replace all blocks of %q by an earlier state", r.Target("documentId").Subject)
		},
	}, rollback)
}

func rollback(ctx context.Context, r *action.Request, a rollbackArgs) (any, error) {
	target := r.Target("documentId")
	if target.ID != target.Root {
		return nil, r.Invalid("documentId", fmt.Sprintf("is a block of document %s; only a whole document can be brought back", target.Root))
	}
	if (a.Path == "") == (a.Tag == "") {
		return nil, r.Conflicting("give historyPath (from compare_recent) or tag (from list_nodes), one of them", "historyPath", "tag")
	}
	if err := r.Kernel.FlushNow(ctx); err != nil { // a block that was deleted just now may still be in its file
		return nil, err
	}
	present, err := currentBlocks(ctx, r, target.Root)
	if err != nil {
		return nil, err
	}
	var v *version
	if a.Path != "" {
		v, err = versionFromHistory(ctx, r, &target, a.Path)
	} else {
		v, err = versionFromNode(ctx, r, &target, a.Tag)
	}
	if err != nil {
		return nil, err
	}
	isCurrent, err := v.isCurrent(ctx, present)
	if err != nil {
		return nil, err
	}
	if isCurrent {
		return nil, alreadyCurrentError(target.Root)
	}
	if err := replaceDocument(ctx, r, &target, v); err != nil {
		return nil, err
	}
	r.RefreshDocument(target.Root)
	r.RefreshTree()
	return rollbackDocumentResult{true, target.Root, a.Path, a.Tag, countByKind(diffBlocks(v.blocks, present)), fmt.Sprintf(`timeline(action="compare_recent", documentId=%q) shows the copy of what was before, after some seconds`, target.Root)}, nil
}

// alreadyCurrentError returns the error for restoring the version that is already current. The kernel would delete the document's
// file and report success.
func alreadyCurrentError(doc kernel.ID) error {
	return &tool.Error{
		Op: "bring back", Kind: tool.Exists, Subject: string(doc), Message: "the document is like that version already, so there is nothing to bring back",
		Hint: fmt.Sprintf(`timeline(action="compare_recent", documentId=%q) finds a copy that differs`, doc),
	}
}

// replaceDocument keeps a copy of the current document, replaces it by a version, and checks the result.
func replaceDocument(ctx context.Context, r *action.Request, target *action.Target, v *version) error {
	doc := target.Root
	listed, err := isListed(ctx, r, target)
	if err != nil {
		return err
	}
	if err := r.Kernel.KeepHistory(ctx, doc); err != nil {
		return err
	}
	// The time in the path of a copy is in whole seconds, so the copy just made may have replaced the version.
	reread, err := v.read(ctx)
	if err != nil {
		return err
	}
	if len(diffBlocks(v.blocks, parseBlocks(reread))) > 0 {
		return &tool.Error{
			Op: "bring back", Kind: tool.StateChanged, Subject: string(doc), Message: "the version has just changed; nothing was written",
			Hint: fmt.Sprintf(`wait a second, then timeline(action="compare_recent", documentId=%q)`, doc),
		}
	}
	if err := v.restore(ctx); err != nil {
		return err
	}
	return verifyRestored(ctx, r, target, v, listed)
}

// verifyRestored checks that the document equals the version now and, if it was listed before, still has a file.
func verifyRestored(ctx context.Context, r *action.Request, target *action.Target, v *version, listed bool) error {
	if err := r.Kernel.FlushNow(ctx); err != nil {
		return err
	}
	wrong := func(message string) error {
		return &tool.Error{
			Op: "bring back", Kind: kernel.Mismatch, Subject: string(target.Root), OutcomeUnknown: true, Message: "the kernel accepted the change, and " + message,
			Hint: "SiYuan keeps what was before: a person finds it under Data history",
		}
	}
	kramdown, err := r.Kernel.Kramdown(ctx, target.Root)
	if err != nil {
		return err
	}
	restored, err := currentBlocks(ctx, r, target.Root)
	if err != nil {
		return err
	}
	if kramdown == "" || len(diffBlocks(v.blocks, restored)) > 0 {
		return wrong("the document is not that version")
	}
	stillListed, err := isListed(ctx, r, target)
	if err == nil && listed && !stillListed {
		return wrong("the document is in no list any more; writing to it brings its file back")
	}
	return err
}

// isListed reports whether the document appears in the list of documents at its place.
func isListed(ctx context.Context, r *action.Request, target *action.Target) (bool, error) {
	parent := path.Dir(target.Path)
	if parent != "/" {
		parent += ".sy"
	}
	list, err := r.Kernel.Documents(ctx, target.Notebook, parent)
	return slices.ContainsFunc(list, func(d kernel.Document) bool { return d.ID == target.Root }), err
}
