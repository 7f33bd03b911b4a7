package entry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
)

// This file hashes what makes a server the one it is, so that a cached list is not used for another server.

// ConfigHash identifies what the server is: the lower-case hexadecimal SHA-256 of the canonical JSON (RFC 8785) of
// its identifying fields, after aliases and variables are resolved. Values of variables and headers, tokens, passwords
// and client secrets enter as HMAC-SHA-256 under key, so that the hash does not help to guess them. Entries with the same
// meaning have the same hash, however their servers are treated.
func (e Entry) ConfigHash(key []byte) string { return e.hashOf(e.identity(digester(key))) }

// PortableHash returns a ConfigHash that machines with different folders share: it omits the working folder, and it
// reduces absolute paths in the command and the arguments to their last element.
func (e Entry) PortableHash(key []byte) string {
	e.Dir = ""
	e.Command = newValue(portable(e.Command.text), "")
	args := make([]Value, len(e.Args))
	for i, a := range e.Args {
		args[i] = newValue(portable(a.text), "")
	}
	e.Args = args
	return e.hashOf(e.identity(digester(key)))
}

func portable(s string) string {
	if filepath.IsAbs(s) {
		return filepath.Base(s)
	}
	return s
}

// hashOf returns the hash of identifying fields.
func (e Entry) hashOf(id present) string {
	value := jsontext.Value(encode(id))
	if err := value.Canonicalize(); err != nil {
		panic(fmt.Sprintf("entry: identity of %s is not JSON: %v", e.Name, err))
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// identity returns the identifying fields that are set.
func (e Entry) identity(digest func(Value) string) present {
	id := present{}
	id.put("type", e.Transport)
	if e.Protocol != "auto" {
		id.put("protocol", e.Protocol)
	}
	if e.Transport == Stdio {
		id.put("command", e.Command.text)
		id.put("args", texts(e.Args))
		env := map[string]string{}
		for name, v := range e.Env {
			env[name] = digest(v)
		}
		id.put("env", env)
		id.put("unset", e.Unset)
		if e.InheritEnv.Mode != "minimal" {
			id.put("inheritEnv", e.InheritEnv.Mode)
		}
		id.put("inheritNames", e.InheritEnv.Names)
		id.put("cwd", e.Dir)
		return id
	}
	id.put("url", e.URL.text)
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = digest(h.Value)
	}
	id.put("headers", headers)
	if c := e.HeadersCommand; c != nil {
		id.put("headersCommand", append([]string{c.Command.text}, texts(c.Args)...))
	}
	id.put("auth", e.Auth.identity(digest))
	id.put("tls", e.TLS.identity())
	return id
}

func (a auth) identity(digest func(Value) string) present {
	id := present{}
	id.put("type", a.Type)
	id.put("token", digest(a.Token))
	id.put("username", a.Username.text)
	id.put("password", digest(a.Password))
	id.put("clientId", a.ClientID.text)
	id.put("clientSecret", digest(a.ClientSecret))
	id.put("clientMetadataUrl", a.ClientMetadataURL.text)
	id.put("grantType", a.GrantType)
	id.put("scopes", a.Scopes)
	id.put("redirectPort", a.RedirectPort)
	return id
}

func (t TLS) identity() present {
	id := present{}
	id.put("caFile", t.CAFile)
	id.put("certFile", t.CertFile)
	id.put("keyFile", t.KeyFile)
	id.put("serverName", t.ServerName)
	id.put("insecure", t.Insecure)
	return id
}

// present is an object that holds only fields that are set.
type present map[string]json.RawMessage

func (p present) put(name string, v any) {
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
