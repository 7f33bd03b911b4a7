package connection

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"collie/internal/tool"
)

// This file chooses the kernel to use from flags, environment, settings and other programs.

// From says where a [Choice] comes from.
type From string

// The origins, in order of precedence.
const (
	FromFlags      From = "command line" // --url, --token
	FromEnv        From = "environment"  // SIYUAN_API_URL, SIYUAN_TOKEN
	FromConnection From = "connection"   // --connection, or the current connection
)

// Inputs are what [Resolve] chooses from. An empty text was not given.
type Inputs struct {
	URL, Token string // --url and --token
	Connection string // --connection
	// EnvURL and EnvToken are SIYUAN_API_URL and SIYUAN_TOKEN.
	EnvURL, EnvToken string
	Saved            Settings

	// Env looks up a variable for a token env:NAME; nil means an empty environment.
	Env func(name string) (string, bool)
	// Command runs the line of a token cmd:LINE and returns its output; nil refuses such tokens.
	Command func(ctx context.Context, line string) (string, error)
	// Expand replaces ${…} in a token or URL of collie.json; nil refuses such texts.
	Expand func(text string) (string, error)
}

// Choice is the chosen kernel.
type Choice struct {
	// Configured is false if nobody has configured a kernel; the other fields are then empty.
	Configured bool
	From       From
	Name       string // of the connection; empty unless From is FromConnection
	URL        string // without a trailing slash
	Token      Token
	Workspace  string // see [Choice.Verify]
}

// Resolve chooses the kernel. The command line takes precedence over the environment, and that over the saved
// connection: the one named by --connection, else the current one, else the only one. Only the chosen kernel's token
// is looked up.
//
// A URL of one origin is never combined with a token of another. So --url alone means no token, unless it is the
// address of the connection that would be used without it, and --token requires --url. warnings are sentences for
// people. Errors are [*tool.Error] of kind Invalid, or NotFound for an unknown name.
func Resolve(ctx context.Context, in Inputs) (c Choice, warnings []string, err error) {
	saved, err := in.savedConnection()
	if err != nil {
		return Choice{}, nil, err
	}
	switch {
	case in.URL != "":
		return in.fromFlags(ctx, saved)
	case in.Token != "":
		return Choice{}, nil, invalidError("--token", "a token is only sent to the address that it is given with",
			"give --url too, or save both: collie siyuan connection set NAME --url URL --token TOKEN")
	case in.EnvURL != "":
		return in.fromEnv(saved)
	}
	if in.EnvToken != "" {
		warnings = append(warnings, "SIYUAN_TOKEN is set without SIYUAN_API_URL and not used: a token is only sent to the address that it is given with")
	}
	if saved == nil {
		if n := len(in.Saved.Connections) + len(in.Saved.broken); n > 0 && !in.Saved.UsesVault() {
			return Choice{}, warnings, invalidError("siyuan.current", fmt.Sprintf("there are %d connections, and none is the current one", n),
				"choose one: collie siyuan connection use NAME; there are "+strings.Join(in.Saved.Names(), ", "))
		}
		return Choice{}, warnings, nil
	}
	c, err = in.fromSaved(ctx, *saved)
	return c, warnings, err
}

// savedConnection returns the connection that is used if nothing takes precedence; nil if there is none.
func (in *Inputs) savedConnection() (*Connection, error) {
	if in.Connection == "" && in.Saved.UsesVault() {
		return nil, nil
	}
	name, field := in.Connection, "--connection"
	if name == "" {
		name, field = in.Saved.currentOrOnly(), "siyuan.current"
	}
	if name == "" {
		return nil, nil
	}
	if c, ok := in.Saved.Get(name); ok {
		return &c, nil
	}
	if in.Connection == "" && (in.URL != "" || in.EnvURL != "") {
		return nil, nil // nobody named one
	}
	if p, broken := in.Saved.broken[name]; broken {
		return nil, invalidError(field, fmt.Sprintf("connection %q cannot be used: %s", name, p), "")
	}
	return nil, &tool.Error{
		Op: "choose connection", Kind: tool.NotFound, Subject: field, Message: unknownConnectionMessage(name, in.Saved.Names()),
		Hint: "collie siyuan connection list shows what there is, connection set makes one",
	}
}

func (in *Inputs) fromFlags(ctx context.Context, saved *Connection) (Choice, []string, error) {
	var warnings []string
	address, err := Address(in.URL)
	if err != nil {
		return Choice{}, nil, invalidError("--url", err.Error(), "")
	}
	c := Choice{Configured: true, From: FromFlags, URL: address}
	choice, sameKernel := Choice{}, false
	if saved != nil && in.Token == "" {
		// An address that cannot be expanded is a different one; its error does not matter here.
		if url, err := in.expandAddress(*saved); err == nil && sameAddress(url, address) {
			if choice, err = in.fromSaved(ctx, *saved); err != nil {
				return Choice{}, nil, err
			}
			sameKernel = true
		}
	}
	switch {
	case in.Token != "":
		if c.Token, err = usableToken(in.Token); err != nil {
			return Choice{}, nil, invalidError("--token", err.Error(), "")
		}
		warnings = append(warnings, "other programs on this machine can read a token on the command line; "+
			"collie siyuan connection set keeps it, and SIYUAN_TOKEN hides it")
	case sameKernel:
		c.Token, c.Workspace = choice.Token, choice.Workspace
	}
	if in.Connection != "" && !sameKernel {
		warnings = append(warnings, fmt.Sprintf("--url wins over --connection %s: using %s, without anything of that connection", in.Connection, address))
	}
	return c, warnings, nil
}

