// Package grant holds what a person has allowed beyond one call: which calls of one action, of one definition, run
// without a question, for how long and where. The gate asks a [Store] for them once it would have to ask a person, and
// writes what a person grants. What a grant covers is decided here and nowhere else ([Grant.Covers]); what a person is
// offered ([Offers]) covers the call that they are asked about.
//
// Grants are for calls of models in conversations. They never cover what is critical, and those for high risk expire.
package grant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"collie/internal/tool"
)

// Scope is how long a grant holds.
type Scope string

// The scopes. A single call needs no grant.
const (
	Turn    Scope = "turn"    // while one question of a conversation is answered
	Session Scope = "session" // in one conversation
	Always  Scope = "always"
)

// Kind says what a [Constraint] is about.
type Kind string

// The kinds of constraint.
const (
	Notebook Kind = "notebook" // everything in one notebook
	Subtree  Kind = "subtree"  // one document with all below it
	Path     Kind = "path"     // a folder of this machine with all below it
	Host     Kind = "host"     // a scheme and a host
	Command  Kind = "command"  // a program with its subcommand, or a whole command line
	Any      Kind = "any"      // every call of the action; never above medium risk, and not for good
)

// Constraint is where a grant holds. Everything that a call touches lies within it.
type Constraint struct {
	Kind  Kind   `json:"kind"`
	Value string `json:"value,omitempty"` // in the form of [tool.Touch]
	Name  string `json:"name,omitempty"`  // for people
}

// Grant is what a person has allowed.
type Grant struct {
	ID         string      `json:"id"`
	Scope      Scope       `json:"scope"`
	Session    string      `json:"session,omitempty"` // of the conversation; empty for always
	Turn       string      `json:"turn,omitempty"`    // for one turn alone
	Principal  string      `json:"principal"`         // whose calls
	Origin     tool.Origin `json:"origin"`
	Source     string      `json:"source"`
	Tool       string      `json:"tool"`
	Action     string      `json:"action"`
	Definition string      `json:"definition"`     // digest of the action's definition; another one is not covered
	Rule       string      `json:"rule,omitempty"` // the rule that had the person asked; findings of other rules are not covered
	Risk       tool.Risk   `json:"risk"`           // calls of more risk are not covered
	Constraint Constraint  `json:"constraint"`
	Created    time.Time   `json:"created"`
	Expires    time.Time   `json:"expires,omitzero"` // zero for one that holds until it is taken back
	Used       time.Time   `json:"used,omitzero"`    // the last time
	Uses       int         `json:"uses"`
}

// Store keeps grants. Implementations pass the suite in package granttest and are safe for concurrent use, by several
// processes too if they keep grants on disk.
type Store interface {
	// Add keeps a new grant.
	Add(ctx context.Context, g *Grant) error
	// Find returns the grants of one action that have not expired, oldest first.
	Find(ctx context.Context, source, toolName, action string) ([]Grant, error)
	// Use counts a use. It reports false if the grant was taken back or has expired.
	Use(ctx context.Context, id string) (bool, error)
	// List returns all grants that have not expired, oldest first.
	List(ctx context.Context) ([]Grant, error)
	// Revoke takes a grant back and returns what it was. Once it has returned, Use returns false. The error for an
	// unknown id is of kind NotFound.
	Revoke(ctx context.Context, id string) (Grant, error)
}

// NotFound is the error of [Store.Revoke].
func NotFound(id string) error {
	return &tool.Error{
		Op: "revoke", Kind: tool.NotFound, Subject: id, Message: "there is no such grant, or it has expired",
		Hint: "collie grants list shows those there are",
	}
}

// Asked is a call about which a person would be asked.
type Asked struct {
	Call    *tool.Call
	Risk    tool.Risk    // the effective one
	Touches []tool.Touch // everything the call touches, nil if that is not known
}

// Grantable reports whether a grant could cover the call at all, so that it is worth to look for one.
func (a *Asked) Grantable() bool {
	c := a.Call
	return (c.Origin == tool.Chat || c.Origin == tool.CLIAgent) && c.Session != "" && c.Source != nil && c.Action != nil && !c.Action.Changed &&
		slices.Contains(risks, a.Risk)
}

// risks are those that a grant may cover, rising.
var risks = []tool.Risk{tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh}

// Covers reports whether g covers the call.
func (g *Grant) Covers(a *Asked) bool {
	c := a.Call
	if !a.Grantable() || g.Origin != c.Origin || g.Principal != c.Principal ||
		g.Source != c.Source.Name() || g.Tool != c.Tool || g.Action != c.Action.Name || g.Definition != definition(c.Action) {
		return false
	}
	switch g.Scope {
	case Turn:
		if g.Turn == "" || g.Turn != turnOf(c) || g.Session != c.Session {
			return false
		}
	case Session:
		if g.Session != c.Session {
			return false
		}
	case Always:
	default:
		return false
	}
	if slices.Index(risks, a.Risk) > slices.Index(risks, g.Risk) || c.Finding != nil && c.Finding.Ask && c.Finding.Rule != g.Rule {
		return false
	}
	return g.Constraint.holds(a)
}

// holds reports whether everything that the call touches lies within k.
func (k *Constraint) holds(a *Asked) bool {
	if k.Kind == Any {
		return slices.Index(risks, a.Risk) <= slices.Index(risks, tool.RiskMedium)
	}
	return k.Value != "" && len(a.Touches) > 0 && !slices.ContainsFunc(a.Touches, func(t tool.Touch) bool { return !k.contains(t) })
}

func (k *Constraint) contains(t tool.Touch) bool {
	switch k.Kind {
	case Notebook, Subtree:
		return t.Kind == tool.TouchNotes && below(t.Value, k.Value)
	case Path:
		return t.Kind == tool.TouchFile && below(t.Value, k.Value)
	case Host:
		return t.Kind == tool.TouchHost && t.Value == k.Value
	case Command:
		return t.Kind == tool.TouchCommand && (t.Value == k.Value || hasSubcommand(k.Value) && strings.HasPrefix(t.Value, k.Value+"\n"))
	case Any:
	}
	return false
}

func below(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// turnOf returns the id of the turn that c belongs to; empty if there is none.
func turnOf(c *tool.Call) string {
	turn, _, _ := strings.Cut(c.Parent, ":")
	return turn
}

// definition returns the digest of everything that says what an action is and does.
func definition(a *tool.Action) string {
	raw, err := json.Marshal([]any{
		a.Name, a.Definition, a.Title, a.Description, a.InputSchema, a.ReadOnly, a.Destructive, a.Dangerous, a.DangerousWith, a.Risk, a.Effects,
	})
	if err != nil { // a definition that is not JSON
		raw = slices.Concat([]byte(a.Name+"\x00"+a.Description+"\x00"), a.Definition, a.InputSchema)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
