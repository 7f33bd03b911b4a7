package timeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

type createArgs struct {
	Name     string    `json:"name" about:"what the state is called" req:"true" min:"1" max:"60"`
	Scope    string    `json:"scope" about:"default: document if documentId is given, else global" enum:"global,document"`
	Document kernel.ID `json:"documentId" about:"document, for scope document"`
}

type createNodeResult struct {
	Success bool `json:"success" about:"true"`
	node
}

func createNode() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "create_node", Purpose: "Name the present state, to come back to it later", Common: true,
		Guide: "Do it before larger edits. The whole workspace goes into the snapshot; the node is for one document unless scope is global.",
		Class: action.Creates, Needs: onScope(access.Write),
		Endpoints: []string{
			"repo/createSnapshot", "repo/getRepoSnapshots", "repo/tagSnapshot", "repo/getRepoTagSnapshots", "notebook/lsNotebooks",
			"sqlite/flushTransaction",
		},
		Aliases: map[string]string{"id": "documentId"},
		Result:  createNodeResult{},
		Example: `{"name":"before the rewrite 改写前","documentId":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a createArgs) (any, error) {
		a.Name = strings.TrimSpace(a.Name)
		if wrong := badName(a.Name); wrong != "" {
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
		have, err := nodes(ctx, r) // says as well whether there is a key, before anything is made
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(have, func(n node) bool { return n.Tag == tag }) {
			return nil, &tool.Error{Op: "create node", Kind: tool.Exists, Subject: a.Name, Message: "a node of that name was made this very second"}
		}
		snapshot, err := snapshotNow(ctx, r, a.Name)
		if err != nil {
			return nil, err
		}
		if err := r.Kernel.TagSnapshot(ctx, snapshot.ID, tag); err != nil {
			return nil, err
		}
		made, err := nodes(ctx, r)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(made, func(n node) bool { return n.Tag == tag && n.Snapshot == snapshot.ID })
		if i < 0 {
			return nil, &tool.Error{
				Op: "create node", Kind: tool.Mismatch, Subject: a.Name, OutcomeUnknown: true,
				Message: "the kernel accepted the tag, and the list does not show it", Hint: `timeline(action="list_nodes") shows what there is`,
			}
		}
		return createNodeResult{true, made[i]}, nil
	})
}

// snapshotNow is a snapshot of the workspace as it is now. It takes up to a second, see nextSecond.
func snapshotNow(ctx context.Context, r *action.Request, memo string) (kernel.Snapshot, error) {
	if err := r.Kernel.FlushNow(ctx); err != nil { // a block that was deleted just now may still be in its file
		return kernel.Snapshot{}, err
	}
	if err := r.Kernel.CreateSnapshot(ctx, memo); err != nil {
		return kernel.Snapshot{}, err
	}
	list, err := r.Kernel.Snapshots(ctx, 1)
	if err == nil && len(list) == 0 {
		err = &tool.Error{Op: "make snapshot", Kind: tool.Mismatch, Message: "the kernel accepted the snapshot, and lists none", OutcomeUnknown: true}
	}
	if err != nil {
		return kernel.Snapshot{}, err
	}
	return list[0], nextSecond(ctx, list[0].Created) // the newest; where nothing has changed there is no new one
}

// nextSecond waits until the second of a moment in milliseconds is over on the kernel's clock. A
// snapshot takes a file for unchanged whose time is in the same second as when it was taken last:
// what is written in what is left of the second would be in no snapshot, ever.
func nextSecond(ctx context.Context, moment int64) error {
	rest := time.NewTimer(time.Duration(1000-moment%1000) * time.Millisecond)
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