func (in *Inputs) fromEnv(saved *Connection) (Choice, []string, error) {
	var warnings []string
	address, err := Address(in.EnvURL)
	if err != nil {
		return Choice{}, nil, invalidError("SIYUAN_API_URL", err.Error(), "")
	}
	token, err := usableToken(in.EnvToken)
	if err != nil {
		return Choice{}, nil, invalidError("SIYUAN_TOKEN", err.Error(), "")
	}
	switch {
	case in.Connection != "":
		warnings = append(warnings, fmt.Sprintf("SIYUAN_API_URL wins over --connection %s: using %s, with the token of SIYUAN_TOKEN (%s); unset SIYUAN_API_URL to use the connection",
			in.Connection, address, token))
	case token.IsZero() && saved != nil && !saved.Written.IsZero() && sameAddress(saved.URL, address):
		warnings = append(warnings, fmt.Sprintf("SIYUAN_API_URL is set without SIYUAN_TOKEN, so no token is sent; unset it to use connection %q, which has the same address", saved.Name))
	}
	return Choice{Configured: true, From: FromEnv, URL: address, Token: token}, warnings, nil
}

func (in *Inputs) fromSaved(ctx context.Context, saved Connection) (Choice, error) {
	address, err := in.expandAddress(saved)
	if err != nil {
		return Choice{}, invalidError(in.fieldName(saved, "url"), err.Error(), "")
	}
	token, err := in.resolveToken(ctx, saved)
	if err != nil {
		return Choice{}, invalidError(in.fieldName(saved, "token"), err.Error(), "")
	}
	return Choice{
		Configured: true, From: FromConnection, Name: saved.Name,
		URL: address, Token: token, Workspace: saved.Workspace,
	}, nil
}

// expandAddress returns the URL of a connection, expanded and checked.
func (in *Inputs) expandAddress(saved Connection) (string, error) {
	if saved.literal || !strings.Contains(saved.URL, readVariable) {
		return saved.URL, nil // checked by the parser
	}
	s, err := in.expandSecrets(saved.URL)
	if err != nil {
		return "", err
	}
	return Address(s)
}

// fieldName returns the name of a connection's field for an error.
func (in *Inputs) fieldName(c Connection, name string) string {
	if in.Saved.File != "" {
		return fmt.Sprintf("%s: profiles.%s.%s", in.Saved.File, c.Name, name)
	}
	return "siyuan.connections." + c.Name + "." + name
}

func invalidError(field, message, hint string) *tool.Error {
	return &tool.Error{Op: "choose connection", Kind: tool.Invalid, Subject: field, Message: message, Hint: hint}
}

// unknownConnectionMessage returns the message for an unknown connection, with the known names and the nearest one.
func unknownConnectionMessage(name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("there is no connection %q, and no other either", name)
	}
	meant := ""
	if near, ok := tool.Nearest(name, names); ok {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("there is no connection %q among %s%s", name, strings.Join(slices.Sorted(slices.Values(names)), ", "), meant)
}

// codeOtherWorkspace is the code of the error of [Choice.Verify].
const codeOtherWorkspace = "other_workspace"

// Verify returns an error if the kernel does not have the workspace recorded with the connection: a different kernel
// may have got that port, and must get no notes. seen is what the kernel says, such as workspaceDir of
// system/getWorkspaceInfo, which needs no token on this machine; one match suffices. Without a recorded workspace any
// is accepted.
func (c Choice) Verify(seen ...string) error {
	if c.Workspace == "" || slices.ContainsFunc(seen, func(s string) bool { return plainWorkspace(s) == plainWorkspace(c.Workspace) }) {
		return nil
	}
	seen = slices.DeleteFunc(slices.Clone(seen), func(s string) bool { return s == "" })
	got := "does not say which workspace it has"
	if len(seen) > 0 {
		got = "has the workspace " + strings.Join(seen, ", ")
	}
	return &tool.Error{
		Op: "check connection", Kind: tool.Unavailable, Code: codeOtherWorkspace, Subject: c.Name,
		Message: fmt.Sprintf("the kernel at %s %s, expected %s", c.URL, got, c.Workspace),
		Hint:    fmt.Sprintf("another kernel has that port: correct siyuan.connections.%s.url, or its workspace if that has moved", c.Name),
	}
}

// plainWorkspace returns a folder in a form in which equal folders are equal texts.
func plainWorkspace(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), `\`, "/")
	if s == "" {
		return ""
	}
	if len(s) > 1 && s[1] == ':' { // a Windows drive, where case does not matter
		s = strings.ToLower(s)
	}
	return path.Clean(s)
}
