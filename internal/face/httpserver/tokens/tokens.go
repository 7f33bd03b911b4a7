// Package tokens keeps the named tokens of a home: who may come in over HTTP, besides the holder of the main
// token, what they see, and what they may do. The tokens are in <state>/tokens.json, which holds a digest of
// each secret and never the secret itself.
//
// Commands change the file with [Add], [Revoke] and [Rotate]; a gateway follows it with [Watch]. If the file
// cannot be read completely, all of them return an error, and no named token is accepted until it is
// repaired.
package tokens

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// Scope is what a token gives access to.
type Scope string

// The scopes.
const (
	Tools   Scope = "tools"   // MCP, and the API of tools and calls
	Chat    Scope = "chat"    // chats with agents
	Approve Scope = "approve" // answering the gate's questions, except about calls of the token itself
)

// allScopes returns all scopes.
func allScopes() []Scope { return []Scope{Tools, Chat, Approve} }

// Token is one named token, without its secret.
type Token struct {
	Name string `json:"name"`
	// SHA256 is the digest of the secret in hex.
	SHA256 string `json:"sha256"`
	// Profile is the only profile that the token may use; empty allows any.
	Profile string  `json:"profile,omitempty"`
	Scopes  []Scope `json:"scopes"`
	// ElicitationConfirms overrides http.elicitationConfirms for this token; nil means as in the settings.
	ElicitationConfirms *bool `json:"elicitationConfirms,omitempty"`
	// Client and File name the client for which connect has made the token and the file it wrote; empty for
	// other tokens.
	Client string `json:"client,omitempty"`
	File   string `json:"file,omitempty"`
	// Made is when the present secret was made.
	Made time.Time `json:"made"`
}

// May reports whether the token has a scope.
func (t *Token) May(s Scope) bool { return slices.Contains(t.Scopes, s) }

// Digest returns SHA256 as bytes. t must come from [Read], which has checked it.
func (t *Token) Digest() (sum [sha256.Size]byte) {
	_, _ = hex.Decode(sum[:], []byte(t.SHA256)) // cannot fail: it was checked when the file was read
	return sum
}

// file is the content of the file.
type file struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const (
	version = 1
	// maxTokens is the maximum number of tokens in a home: each request is compared with all of them.
	maxTokens = 256
	maxFile   = 1 << 20 // bytes
)

// Path returns the path of the file, dir being the state folder.
func Path(dir string) string { return filepath.Join(dir, "tokens.json") }

