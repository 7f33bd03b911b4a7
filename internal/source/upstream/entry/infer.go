package entry

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// transports are the words for a transport, in lower case.
var transports = map[string]Transport{
	"stdio": Stdio, "local": Stdio,
	"http": HTTP, "streamable-http": HTTP, "streamable_http": HTTP, "streamablehttp": HTTP, "remote": HTTP,
	"sse": SSE,
}

var versionDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// infer decides the transport from type, command and url (R-CV-1), and what hangs on it.
func (o *object) infer() {
	e := &o.entry
	typed, pointer, given := o.text("type", "transport", "transportType")
	t, known := transports[strings.ToLower(typed)]
	_, command := o.fields["command"]
	remote := slices.ContainsFunc([]string{"url", "serverUrl", "httpUrl"}, func(n string) bool {
		_, ok := o.fields[n]
		return ok
	})
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

// byURL is SSE where the path says so, unless the word for the URL says otherwise.
func (o *object) byURL() Transport {
	if _, forced := o.fields["httpUrl"]; forced {
		return HTTP
	}
	if u, err := url.Parse(o.entry.URL.text); err == nil && strings.HasSuffix(u.Path, "/sse") {
		return SSE
	}
	return HTTP
}
