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

// readRemote reads how a server is reached over HTTP.
func (o *object) readRemote() {
	e := &o.entry
	if s, pointer, ok := o.readText("url", "serverUrl", "httpUrl"); ok {
		o.readURL(pointer, s)
	}
	if raw, pointer, ok := o.field("headers"); ok {
		o.readHeaders(pointer, raw)
	}
	o.readObject(func(c *object) {
		e.HeadersCommand = &headersCommand{Timeout: 10 * time.Second}
		c.setValue(&e.HeadersCommand.Command, c.shownValue, "command")
		var args []string
		c.appendList(&args, "args")
		for i, a := range args {
			e.HeadersCommand.Args = append(e.HeadersCommand.Args, c.shownValue(c.pointer+"/args/"+strconv.Itoa(i), a))
		}
		if e.HeadersCommand.Command.IsZero() && !c.hasErrors() {
			c.fail(c.pointer, "value", "headersCommand needs a command, which prints a JSON object of headers")
		}
		c.setPositiveDuration(&e.HeadersCommand.Timeout, "timeout")
	}, "headersCommand")
	o.readAuth()
	o.readObject(func(t *object) {
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

// readURL reads the address of the server, masks its credentials in logs, and warns about secrets in its query.
func (o *object) readURL(pointer, s string) {
	ps, ok := o.expand(pointer, s)
	if !ok {
		o.entry.URL = Value{"", shownURL(s)}
		return
	}
	text := joinPieces(ps)
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
		o.maskInLogs(password)
		o.maskInLogs(basicCredentials(u.User.Username(), password))
	} else if u.User != nil { // a token alone, without a password
		o.maskInLogs(u.User.Username())
		o.maskInLogs(basicCredentials(u.User.Username(), ""))
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if secretName.MatchString(name) {
				o.maskInLogs(v)
			}
			if LooksSecret(v) && strings.Contains(s, v) {
				o.secrets[v] = true
				o.warn(pointer, ruleSecret, "the query holds what looks like a secret; write ${secret:NAME} or ${NAME}, or send it as a header")
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

// basicCredentials returns the credentials of the Basic scheme for a header.
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// readHeaders reads an object, or a list of "Name: value".
func (o *object) readHeaders(pointer string, raw json.RawMessage) {
	if jsonKind(raw) == "array" {
		lines, _ := decode[[]string](o.parser, pointer, raw, "an object or a list of \"Name: value\"")
		for i, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				o.fail(pointer+"/"+strconv.Itoa(i), "header", `expected "Name: value"`)
				continue
			}
			o.addHeader(pointer+"/"+strconv.Itoa(i), strings.TrimSpace(name), strings.TrimSpace(value))
		}
	} else {
		values, _ := decode[map[string]json.RawMessage](o.parser, pointer, raw, "an object of names and values")
		for _, name := range slices.Sorted(maps.Keys(values)) {
			at := pointer + "/" + escapePointer(name)
			if s, ok := decode[string](o.parser, at, values[name], "a string"); ok {
				o.addHeader(at, name, s)
			}
		}
	}
	sorting.Stable(o.entry.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
}

var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // a token of RFC 9110

// addHeader adds a header to those that every request has, masked in logs.
func (o *object) addHeader(pointer, name, s string) {
	if !headerName.MatchString(name) {
		o.fail(pointer, "header", "%q is not a name of a header", name)
		return
	}
	ps, ok := o.expand(pointer, s)
	if !ok {
		return
	}
	o.warnLiteralSecret(pointer, ps)
	value := joinPieces(ps)
	if strings.ContainsAny(value, "\r\n\x00") {
		o.fail(pointer, "header", "a header cannot hold a line break or NUL")
		return
	}
	o.maskInLogs(value)
	if _, token, ok := strings.Cut(value, " "); ok {
		o.maskInLogs(token) // a log may quote the token without its scheme
	}
	o.entry.Headers = append(o.entry.Headers, Header{name, maskedValue(value)})
}

// readAuth reads "auth", and the forms of two other hosts.
func (o *object) readAuth() {
	a := &o.entry.Auth
	o.readObject(func(s *object) {
		setWord(s, &a.Type, []string{"none", "bearer", "basic", "oauth"}, "type")
		s.setValue(&a.Token, s.hiddenValue, "token", "apiKey")
		s.setValue(&a.Username, s.shownValue, "username")
		s.setValue(&a.Password, s.hiddenValue, "password")
		s.readOAuth(a)
		if a.Type == "" {
			a.Type = a.typeOfFields()
		}
		if a.Type == "bearer" && a.Token.IsZero() && !s.hasErrors() {
			s.fail(s.pointer, "auth", "bearer needs a token")
		}
		if a.Type == "basic" && a.Username.IsZero() && !s.hasErrors() {
			s.fail(s.pointer, "auth", "basic needs a username")
		}
		if a.Type == "basic" {
			s.maskInLogs(basicCredentials(a.Username.text, a.Password.text))
		}
	}, "auth")
	if s, pointer, ok := o.readText("apiKey"); ok {
		a.Type, a.Token = "bearer", o.hiddenValue(pointer, s)
	}
	o.readObject(func(s *object) {
		a.Type = "oauth"
		s.readOAuth(a)
	}, "oauth")
}

func (o *object) readOAuth(a *auth) {
	o.setValue(&a.ClientID, o.shownValue, "clientId", "client_id")
	o.setValue(&a.ClientSecret, o.hiddenValue, "clientSecret", "client_secret")
	o.setValue(&a.ClientMetadataURL, o.readClientMetadataURL, "clientMetadataUrl", "client_metadata_url")
	setWord(o, &a.GrantType, []string{"authorization_code", ClientCredentials}, "grantType", "grant_type")
	o.appendList(&a.Scopes, "scopes")
	o.setCount(&a.RedirectPort, 1, "redirectPort")
	if a.RedirectPort > 65535 {
		o.fail(o.pointer+"/redirectPort", "value", "expected a port up to 65535, got %d", a.RedirectPort)
	}
	switch {
	case o.hasErrors():
	case a.GrantType == ClientCredentials && (a.ClientID.IsZero() || a.ClientSecret.IsZero()):
		o.fail(o.pointer, "auth", "grantType client_credentials needs a clientId and a clientSecret")
	case !a.ClientID.IsZero() && !a.ClientMetadataURL.IsZero():
		o.warn(o.pointer+"/clientMetadataUrl", "auth", "it is not used: clientId says which client this is")
	}
}

// readClientMetadataURL reads the URL of a client id metadata document, which itself is the client id. It must be https,
// have a path, and be in a form that has no second spelling (OAuth Client ID Metadata Document, draft 00, section 3).
func (o *object) readClientMetadataURL(pointer, text string) Value {
	v := o.shownValue(pointer, text)
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

// typeOfFields returns the auth type to which the given fields belong; empty if none is given.
func (a *auth) typeOfFields() string {
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

// hasErrors reports whether this object already has an error.
func (o *object) hasErrors() bool {
	return slices.ContainsFunc(o.problems, func(p Problem) bool {
		return p.Severity == SeverityError && strings.HasPrefix(p.Pointer, o.pointer+"/")
	})
}
