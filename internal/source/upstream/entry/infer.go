package entry

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"collie/internal/lazyregexp"
)

// This file decides whether an entry is for a process or for a URL, and warns about fields that do not fit that.

// transports maps the words that entries use for a transport, in lower case.
var transports = map[string]Transport{
	"stdio": Stdio, "local": Stdio,
	"http": httpTransport, "streamable-http": httpTransport, "streamable_http": httpTransport, "streamablehttp": httpTransport, "remote": httpTransport,
	"sse": SSE,
}

var versionDate = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)

// infer decides the transport from type, command and url, sets the defaults that depend on it, and reads protocol.
func (o *object) infer() {
	e := &o.entry
	typed, pointer, given := o.text("type", "transport", "transportType")
	t, known := transports[strings.ToLower(typed)]
	command, remote := o.has("command"), o.remoteGiven()
	switch {
	case given && !known:
		o.fail(pointer, "R-CV-1", "expected stdio, http or sse, got %q", typed)
	case command && remote:
		o.fail("", "R-CV-1", "both a command and a url; a server has one of them")
	case !command && !remote:
		o.fail("", "R-CV-1", "neither a command nor a url; a server needs one of them")
	case given && (t == Stdio) != command:
		o.fail(pointer, "R-CV-1", "type %s does not fit: %s", typed, map[bool]string{true: "there is a command", false: "there is a url"}[command])
	case given:
		e.Transport = t
	case remote:
		e.Transport = o.byURL()
	}
	if e.Transport != Stdio {
		e.Health.Ping = 30 * time.Second
	}
	if s, pointer, ok := o.text("protocol"); ok {
		if e.Protocol = s; s != "auto" && s != "legacy" && !versionDate.MatchString(s) {
			o.fail(pointer, "value", "expected auto, legacy or a version such as 2025-11-25, got %q", s)
		}
	}
	e.StartTimeout = time.Minute
	if e.Runner {
		e.StartTimeout = 3 * time.Minute
	}
}

// Fields that only one kind of server uses.
var (
	ofCommand = []string{"args", "env", "envFile", "inheritEnv", "cwd", "dockerManaged"}
	ofURL     = []string{"headers", "headersCommand", "auth", "oauth", "apiKey", "tls"}
)

// unused warns about fields that have no effect on this kind of server. Without the warning, a token written there
// would just be missing.
func (o *object) unused() {
	command, remote := o.has("command"), o.remoteGiven()
	names, message := ofURL, `this is for a server with a url and has no effect here; a command takes "env"`
	if remote {
		names, message = ofCommand, `this is for a server with a command and has no effect here; a url takes "headers"`
	}
	for _, n := range names {
		if command != remote && o.has(n) { // both or neither is reported elsewhere
			o.warn("/"+n, "unused", "%s", message)
		}
	}
}

// has reports whether a field is given.
func (o *object) has(name string) bool {
	raw, ok := o.fields[name]
	return ok && string(raw) != "null"
}

func (o *object) remoteGiven() bool {
	return slices.ContainsFunc([]string{"url", "serverUrl", "httpUrl"}, o.has)
}

// byURL guesses the transport from the URL: SSE if the path ends with /sse, unless the field's name (httpUrl) says
// otherwise.
func (o *object) byURL() Transport {
	if _, forced := o.fields["httpUrl"]; forced {
		return httpTransport
	}
	if u, err := url.Parse(o.entry.URL.text); err == nil && strings.HasSuffix(u.Path, "/sse") {
		return SSE
	}
	return httpTransport
}
