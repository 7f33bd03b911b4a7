package entry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// This file hashes what makes a server the one it is, so that a cached list is not used for another server.

// ConfigHash identifies what the server is: the lower-case hexadecimal SHA-256 of the canonical JSON (RFC 8785) of
// its identifying fields, after aliases and variables are resolved. Values of variables and headers, tokens, passwords
// and client secrets enter as HMAC-SHA-256 under key, so that the hash does not help to guess them. Entries with the same
// meaning have the same hash, however their servers are treated.
func (e Entry) ConfigHash(key []byte) string { return e.hashFields(e.identity(digester(key))) }

// PortableHash returns a ConfigHash that machines with different folders share: it omits the working folder, and it
// reduces absolute paths in the command and the arguments to their last element.
func (e Entry) PortableHash(key []byte) string {
	e.Dir = ""
	e.Command = newValue(lastElement(e.Command.text), "")
	args := make([]Value, len(e.Args))
	for i, a := range e.Args {
		args[i] = newValue(lastElement(a.text), "")
	}
	e.Args = args
	return e.hashFields(e.identity(digester(key)))
}

// lastElement reduces an absolute path to its last element. Other texts stay.
func lastElement(s string) string {
	if filepath.IsAbs(s) {
		return filepath.Base(s)
	}
	return s
}

// hashFields returns the hash of identifying fields.
func (e Entry) hashFields(id setFields) string {
	value := jsontext.Value(encode(id))
	if err := value.Canonicalize(); err != nil {
		panic(fmt.Sprintf("entry: identity of %s is not JSON: %v", e.Name, err))
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// identity returns the identifying fields that are set.
func (e Entry) identity(digest func(Value) string) setFields {
	id := setFields{}
	id.putIfSet("type", e.Transport)
	if e.Protocol != "auto" {
		id.putIfSet("protocol", e.Protocol)
	}
	if e.Transport == Stdio {
		id.putIfSet("command", e.Command.text)
		id.putIfSet("args", texts(e.Args))
		env := map[string]string{}
		for name, v := range e.Env {
			env[name] = digest(v)
		}
		id.putIfSet("env", env)
		id.putIfSet("unset", e.Unset)
		if e.InheritEnv.Mode != "minimal" {
			id.putIfSet("inheritEnv", e.InheritEnv.Mode)
		}
		id.putIfSet("inheritNames", slices.Sorted(slices.Values(e.InheritEnv.Names))) // their order means nothing
		id.putIfSet("cwd", e.Dir)
		return id
	}
	id.putIfSet("url", e.URL.text)
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = digest(h.Value)
	}
	id.putIfSet("headers", headers)
	if c := e.HeadersCommand; c != nil {
		id.putIfSet("headersCommand", append([]string{c.Command.text}, texts(c.Args)...))
	}
	id.putIfSet("auth", e.Auth.identity(digest))
	id.putIfSet("tls", e.TLS.identity())
	return id
}

func (a auth) identity(digest func(Value) string) setFields {
	id := setFields{}
	id.putIfSet("type", a.Type)
	id.putIfSet("token", digest(a.Token))
	id.putIfSet("username", a.Username.text)
	id.putIfSet("password", digest(a.Password))
	id.putIfSet("clientId", a.ClientID.text)
	id.putIfSet("clientSecret", digest(a.ClientSecret))
	id.putIfSet("clientMetadataUrl", a.ClientMetadataURL.text)
	id.putIfSet("grantType", a.GrantType)
	id.putIfSet("scopes", a.Scopes)
	id.putIfSet("redirectPort", a.RedirectPort)
	return id
}

func (t TLS) identity() setFields {
	id := setFields{}
	id.putIfSet("caFile", t.CAFile)
	id.putIfSet("certFile", t.CertFile)
	id.putIfSet("keyFile", t.KeyFile)
	id.putIfSet("serverName", t.ServerName)
	id.putIfSet("insecure", t.Insecure)
	return id
}

// setFields is an object that holds only fields that are set.
type setFields map[string]json.RawMessage

// putIfSet adds a field, unless it is empty, 0 or false.
func (p setFields) putIfSet(name string, v any) {
	switch raw := encode(v); string(raw) {
	case `""`, `null`, `[]`, `{}`, `0`, `false`:
	default:
		p[name] = raw
	}
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("entry: %T does not encode: %v", v, err))
	}
	return raw
}

// digester returns a function that replaces a value by its digest under key; an empty value stays empty.
func digester(key []byte) func(Value) string {
	return func(v Value) string {
		if v.IsZero() {
			return ""
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(v.text))
		return "hmac:" + hex.EncodeToString(mac.Sum(nil))
	}
}
