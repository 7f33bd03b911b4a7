// Package grant represents what a person has allowed beyond one call: calls of one action, with one definition, that
// run without a question, for how long and on what. Before the gate asks a person it looks for a grant in a [Store],
// and it adds what the person grants. Only [Grant.Covers] decides what a grant covers. The grants that a person is
// offered ([Offers]) all cover the call in question.
//
// Grants are for calls by models in conversations. They never cover critical risk, and those for high risk expire.
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
	Any      Kind = "any"      // every call of the action; only up to medium risk, never with scope always
)

// Constraint limits what covered calls may touch: everything that they touch must be within it.
type Constraint struct {
	Kind  Kind   `json:"kind"`
	Value string `json:"value,omitempty"` // in the form of [tool.Touch]
	Name  string `json:"name,omitempty"`  // for people
}

// Grant is a permission that a person gave.
type Grant struct {
	ID         string      `json:"id"`
	Scope      Scope       `json:"scope"`
	Session    string      `json:"session,omitempty"` // id of the conversation; empty with scope always
	Turn       string      `json:"turn,omitempty"`    // id of the turn; only with scope turn
	Principal  string      `json:"principal"`         // who makes the calls
	Origin     tool.Origin `json:"origin"`
	Source     string      `json:"source"`
	Tool       string      `json:"tool"`
	Action     string      `json:"action"`
	Definition string      `json:"definition"`     // digest; if the definition changes, the grant covers nothing
	Rule       string      `json:"rule,omitempty"` // rule that required the question; findings of other rules are not covered
	Risk       tool.Risk   `json:"risk"`           // calls with a higher risk are not covered
	Constraint Constraint  `json:"constraint"`
	Created    time.Time   `json:"created"`
	Expires    time.Time   `json:"expires,omitzero"` // zero: until it is revoked
	Used       time.Time   `json:"used,omitzero"`    // last use
	Uses       int         `json:"uses"`
}

// Store stores grants. Implementations pass the suite in package granttest and are safe for concurrent use, by several
// processes if they store on disk.
type Store interface {
	// Add stores a new grant.
	Add(ctx context.Context, g *Grant) error
	// Find returns the grants of one action that have not expired, oldest first.
	Find(ctx context.Context, source, toolName, action string) ([]Grant, error)
	// Use counts a use. It returns false if the grant was revoked or has expired.
	Use(ctx context.Context, id string) (bool, error)
	// List returns all grants that have not expired, oldest first.
	List(ctx context.Context) ([]Grant, error)
	// Revoke deletes a grant and returns it. After that, Use returns false. If the id is unknown, the error is of kind
	// NotFound.
	Revoke(ctx context.Context, id string) (Grant, error)
}

// NotFound returns the error of [Store.Revoke] for an unknown id.
func NotFound(id string) error {
	return &tool.Error{
		Op: "revoke", Kind: tool.NotFound, Subject: id, Message: "there is no such grant, or it has expired",
		Hint: "collie grants list shows those there are",
	}
}

// Asked is a call that needs the agreement of a person.
type Asked struct {
	Call    *tool.Call
	Risk    tool.Risk    // the effective risk
	Touches []tool.Touch // everything the call touches, nil if unknown
}

// Grantable reports whether any grant could cover the call.
func (a *Asked) Grantable() bool {
	c := a.Call
	return (c.Origin == tool.Chat || c.Origin == tool.CLIAgent) && c.Session != "" && c.Source != nil && c.Action != nil && !c.Action.Changed &&
		slices.Contains(risks, a.Risk)
}

// risks are the risks that a grant may cover, rising.
var risks = []tool.Risk{tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh}

// Covers reports whether g covers the call.
func (g *Grant) Covers(a *Asked) bool {
	c := a.Call
	if !a.Grantable() || g.Origin != c.Origin || g.Principal != c.Principal ||
		g.Source != c.Source.Name() || g.Tool != c.Tool || g.Action != c.Action.Name || g.Definition != definitionDigest(c.Action) {
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
	return g.Constraint.isWithin(a)
}

// isWithin reports whether everything that the call touches is within k.
func (k *Constraint) isWithin(a *Asked) bool {
	if k.Kind == Any {
		return slices.Index(risks, a.Risk) <= slices.Index(risks, tool.RiskMedium)
	}
	return k.Value != "" && len(a.Touches) > 0 && !slices.ContainsFunc(a.Touches, func(t tool.Touch) bool { return !k.contains(t) })
}

// contains reports whether one touch is within k.
func (k *Constraint) contains(t tool.Touch) bool {
	switch k.Kind {
	case Notebook, Subtree:
		return t.Kind == tool.TouchNotes && isWithinFolder(t.Value, k.Value)
	case Path:
		return t.Kind == tool.TouchFile && isWithinFolder(t.Value, k.Value)
	case Host:
		return t.Kind == tool.TouchHost && t.Value == k.Value
	case Command:
		return t.Kind == tool.TouchCommand && (t.Value == k.Value || hasSubcommand(k.Value) && strings.HasPrefix(t.Value, k.Value+"\n"))
	case Any:
	}
	return false
}

// isWithinFolder reports whether path is folder or lies in it.
func isWithinFolder(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// turnOf returns the id of the turn that c belongs to; empty if there is none.
func turnOf(c *tool.Call) string {
	turn, _, _ := strings.Cut(c.Parent, ":")
	return turn
}

// definitionDigest returns a digest of the whole definition of an action.
func definitionDigest(a *tool.Action) string {
	raw, err := json.Marshal([]any{
		a.Name, a.Definition, a.Title, a.Description, a.InputSchema, a.ReadOnly, a.Destructive, a.Dangerous, a.DangerousWith, a.Risk, a.Effects,
	})
	if err != nil { // a definition that is not JSON
		raw = slices.Concat([]byte(a.Name+"\x00"+a.Description+"\x00"), a.Definition, a.InputSchema)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
