package grant

import (
	"crypto/rand"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/tool"
)

// This file makes the grants that a question offers: for what (a document, notebook, folder, host, command or anything) and
// for how long.

// Lifetimes of grants.
const (
	turnLifetime    = 24 * time.Hour // longer than any turn
	sessionLifetime = 30 * 24 * time.Hour
	highLifetime    = 30 * 24 * time.Hour
)

// Offers returns the grants that a person may give instead of allowing one call, narrow ones first. Each covers the
// call. They have ids and are not stored yet.
func Offers(a *Asked, now time.Time) (out []Grant) {
	if !a.Grantable() {
		return nil
	}
	c := a.Call
	template := Grant{
		Principal: c.Principal, Origin: c.Origin, Source: c.Source.Name(), Tool: c.Tool, Action: c.Action.Name,
		Definition: definitionDigest(c.Action), Risk: a.Risk, Created: now.UTC().Truncate(time.Second),
	}
	if c.Finding != nil && c.Finding.Ask {
		template.Rule = c.Finding.Rule
	}
	constraints := constraintsFor(a)
	for _, scope := range []Scope{Turn, Session, Always} {
		for i, k := range constraints {
			if scope == Turn && i < len(constraints)-1 { // offer only the widest for a turn, which is short
				continue
			}
			if k.Kind == Any && scope == Always {
				continue
			}
			g := template
			g.ID, g.Scope, g.Constraint = newID(), scope, k
			switch scope {
			case Turn:
				g.Session, g.Turn, g.Expires = c.Session, turnOf(c), g.Created.Add(turnLifetime)
			case Session:
				g.Session, g.Expires = c.Session, g.Created.Add(sessionLifetime)
			case Always:
				if a.Risk == tool.RiskHigh {
					g.Expires = g.Created.Add(highLifetime)
				}
			}
			if g.Covers(a) {
				out = append(out, g)
			}
		}
	}
	return out
}

func newID() string { return "g" + strings.ToLower(rand.Text()[:16]) }

// constraintsFor returns the constraints that contain a call, the narrowest first.
func constraintsFor(a *Asked) []Constraint {
	_, effects := a.Call.Action.Rated()
	switch kind := commonKind(a.Touches); {
	case kind == tool.TouchNotes:
		return notesConstraints(a.Touches)
	case kind == tool.TouchFile && !effects.Has(tool.EffectExecute|tool.EffectEgress|tool.EffectCost):
		return pathConstraint(a.Touches)
	case kind == tool.TouchHost && !effects.Has(tool.EffectExecute|tool.EffectCost) && haveOneValue(a.Touches):
		return []Constraint{{Kind: Host, Value: a.Touches[0].Value, Name: a.Touches[0].Value}}
	case kind == tool.TouchCommand && len(a.Touches) == 1:
		return commandConstraint(a.Touches[0].Value)
	case kind == "":
		return []Constraint{{Kind: Any}}
	}
	return nil
}

// commonKind returns the kind that all touches have; empty if they differ or there are none.
func commonKind(touches []tool.Touch) tool.TouchKind {
	if len(touches) == 0 || slices.ContainsFunc(touches, func(t tool.Touch) bool { return t.Kind != touches[0].Kind }) {
		return ""
	}
	return touches[0].Kind
}

func haveOneValue(touches []tool.Touch) bool {
	return !slices.ContainsFunc(touches, func(t tool.Touch) bool { return t.Value != touches[0].Value })
}

// notesConstraints returns the document, if there is only one, and the notebook that all touches lie in.
func notesConstraints(touches []tool.Touch) (out []Constraint) {
	first := touches[0]
	box, _, _ := strings.Cut(first.Value, "/")
	if slices.ContainsFunc(touches, func(t tool.Touch) bool { return !isWithinFolder(t.Value, box) }) {
		return nil
	}
	if first.Value != box && haveOneValue(touches) {
		out = append(out, Constraint{Kind: Subtree, Value: first.Value, Name: "/" + first.Notebook + first.Document})
	}
	return append(out, Constraint{Kind: Notebook, Value: box, Name: first.Notebook})
}

// pathConstraint returns the folder that all touches lie in. It returns nil for folders that hold more than a person
// would mean: the root and folders one or two levels below it, such as the home of a user.
func pathConstraint(touches []tool.Touch) []Constraint {
	folder := path.Dir(touches[0].Value)
	for _, t := range touches[1:] {
		for !isWithinFolder(t.Value, folder) && folder != "/" {
			folder = path.Dir(folder)
		}
	}
	if strings.Count(folder, "/") < 3 {
		return nil
	}
	return []Constraint{{Kind: Path, Value: folder, Name: folder}}
}

// subcommands are programs whose first argument is a subcommand.
var subcommands = strings.Fields("apt brew bun cargo composer deno docker dotnet flutter gem gh git go gradle helm hg jj just kubectl make mix mvn nix npm pip pip3 pnpm podman poetry rustup swift terraform uv yarn")

// hasSubcommand reports whether a command, its words one a line, consists of a program and a subcommand. A constraint with such
// a command also covers longer ones.
func hasSubcommand(command string) bool {
	program, sub, ok := strings.Cut(command, "\n")
	return ok && slices.Contains(subcommands, program) && isName(sub)
}

func isName(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") == "" && word[0] != '-'
}

// commandConstraint returns a constraint to the program with its subcommand. For other programs it is to the whole command,
// because the meaning of their arguments is unknown.
func commandConstraint(command string) []Constraint {
	if words := strings.SplitN(command, "\n", 3); len(words) == 3 && hasSubcommand(words[0]+"\n"+words[1]) {
		command = words[0] + "\n" + words[1]
	}
	name := strings.ReplaceAll(command, "\n", " ")
	if hasSubcommand(command) {
		name += " …"
	}
	return []Constraint{{Kind: Command, Value: command, Name: name}}
}
