package entry

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/sorting"
)

// This file reads the fields about a server at a URL: headers and authentication.

// remote reads how a server is reached over HTTP.
func (o *object) remote() {
	e := &o.entry
	if s, pointer, ok := o.text("url", "serverUrl", "httpUrl"); ok {
		o.url(pointer, s)
	}
	if raw, pointer, ok := o.field("headers"); ok {
		o.headers(pointer, raw)
	}
	o.sub(func(c *object) {
		e.HeadersCommand = &headersCommand{Timeout: 10 * time.Second}
		c.setValue(&e.HeadersCommand.Command, c.value, "command")
		var args []string
		c.setList(&args, "args")
		for i, a := range args {
			e.HeadersCommand.Args = append(e.HeadersCommand.Args, c.value(c.pointer+"/args/"+strconv.Itoa(i), a))
		}
		if e.HeadersCommand.Command.IsZero() && !c.failed() {
			c.fail(c.pointer, "value", "headersCommand needs a command, which prints a JSON object of headers")
		}
		c.setDuration(&e.HeadersCommand.Timeout, false, "timeout")
	}, "headersCommand")
	o.auth()
	o.sub(func(t *object) {
		t.setPath(&e.TLS.CAFile, "caFile")
		t.setPath(&e.TLS.CertFile, "certFile")
		t.setPath(&e.TLS.KeyFile, "keyFile")
		t.setText(&e.TLS.ServerName, "serverName")
		t.setBool(&e.TLS.Insecure, "insecure")
		if (e.TLS.CertFile == "") != (e.TLS.KeyFile == "") {
			t.fail(t.pointer, "value", "certFile and keyFile belong together; only one of them is set")
		}
		if e.TLS.Insecure {
			t.warn(t.pointer+"/insecure", "tls", "certificates are not checked: anyone on the network path can read and change everything")
		}
	}, "tls")
}

func (o *object) url(pointer, s string) {
	ps, ok := o.expand(pointer, s)
	if !ok {
		o.entry.URL = Value{"", shownURL(s)}
		return
	}
	text := join(ps)
	o.entry.URL = Value{text, shownURL(s)}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "":
		o.fail(pointer, "url", `expected a URL such as "https://host/mcp"`)
		return
	case u.Scheme == "unix" && strings.HasPrefix(u.Path, "/"), (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
	default:
		o.fail(pointer, "url", "expected http://host/…, https://host/… or unix:///path#/route")
		return
	}
	if password, ok := u.User.Password(); ok {
		o.hide(password)
		o.hide(basic(u.User.Username(), password))
	} else if u.User != nil { // a token alone, without a password
		o.hide(u.User.Username())
		o.hide(basic(u.User.Username(), ""))
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if secretName.MatchString(name) {
				o.hide(v)
			}
			if LooksSecret(v) && strings.Contains(s, v) {
				o.secrets[v] = true
				o.warn(pointer, "R-CV-6", "the query holds what looks like a secret; write ${secret:NAME} or ${NAME}, or send it as a header")
			}
		}
	}
}

var (
	userinfo   = lazyregexp.New(`^([a-z]+://)[^/?#@]*@`)
	queryValue = lazyregexp.New(`([?&][^=&#]*=)[^&#]*`)
)

// shownURL returns a URL as written, valid or not, without credentials. Values of the query are shown only if they
// are placeholders.
func shownURL(written string) string {
	written = userinfo.ReplaceAllString(written, "${1}"+mask+"@")
	return queryValue.ReplaceAllStringFunc(written, func(s string) string {
		name, value, _ := strings.Cut(s, "=")
		if strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
			return s
		}
		return name + "=" + mask
	})
}

// basic returns the credentials of the Basic scheme for a header.
func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// headers reads an object, or a list of "Name: value".
func (o *object) headers(pointer string, raw json.RawMessage) {
	if kind(raw) == "array" {
		lines, _ := decode[[]string](o.parser, pointer, raw, "an object or a list of \"Name: value\"")
		for i, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				o.fail(pointer+"/"+strconv.Itoa(i), "header", `expected "Name: value"`)
				continue
			}
			o.header(pointer+"/"+strconv.Itoa(i), strings.TrimSpace(name), strings.TrimSpace(value))
		}
	} else {
		values, _ := decode[map[string]json.RawMessage](o.parser, pointer, raw, "an object of names and values")
		for _, name := range slices.Sorted(maps.Keys(values)) {
			at := pointer + "/" + escape(name)
			if s, ok := decode[string](o.parser, at, values[name], "a string"); ok {
				o.header(at, name, s)
			}
		}
	}
	sorting.Stable(o.entry.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
}

