package action

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// Target is a thing that a call names, with its resolved place.
type Target struct {
	What     access.What
	Subject  string    // what the caller wrote
	ID       kernel.ID // of the block, document, database or notebook; empty for other things
	Notebook kernel.ID
	Root     kernel.ID // id of its document; empty for a notebook
	Path     string    // storage path of its document; "/" for a notebook
	HPath    string    // human path within its notebook; may be empty if nobody needed it
	Title    string    // of its document; the name of a notebook
	// Also has further notebooks whose level is checked: an asset may be used in several.
	Also []kernel.ID
}

// Need is a level that an action needs on some of the things that its arguments name.
type Need struct {
	Level access.Level
	// Of describes in help pages what the level is needed on: "block id", "every notebook".
	Of string
	// Param is the argument that names the targets; empty if no single one does.
	Param string
	// Targets returns the targets of a call, none if the argument is missing. A target that does not exist is an
	// [access.NotFound] error. A nil Targets means that the level is needed on every notebook.
	Targets func(ctx context.Context, r *Request) ([]Target, error)
}

// OnNotebook returns a Need for a level on the notebook whose id is in an argument.
func OnNotebook(level access.Level, param string) Need {
	return Need{Level: level, Of: "notebook " + param, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.resolveNotebooks(ctx, r.Strings(param))
	}}
}

// OnBlock returns a Need for a level on the notebook of each block or document whose id is in an argument, a string or an array of
// strings.
func OnBlock(level access.Level, param string) Need {
	return Need{Level: level, Of: "block " + param, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.resolveBlocks(ctx, access.Block, r.Strings(param))
	}}
}

// OnDocument is like [OnBlock] for an argument that means a document. The id of any block in the document is accepted too.
func OnDocument(level access.Level, param string) Need {
	n := OnBlock(level, param)
	n.Of = "document " + param
	n.Targets = func(ctx context.Context, r *Request) ([]Target, error) {
		return r.resolveBlocks(ctx, access.Document, r.Strings(param))
	}
	return n
}

// OnMembers returns a Need for a level on blocks whose ids are a member of the items of an array argument: OnMembers(access.Write,
// "items", "id").
func OnMembers(level access.Level, param, member string) Need {
	return Need{Level: level, Of: "block " + param + "[]." + member, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.resolveBlocks(ctx, access.Block, r.Strings(param+".#."+member))
	}}
}

// Leaving returns a Need for rwd on those targets of from that would leave their notebook, because for that notebook the move
// is a removal. to has a single target. of says what leaves, such as "documents". Leaving stands before from and to in the
// list of an action's needs, so that a caller who is refused hears of rwd at once, and not of a lower level that would not be
// enough.
func Leaving(of string, from, to Need) Need {
	return Need{Level: access.Delete, Of: of + " that leave their notebook", Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		goal, err := to.Targets(ctx, r)
		if err != nil || len(goal) == 0 {
			return nil, err
		}
		if err := r.checkLevel(goal[0], access.Read); err != nil { // otherwise the choice of error would reveal a hidden notebook
			return nil, err
		}
		moving, err := from.Targets(ctx, r)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(moving), func(t Target) bool { return t.Notebook == goal[0].Notebook }), nil
	}}
}

// Everywhere returns a Need for a level on every notebook of the workspace, including hidden ones.
func Everywhere(level access.Level) Need { return Need{Level: level, Of: "every notebook"} }

// On returns a Need for a level on the targets that a function returns. of describes them; param is the argument that they depend
// on, if any.
func On(level access.Level, of, param string, targets func(ctx context.Context, r *Request) ([]Target, error)) Need {
	return Need{Level: level, Of: of, Param: param, Targets: targets}
}
