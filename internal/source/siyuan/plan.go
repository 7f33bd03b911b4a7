package siyuan

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// notebookNames are the names of the notebooks that may be read.
func (s *Source) notebookNames(ctx context.Context, r *action.Request) (map[kernel.ID]string, error) {
	if len(r.AllTargets()) == 0 {
		return nil, nil
	}
	list, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	out := map[kernel.ID]string{}
	for _, n := range list {
		out[n.ID] = n.Name
	}
	return out, nil
}

// describe names a target for a person: by its place in the tree where it has one.
func describe(ctx context.Context, r *action.Request, t *action.Target, names map[kernel.ID]string) string {
	name := names[t.Notebook]
	switch {
	case t.What == access.Notebook:
		return fmt.Sprintf("notebook %s (%s)", t.Title, t.ID)
	case t.Notebook == "" || t.Root == "":
		return fmt.Sprintf("%s %s", t.What, t.Subject)
	}
	path := t.HPath
	if path == "" {
		if found, err := r.Kernel.HPathByID(ctx, t.Root); err == nil { // else its title does
			path = found
		} else {
			path = "/" + t.Title
		}
	}
	if t.ID == t.Root {
		return fmt.Sprintf("document /%s%s (%s)", name, path, t.ID)
	}
	return fmt.Sprintf("%s %s in /%s%s", t.What, t.ID, name, path)
}
