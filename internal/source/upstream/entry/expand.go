package entry

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// This file replaces variables such as ${NAME} and ${secret:NAME} in texts of entries.

// unsetError is the error for a variable that is not set and has no default.
type unsetError struct {
	name string // as the user would set it
	hint string
}

func (e *unsetError) Error() string { return e.name + " is not set; " + e.hint }

// piece is a part of an expanded text and where it came from.
type piece struct {
	text   string
	origin origin
}

type origin int

const (
	literal  origin = iota // as written
	place                  // a folder or separator, which is not secret
	variable               // from the environment
	secret                 // from the secret store, or the answer to an input
)

// expand replaces all forms of ${…} in one pass: the value of a variable is not expanded again.
func expand(s string, resolve func(ref string) (piece, error)) ([]piece, error) {
	var out []piece
	add := func(p piece) {
		if p.text != "" {
			out = append(out, p)
		}
	}
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			add(piece{text: s})
			return out, nil
		}
		if i > 0 && s[i-1] == '$' { // $${ stands for a literal ${
			add(piece{text: s[:i-1] + "${"})
			s = s[i+2:]
			continue
		}
		add(piece{text: s[:i]})
		ref, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return nil, errors.New("a ${ is not closed; write $${ for the characters themselves")
		}
		if strings.Contains(ref, "${") {
			return nil, fmt.Errorf("${%s}: a variable inside a variable is not possible", ref)
		}
		p, err := resolve(ref)
		if err != nil {
			return nil, err
		}
		add(p)
		s = rest
	}
}

// joinPieces returns the text of all pieces.
func joinPieces(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text)
	}
	return b.String()
}

// resolve returns the value of ${ref}.
func (o *Options) resolve(ref string) (piece, error) {
	switch ref {
	case "workspaceFolder":
		if o.Workspace != "" {
			return piece{o.Workspace, place}, nil
		}
		return piece{o.Dir, place}, nil
	case "configDir":
		return piece{o.Dir, place}, nil
	case "userHome":
		home := o.home()
		if home == "" {
			return piece{}, &unsetError{"HOME", "${userHome} needs it"}
		}
		return piece{home, place}, nil
	case "pathSeparator", "/":
		return piece{string(filepath.Separator), place}, nil
	}
	if name, ok := strings.CutPrefix(ref, "secret:"); ok {
		return o.resolveSecret(name)
	}
	if id, ok := strings.CutPrefix(ref, "input:"); ok {
		return o.resolveInput(id)
	}
	name, fallback, defaulted := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	if !isVariable(name) {
		return piece{}, fmt.Errorf("${%s} is not a form of variable; write ${NAME}, ${NAME:-text}, ${secret:NAME} or ${input:id}", ref)
	}
	if v, ok := o.env(name); ok && (v != "" || !defaulted) {
		return piece{v, variable}, nil
	}
	if !defaulted {
		return piece{}, &unsetError{name, "set it, or write ${" + name + ":-text} for a default"}
	}
	return piece{fallback, literal}, nil
}

// resolveSecret returns a value from the secret store.
func (o *Options) resolveSecret(name string) (piece, error) {
	if o.Secret == nil {
		return piece{}, &unsetError{"secret " + name, "this version has no secret store yet; use ${" + envName(name) + "} from the environment"}
	}
	v, ok := o.Secret(name)
	if !ok {
		return piece{}, &unsetError{"secret " + name, "collie secret set " + name + " keeps one"}
	}
	return piece{v, secret}, nil
}

// resolveInput returns the answer for an input of VS Code: from the secret store, else from COLLIE_INPUT_<ID>, else from
// Options.Input.
func (o *Options) resolveInput(id string) (piece, error) {
	if o.Secret != nil {
		if v, ok := o.Secret("input:" + id); ok {
			return piece{v, secret}, nil
		}
	}
	name := "COLLIE_INPUT_" + envName(id)
	if v, ok := o.env(name); ok {
		return piece{v, secret}, nil
	}
	if o.Input != nil {
		if v, ok := o.Input(id); ok {
			return piece{v, secret}, nil
		}
	}
	return piece{}, &unsetError{name, "it stands for ${input:" + id + "}"}
}

func (o *Options) env(name string) (string, bool) {
	if o.Env == nil {
		return "", false
	}
	return o.Env(name)
}

func (o *Options) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if v, ok := o.env(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// isVariable reports whether name may be the name of a variable, such as ProgramFiles(x86).
func isVariable(name string) bool {
	for i, r := range name {
		switch {
		case r == '_', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		case i > 0 && ('0' <= r && r <= '9' || r == '(' || r == ')'):
		default:
			return false
		}
	}
	return name != ""
}

// envName turns an id into a name for an environment variable: api-key becomes API_KEY.
func envName(id string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
}

// Expand replaces all forms of ${…} in a text from another section of the settings.
func Expand(s string, o Options) (string, error) {
	ps, err := expand(s, o.resolve)
	return joinPieces(ps), err
}