// Read returns the tokens in the file at path, sorted by name; none if there is no file. The error is a
// [*tool.Error]: Denied if others can read or write the file, Invalid if its content is not valid.
func Read(path string) ([]Token, error) {
	raw, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(path, raw)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // opening a pipe would block
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, invalidToken(path, "this is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, fileError(path, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, &tool.Error{
			Op: op, Kind: tool.Denied, Subject: path,
			Message: fmt.Sprintf("others may read or write the file (mode %04o), so that no named token counts", info.Mode().Perm()),
			Hint:    "look with collie token list whether all are yours, after chmod 600 " + path,
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	return raw, nil
}

const op = "read tokens"

func invalidToken(path, format string, args ...any) error {
	return &tool.Error{
		Op: op, Kind: tool.Invalid, Subject: path, Message: fmt.Sprintf(format, args...),
		Hint: "no named token counts until it is mended; move the file away to begin anew",
	}
}

func fileError(path string, err error) error {
	kind := tool.Internal
	if errors.Is(err, fs.ErrPermission) {
		kind = tool.Denied
	}
	return &tool.Error{Op: op, Kind: kind, Subject: path, Err: err}
}

func parse(path string, raw []byte) ([]Token, error) {
	if len(raw) > maxFile {
		return nil, invalidToken(path, "the file has more than %d bytes", maxFile)
	}
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, invalidToken(path, "the file is not JSON as this program writes it: %v", err)
	}
	if head.Version == nil || *head.Version != version {
		return nil, invalidToken(path, "the file is not of version %d; another version of Collie wrote it", version)
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, invalidToken(path, "the file is not as this version writes it: %v", err)
	}
	if len(f.Tokens) > maxTokens {
		return nil, invalidToken(path, "the file has %d tokens, at most %d are allowed", len(f.Tokens), maxTokens)
	}
	names, digests := map[string]bool{}, map[string]bool{}
	for i := range f.Tokens {
		t := &f.Tokens[i]
		if why := t.invalidReason(); why != "" {
			return nil, invalidToken(path, "tokens[%d] (%q): %s", i, t.Name, why)
		}
		if names[t.Name] || digests[t.SHA256] {
			return nil, invalidToken(path, "tokens[%d] (%q) is there twice, by its name or its digest", i, t.Name)
		}
		names[t.Name], digests[t.SHA256] = true, true
	}
	slices.SortFunc(f.Tokens, func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
	return f.Tokens, nil
}

var (
	nameForm   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	digestForm = lazyregexp.New(`^[0-9a-f]{64}$`)
)

// invalidReason returns what is wrong with a token in the file; empty if nothing is.
func (t *Token) invalidReason() string {
	switch {
	case !nameForm.MatchString(t.Name):
		return "name: expected 1 to 64 letters, digits, dots, dashes and underlines, a letter or digit first"
	case !digestForm.MatchString(t.SHA256):
		return "sha256: expected 64 hex digits in lower case"
	case len(t.Scopes) == 0:
		return "scopes: expected at least one of tools, chat, approve"
	}
	for i, s := range t.Scopes {
		if !slices.Contains(allScopes(), s) || slices.Contains(t.Scopes[:i], s) {
			return fmt.Sprintf("scopes: %q is not known, or there twice; known are tools, chat, approve", s)
		}
	}
	return ""
}

// Add stores a token with a new secret and returns the secret, which is stored nowhere. SHA256 and Made are
// filled in. The error is of kind Exists if the name is taken, and Invalid if the token is not valid.
func Add(ctx context.Context, path string, t Token) (secret string, err error) {
	secret, t.SHA256 = newSecret()
	t.Made = time.Now().UTC().Truncate(time.Second)
	if why := t.invalidReason(); why != "" {
		return "", &tool.Error{Op: "token add", Kind: tool.Invalid, Subject: t.Name, Message: why}
	}
	err = update(ctx, path, func(list []Token) ([]Token, error) {
		switch {
		case slices.ContainsFunc(list, hasName(t.Name)):
			return nil, &tool.Error{
				Op: "token add", Kind: tool.Exists, Subject: t.Name, Message: "there is a token of that name",
				Hint: "choose another name, or collie token rotate " + t.Name + " for a new secret",
			}
		case len(list) >= maxTokens:
			return nil, &tool.Error{
				Op: "token add", Kind: tool.TooLarge, Subject: t.Name, Message: fmt.Sprintf("there are %d tokens, and no more are allowed", len(list)),
				Hint: "collie token revoke NAME ends one that nobody needs",
			}
		}
		return append(list, t), nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Rotate gives a token a new secret and returns it. The old secret is no longer accepted.
func Rotate(ctx context.Context, path, name string) (secret string, err error) {
	err = change(ctx, path, "token rotate", name, func(list []Token, i int) []Token {
		secret, list[i].SHA256 = newSecret()
		list[i].Made = time.Now().UTC().Truncate(time.Second)
		return list
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// SetProfile sets the profile whose tools a token opens. Its secret stays.
func SetProfile(ctx context.Context, path, name, profile string) error {
	return change(ctx, path, "connect", name, func(list []Token, i int) []Token {
		list[i].Profile = profile
		return list
	})
}

// Revoke removes a token.
func Revoke(ctx context.Context, path, name string) error {
	return change(ctx, path, "token revoke", name, func(list []Token, i int) []Token { return slices.Delete(list, i, i+1) })
}

// change applies edit to the token with this name.
func change(ctx context.Context, path, op, name string, edit func(list []Token, i int) []Token) error {
	return update(ctx, path, func(list []Token) ([]Token, error) {
		if i := slices.IndexFunc(list, hasName(name)); i >= 0 {
			return edit(list, i), nil
		}
		e := &tool.Error{
			Op: op, Kind: tool.NotFound, Subject: name,
			Message: "no token of that name", Hint: "collie token list shows them",
		}
		var names []string
		for _, t := range list {
			names = append(names, t.Name)
		}
		if near, ok := tool.Nearest(name, names); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return nil, e
	})
}

func hasName(name string) func(Token) bool { return func(t Token) bool { return t.Name == name } }

// update changes the file while holding its lock. A damaged file is not changed.
func update(ctx context.Context, path string, edit func([]Token) ([]Token, error)) error {
	if _, err := readFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.File{Path: path}.Update(ctx, func(old []byte) ([]byte, error) {
		var list []Token
		if old != nil {
			var err error
			if list, err = parse(path, old); err != nil {
				return nil, err
			}
		}
		list, err := edit(list)
		if err != nil {
			return nil, err
		}
		raw, err := json.MarshalIndent(file{version, append([]Token{}, list...)}, "", "  ")
		return append(raw, '\n'), err
	})
}

// secretBytes is the number of random bytes in a secret.
const secretBytes = 32

// newSecret returns a secret and its digest. A secret starts with a fixed word, so that people and secret
// scanners recognize it, and never with a dash.
func newSecret() (secret, digest string) {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails
	secret = "collie_" + base64.RawURLEncoding.EncodeToString(raw)
	sum := sha256.Sum256([]byte(secret))
	return secret, hex.EncodeToString(sum[:])
}

// ScopeList returns the scopes of a token as text for people.
func (t *Token) ScopeList() string {
	words := make([]string, len(t.Scopes))
	for i, s := range t.Scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
