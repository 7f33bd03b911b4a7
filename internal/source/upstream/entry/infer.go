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

// chooseTransport decides the transport from type, command and url, sets the defaults that depend on it, and reads protocol.
func (o *object) chooseTransport() {
	e := &o.entry
	typed, pointer, given := o.readText("type", "transport", "transportType")
	t, known := transports[strings.ToLower(typed)]
	command, remote := o.has("command"), o.hasURL()
	found := "there is a url"
	if command {
		found = "there is a command"
	}
	switch {
	case given && !known:
		o.fail(pointer, ruleTransport, "expected stdio, http or sse, got %q", typed)
	case command && remote:
		o.fail("", ruleTransport, "both a command and a url; a server has one of them")
	case !command && !remote:
		o.fail("", ruleTransport, "neither a command nor a url; a server needs one of them")
	case given && (t == Stdio) != command:
		o.fail(pointer, ruleTransport, "type %s does not fit: %s", typed, found)
	case given:
		e.Transport = t
	case remote:
		e.Transport = o.transportOfURL()
	}
	if e.Transport != Stdio {
		e.Health.Ping = 30 * time.Second
	}
	if s, pointer, ok := o.readText("protocol"); ok {
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
	commandFields = []string{"args", "env", "envFile", "inheritEnv", "cwd", "dockerManaged"}
	urlFields     = []string{"headers", "headersCommand", "auth", "oauth", "apiKey", "tls"}
)

// warnUnused warns about fields that have no effect on this kind of server. Without the warning, a token written there
// would just be missing.
func (o *object) warnUnused() {
	command, remote := o.has("command"), o.hasURL()
	names, message := urlFields, `this is for a server with a url and has no effect here; a command takes "env"`
	if remote {
		names, message = commandFields, `this is for a server with a command and has no effect here; a url takes "headers"`
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

// hasURL reports whether the entry is one for a remote server.
func (o *object) hasURL() bool {
	return slices.ContainsFunc([]string{"url", "serverUrl", "httpUrl"}, o.has)
}

// transportOfURL guesses the transport from the URL: SSE if the path ends with /sse, unless the field's name (httpUrl) says
// otherwise.
func (o *object) transportOfURL() Transport {
	if _, forced := o.fields["httpUrl"]; forced {
		return httpTransport
	}
	if u, err := url.Parse(o.entry.URL.text); err == nil && strings.HasSuffix(u.Path, "/sse") {
		return SSE
	}
	return httpTransport
}
