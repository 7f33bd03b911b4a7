package action

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// Target is something that a call names, resolved to where it is.
type Target struct {
	What     access.What
	Subject  string    // what the caller wrote
	ID       kernel.ID // of the block, document, database or notebook; empty for what has none
	Notebook kernel.ID
	Root     kernel.ID // of its document; empty for a notebook
	Path     string    // storage path of its document; "/" for a notebook
	HPath    string    // human path in its notebook; may be empty where nobody needed it
	Title    string    // of its document, or the notebook's name
	// Also are further notebooks that must have the level: an asset may be used in several.
	Also []kernel.ID
}

// Need is a level that an action needs on some of what its arguments name.
type Need struct {
	Level access.Level
	// Of is what needs it, as help pages say it: "block id", "every notebook".
	Of string
	// Param is the argument that names it; empty where no single one does.
	Param string
	// Targets finds all of them. An argument that is not given has no targets. What is not
	// there is [access.NotFound]. Nil means that every notebook needs the level.
	Targets func(ctx context.Context, r *Request) ([]Target, error)
}

// OnNotebook needs a level on the notebook whose id an argument has.
func OnNotebook(level access.Level, param string) Need {
	return Need{Level: level, Of: "notebook " + param, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.notebooks(ctx, r.Strings(param))
	}}
}

// OnBlock needs a level on the notebook of each block or document whose ids an argument has: a
// string, or an array of strings.
func OnBlock(level access.Level, param string) Need {
	return Need{Level: level, Of: "block " + param, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.blocks(ctx, access.Block, r.Strings(param))
	}}
}

// OnDocument is [OnBlock] for an argument that means a document; a block in it does as well.
func OnDocument(level access.Level, param string) Need {
	n := OnBlock(level, param)
	n.Of = "document " + param
	n.Targets = func(ctx context.Context, r *Request) ([]Target, error) {
		return r.blocks(ctx, access.Document, r.Strings(param))
	}
	return n
}

// OnMembers needs a level on the blocks whose ids stand in a member of the items of an array
// argument: OnMembers(access.Write, "items", "id").
func OnMembers(level access.Level, param, member string) Need {
	return Need{Level: level, Of: "block " + param + "[]." + member, Param: param, Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		return r.blocks(ctx, access.Block, r.Strings(param+".#."+member))
	}}
}

// Leaving needs rwd on those targets of from that are in another notebook than the one target of to: for the notebook
// that they leave it is a removal. from and to are further Needs of the same action; Leaving stands before them, so
// that a refusal names the level that is enough. of says what leaves: "documents".
func Leaving(of string, from, to Need) Need {
	return Need{Level: access.Delete, Of: of + " that leave their notebook", Targets: func(ctx context.Context, r *Request) ([]Target, error) {
		goal, err := to.Targets(ctx, r)
		if err != nil || len(goal) == 0 {
			return nil, err
		}
		if err := r.allowed(goal[0], access.Read); err != nil { // else its notebook would show in which error comes
			return nil, err
		}
		moving, err := from.Targets(ctx, r)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(moving), func(t Target) bool { return t.Notebook == goal[0].Notebook }), nil
	}}
}

// Everywhere needs a level on every notebook of the workspace, hidden ones included.
func Everywhere(level access.Level) Need { return Need{Level: level, Of: "every notebook"} }

// On needs a level on what a function finds; of says what that is, param which argument it
// depends on, which may be none.
func On(level access.Level, of, param string, targets func(ctx context.Context, r *Request) ([]Target, error)) Need {
	return Need{Level: level, Of: of, Param: param, Targets: targets}
}