var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // a token of RFC 9110

func (o *object) header(pointer, name, s string) {
	if !headerName.MatchString(name) {
		o.fail(pointer, "header", "%q is not a name of a header", name)
		return
	}
	ps, ok := o.expand(pointer, s)
	if !ok {
		return
	}
	o.literalSecret(pointer, ps)
	value := join(ps)
	if strings.ContainsAny(value, "\r\n\x00") {
		o.fail(pointer, "header", "a header cannot hold a line break or NUL")
		return
	}
	o.hide(value)
	if _, token, ok := strings.Cut(value, " "); ok {
		o.hide(token) // a log may quote the token without its scheme
	}
	o.entry.Headers = append(o.entry.Headers, Header{name, hidden(value)})
}

// auth reads "auth", and the forms of two other hosts.
func (o *object) auth() {
	a := &o.entry.Auth
	o.sub(func(s *object) {
		setWord(s, &a.Type, []string{"none", "bearer", "basic", "oauth"}, "type")
		s.setValue(&a.Token, s.hidden, "token", "apiKey")
		s.setValue(&a.Username, s.value, "username")
		s.setValue(&a.Password, s.hidden, "password")
		s.oauth(a)
		if a.Type == "" {
			a.Type = a.guess()
		}
		if a.Type == "bearer" && a.Token.IsZero() && !s.failed() {
			s.fail(s.pointer, "auth", "bearer needs a token")
		}
		if a.Type == "basic" && a.Username.IsZero() && !s.failed() {
			s.fail(s.pointer, "auth", "basic needs a username")
		}
		if a.Type == "basic" {
			s.hide(basic(a.Username.text, a.Password.text))
		}
	}, "auth")
	if s, pointer, ok := o.text("apiKey"); ok {
		a.Type, a.Token = "bearer", o.hidden(pointer, s)
	}
	o.sub(func(s *object) {
		a.Type = "oauth"
		s.oauth(a)
	}, "oauth")
}

func (o *object) oauth(a *auth) {
	o.setValue(&a.ClientID, o.value, "clientId", "client_id")
	o.setValue(&a.ClientSecret, o.hidden, "clientSecret", "client_secret")
	o.setValue(&a.ClientMetadataURL, o.clientMetadataURL, "clientMetadataUrl", "client_metadata_url")
	setWord(o, &a.GrantType, []string{"authorization_code", ClientCredentials}, "grantType", "grant_type")
	o.setList(&a.Scopes, "scopes")
	o.setCount(&a.RedirectPort, 1, "redirectPort")
	if a.RedirectPort > 65535 {
		o.fail(o.pointer+"/redirectPort", "value", "expected a port up to 65535, got %d", a.RedirectPort)
	}
	switch {
	case o.failed():
	case a.GrantType == ClientCredentials && (a.ClientID.IsZero() || a.ClientSecret.IsZero()):
		o.fail(o.pointer, "auth", "grantType client_credentials needs a clientId and a clientSecret")
	case !a.ClientID.IsZero() && !a.ClientMetadataURL.IsZero():
		o.warn(o.pointer+"/clientMetadataUrl", "auth", "it is not used: clientId says which client this is")
	}
}

// clientMetadataURL reads the URL of a client id metadata document, which itself is the client id. It must be https,
// have a path, and be in a form that has no second spelling (OAuth Client ID Metadata Document, draft 00, section 3).
func (o *object) clientMetadataURL(pointer, text string) Value {
	v := o.value(pointer, text)
	u, err := url.Parse(v.text)
	dots := func(segment string) bool { return segment == "." || segment == ".." }
	switch {
	case v.IsZero(): // already reported
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Contains(v.text, "#") ||
		strings.Trim(u.Path, "/") == "" || slices.ContainsFunc(strings.Split(u.Path, "/"), dots):
		o.fail(pointer, "value", `expected an https URL with a path such as "https://example.org/client.json"`)
	}
	return v
}

// guess returns the auth type to which the given fields belong.
func (a *auth) guess() string {
	switch {
	case !a.Token.IsZero():
		return "bearer"
	case !a.Username.IsZero():
		return "basic"
	case !a.ClientID.IsZero() || !a.ClientMetadataURL.IsZero() || a.GrantType != "" || len(a.Scopes) > 0 || a.RedirectPort > 0:
		return "oauth"
	}
	return ""
}

// failed reports whether this object already has an error.
func (o *object) failed() bool {
	return slices.ContainsFunc(o.problems, func(p Problem) bool {
		return p.Severity == SeverityError && strings.HasPrefix(p.Pointer, o.pointer+"/")
	})
}
