package entry

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// This file describes an entry without secrets, to be stored in the cache.

// Snapshot returns a description of the entry that may be stored beside its tool list: a JSON object with the kind of
// server, the command and its arguments, the names of variables and headers, and the URL. The user's folder home
// reads "~". Everything that is not known to be harmless reads "***": credentials, values of variables, and text that
// looks like a token.
func (e Entry) Snapshot(home string) json.RawMessage {
	s := snapshot{entry: &e, home: home}
	out := setFields{}
	out.putIfSet("type", e.Transport)
	if e.Protocol != "auto" {
		out.putIfSet("protocol", e.Protocol)
	}
	out.putIfSet("disabled", e.Disabled)
	if e.Transport == Stdio {
		out.putIfSet("command", s.maskWord(e.Command.shown))
		out.putIfSet("args", s.maskArgs(e.Args))
		env := map[string]string{}
		for name := range e.Env {
			env[name] = mask
		}
		out.putIfSet("env", env)
		out.putIfSet("unset", e.Unset)
		out.putIfSet("envFile", s.maskText(e.EnvFile))
		if e.InheritEnv.Mode != "minimal" {
			out.putIfSet("inheritEnv", e.InheritEnv.Mode)
		}
		out.putIfSet("inheritNames", e.InheritEnv.Names)
		out.putIfSet("cwd", s.maskFolder(e.Dir))
		return encode(out)
	}
	out.putIfSet("url", s.maskURL(e.URL.shown))
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = mask
	}
	out.putIfSet("headers", headers)
	out.putIfSet("headersCommand", s.maskText(e.commandOfHeaders()))
	out.putIfSet("auth", s.maskAuth(e.Auth))
	out.putIfSet("tls", e.TLS.snapshot())
	return encode(out)
}

func (e *Entry) commandOfHeaders() string {
	if e.HeadersCommand == nil {
		return ""
	}
	return e.HeadersCommand.Command.text
}

// snapshot masks the parts of one entry.
type snapshot struct {
	entry *Entry
	home  string
}

// maskText masks a text that is not empty.
func (snapshot) maskText(text string) string {
	if text == "" {
		return ""
	}
	return mask
}

// maskAuth returns only the kind of authentication.
func (s snapshot) maskAuth(a auth) setFields {
	out := setFields{}
	out.putIfSet("type", a.Type)
	out.putIfSet("grantType", a.GrantType)
	for name, v := range map[string]Value{
		"token": a.Token, "username": a.Username, "password": a.Password,
		"clientId": a.ClientID, "clientSecret": a.ClientSecret, "clientMetadataUrl": a.ClientMetadataURL,
	} {
		out.putIfSet(name, s.maskText(v.text))
	}
	out.putIfSet("scopes", s.maskText(strings.Join(a.Scopes, " ")))
	return out
}

func (t TLS) snapshot() setFields {
	out := setFields{}
	for name, v := range map[string]string{
		"caFile": t.CAFile, "certFile": t.CertFile, "keyFile": t.KeyFile, "serverName": t.ServerName,
	} {
		out.putIfSet(name, snapshot{}.maskText(v))
	}
	out.putIfSet("insecure", t.Insecure)
	return out
}

// maskFolder masks every known secret in a path, and shortens the user's own folder to "~", since it contains the
// user's name.
func (s snapshot) maskFolder(path string) string {
	path = s.maskKnown(path)
	rest, ok := strings.CutPrefix(path, filepath.Clean(s.home))
	if s.home == "" || !ok || rest != "" && !strings.HasPrefix(rest, string(filepath.Separator)) {
		return path
	}
	return "~" + filepath.ToSlash(rest)
}

// placeholder matches a variable in a text as written.
var placeholder = lazyregexp.New(`\$\{[^}]*\}?`)

// maskKnown masks every known secret in text.
func (s snapshot) maskKnown(text string) string {
	for _, secret := range s.entry.Secrets {
		if secret != "" && secret != s.home {
			text = strings.ReplaceAll(text, secret, mask)
		}
	}
	return text
}

// maskWord returns one word of a command line as written, masked.
func (s snapshot) maskWord(shown string) string {
	text := s.maskKnown(placeholder.ReplaceAllString(shown, mask))
	switch {
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return mask // JSON settings: any value may be a secret
	case strings.Contains(text, "://"):
		return s.maskURL(text)
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" =,;:&?", r) })
	if slices.ContainsFunc(parts, LooksSecret) {
		return mask
	}
	return s.maskFolder(text)
}

// Flags whose value is masked: credentials, and headers and variables that the program passes on.
var (
	hiddenFlag = lazyregexp.New(`(?i)^(-p|-H|-e|-u|--?([a-z0-9-]*[-_])?(headers?|env|user|username|credentials?|connection-string|dsn|config|bearer|cookie))$`)
	assignment = lazyregexp.New(`^(--?)?[A-Za-z_][A-Za-z0-9_.-]*=`)
	secretName = lazyregexp.New(`(?i)(key|token|secret|passw|pass$|pwd|auth|credential|cookie|bearer|session)`)
)

// maskArgs returns arguments as written, each masked by itself or because of the flag before it.
func (s snapshot) maskArgs(values []Value) []string {
	list := make([]string, len(values))
	hideNext := false
	for i, v := range values {
		shown := v.shown
		name := assignment.FindString(shown)
		switch {
		case hideNext:
			list[i] = name + mask
			if secretName.MatchString(name) || !isVariable(strings.TrimSuffix(name, "=")) {
				list[i] = mask
			}
		case name != "" && (secretName.MatchString(name) || isHiddenFlag(strings.TrimSuffix(name, "="))):
			list[i] = name + mask
		default:
			list[i] = s.maskWord(shown)
		}
		hideNext = isHiddenFlag(shown)
	}
	return list
}

func isHiddenFlag(flag string) bool {
	return isSecretFlag(flag) || hiddenFlag.MatchString(flag)
}

// maskURL returns an address without credentials: userinfo, query values, the fragment, and parts of the
// path that look like tokens are masked.
func (s snapshot) maskURL(shown string) string {
	text := s.maskKnown(placeholder.ReplaceAllString(shown, mask))
	text = shownURL(text)
	u, err := url.Parse(text)
	if err != nil {
		return mask
	}
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if LooksSecret(part) || len(part) >= 24 && !isUUID(part) && strings.ContainsAny(part, "0123456789") {
			parts[i] = mask
		}
	}
	base, query, asked := strings.Cut(text, "?")
	base, _, _ = strings.Cut(base, "#")
	if i := strings.Index(base, "://"); i >= 0 {
		if j := strings.IndexByte(base[i+3:], '/'); j >= 0 {
			base = base[:i+3+j] + strings.Join(parts, "/")
		}
	}
	if !asked {
		return base
	}
	query, _, _ = strings.Cut(query, "#")
	names := strings.Split(query, "&")
	for i, n := range names {
		key, _, assigned := strings.Cut(n, "=")
		if names[i] = key + "=" + mask; !assigned || LooksSecret(key) {
			names[i] = mask
		}
	}
	return base + "?" + strings.Join(names, "&")
}
