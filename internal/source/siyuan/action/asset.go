package action

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// An asset lies in a folder of all, and belongs to every notebook that uses it. As with databases
// the lowest level counts: naming an asset in a note gives nobody more than they had.

// VisibleAssets tells which of some assets, by their paths as documents write them, may be seen: all
// of them unless some notebook may not be read. Then those that lie in the folder of a notebook that
// may, and those that a document of one uses, unless something that may not be read uses or
// mentions it too. What nobody is seen to use may be anybody's, and is not visible.
//
// Closed notebooks cannot be asked.
func (r *Request) VisibleAssets(ctx context.Context, paths []string) (func(path string) bool, error) {
	u, err := r.assetUsers(ctx, paths)
	if err != nil {
		return nil, err
	}
	return func(path string) bool { return u == nil || !u.hidden(path) && u.seen[path] }, nil
}

// LinkableAssets tells which of some assets a note may be made to show: those that are visible, those
// that have been uploaded here, and those that nothing uses, if every notebook that may not be read
// can be asked. What the blocks or documents but use does not count.
func (r *Request) LinkableAssets(ctx context.Context, paths []string, but ...kernel.ID) (func(path string) bool, error) {
	u, err := r.assetUsers(ctx, paths, but...)
	if err != nil {
		return nil, err
	}
	free := map[string]bool{}
	if u != nil && slices.ContainsFunc(paths, func(p string) bool { return !u.seen[p] && !u.hidden(p) && !r.uploaded(p) }) {
		if free, err = r.unusedAssets(ctx); err != nil {
			return nil, err
		}
	}
	return func(path string) bool {
		return u == nil || !u.hidden(path) && (u.seen[path] || r.uploaded(path) || slices.ContainsFunc(AssetReadings(path), func(p string) bool { return free[p] }))
	}, nil
}

// uploaded reports whether an asset came by way of this program.
func (r *Request) uploaded(path string) bool {
	return slices.ContainsFunc(AssetReadings(path), r.Workspace.Uploads().Has)
}

// unusedAssets are the assets that nothing uses; none while a hidden notebook is closed, whose
// documents no index covers.
func (r *Request) unusedAssets(ctx context.Context) (map[string]bool, error) {
	all, err := r.Levels.All(ctx)
	if err != nil || slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && !r.Readable(n.ID) }) {
		return nil, err
	}
	list, err := r.Kernel.UnusedAssets(ctx)
	out := map[string]bool{}
	for _, path := range list {
		out[path] = true
	}
	return out, err
}

// assetUsers is what is known of who uses assets.
type assetUsers struct {
	seen map[string]bool // what may be read uses them
	shut map[string]bool // what may not be read does
	also *Naming         // what may not be read mentions them
}

func (u *assetUsers) hidden(path string) bool {
	return u.shut[path] || slices.ContainsFunc(AssetReadings(path), u.also.Has)
}

// assetUsers finds who uses some assets; nil where every notebook may be read.
func (r *Request) assetUsers(ctx context.Context, paths []string, but ...kernel.ID) (*assetUsers, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	u := &assetUsers{seen: map[string]bool{}, shut: map[string]bool{}}
	names := map[string]string{} // of the assets, by how they may be written
	for _, path := range paths {
		for _, form := range AssetReadings(path) {
			names[form] = path
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if own := kernel.ID(folder); own.Valid() {
			u.seen[path], u.shut[path] = r.Readable(own), !r.Readable(own)
		}
	}
	forms := slices.Sorted(maps.Keys(names))
	for chunk := range slices.Chunk(forms, 500) {
		uses, err := r.Kernel.AssetUses(ctx, chunk, but...)
		if err != nil {
			return nil, err
		}
		for _, use := range uses {
			for _, form := range AssetReadings(use.Path) {
				if path, ok := names[form]; ok {
					u.seen[path] = u.seen[path] || r.Readable(use.Notebook)
					u.shut[path] = u.shut[path] || !r.Readable(use.Notebook)
				}
			}
		}
	}
	u.also, err = r.namedWhereHidden(ctx, forms)
	return u, err
}

// namedWhereHidden looks for assets in the texts, the attributes and the databases of notebooks that
// may not be read.
func (r *Request) namedWhereHidden(ctx context.Context, paths []string) (*Naming, error) {
	named := NewNaming(paths)
	if len(paths) == 0 {
		return named, nil
	}
	ids, err := r.VisibleIDs(ctx)
	if err != nil {
		return nil, err
	}
	texts, err := r.Kernel.AssetTextsOutside(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if !r.Readable(t.Notebook) {
			named.Read(t.Text)
		}
	}
	databases, err := r.HiddenDatabases(ctx)
	if err != nil {
		return nil, err
	}
	return named, r.Kernel.DatabaseTexts(ctx, databases, func(_ kernel.ID, text string) { named.Read(text) })
}

// AssetReadings are the paths that the address of an asset in a document may stand for: as it is
// and decoded, with and without what looks like a query or a fragment, since a name may have those
// characters.
func AssetReadings(address string) []string {
	out := []string{address}
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		out = append(out, address[:i])
	}
	for _, form := range out {
		if decoded, err := url.PathUnescape(form); err == nil && decoded != form {
			out = append(out, decoded)
		}
	}
	return out
}
