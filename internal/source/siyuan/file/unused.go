package file

import (
	"context"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// unused is what the kernel calls unused, sorted.
type unused struct {
	files []string // that nothing uses
	used  []string // that something uses after all, or may use
	total int      // of the kernel's list
}

// escapable is a character that documents may write as another.
var escapable = lazyregexp.New(`[^0-9A-Za-z/_.~-]`)

// unusedAssets are the files that nothing uses. The kernel does not see a use that is written
// with an escape, such as "assets/a%20b.png", so those are looked up (assets.jsonl 49). In a
// closed notebook they cannot be, so there every name that may be escaped counts as used.
func unusedAssets(ctx context.Context, r *action.Request) (unused, error) {
	list, err := r.Kernel.UnusedAssets(ctx)
	if err != nil {
		return unused{}, err
	}
	out := unused{files: []string{}, total: len(list)}
	if len(list) == 0 {
		return out, nil
	}
	named, err := namedIn(ctx, r, list)
	if err != nil {
		return unused{}, err
	}
	all, err := r.Levels.All(ctx)
	if err != nil {
		return unused{}, err
	}
	closed := slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed })
	for _, path := range list {
		switch {
		case slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(p, path+"/") }): // a folder
		case named.Has(path), closed && escapable.MatchString(tailOf(path)):
			out.used = append(out.used, path)
		default:
			out.files = append(out.files, path)
		}
	}
	slices.Sort(out.files)
	slices.Sort(out.used)
	return out, nil
}

// namedIn looks in all blocks for assets, and in all databases for those whose names may be
// escaped: the kernel sees the others itself, and each database is a request.
func namedIn(ctx context.Context, r *action.Request, list []string) (*action.Naming, error) {
	n := action.NewNaming(list)
	texts, err := r.Kernel.AssetTextsOutside(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		n.Read(text.Text)
	}
	if !slices.ContainsFunc(list, func(p string) bool { return escapable.MatchString(tailOf(p)) && !n.Has(p) }) {
		return n, nil
	}
	return n, r.Kernel.DatabaseTexts(ctx, nil, func(_ kernel.ID, text string) { n.Read(text) })
}

// tailOf is [tail] of what may have no folder assets/.
func tailOf(path string) string {
	if !strings.Contains("/"+path, "/assets/") {
		return path
	}
	return tail(path)
}
