package timeline

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type listArgs struct {
	Scope    string    `json:"scope" about:"default: document if documentId is given, else global" enum:"global,document,all"`
	Document kernel.ID `json:"documentId" about:"document, for scope document"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1"`
	Size     int       `json:"pageSize" about:"nodes a page" default:"50" min:"1" max:"100"`
}

func listNodes() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "list_nodes", Purpose: "List named states, newest first", Common: true,
		Class: action.Reads, Needs: onScope(access.Read),
		Endpoints: []string{"repo/getRepoTagSnapshots", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"id": "documentId"},
		Result:    action.Page[node]{},
		Example:   `{"documentId":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a listArgs) (any, error) {
		target, err := scopeTarget(r)
		if err != nil {
			return nil, err
		}
		found, err := nodes(ctx, r)
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
