package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
	"collie/internal/lazyregexp"
)

// This file lists every section and field of a settings file: how it is read, checked and shown.

// fields returns the members of a settings file: how each is read, and how it is shown.
func (c *Config) fields() fields {
	return fields{
		"$schema":    {func(*decoder, node) {}, func() any { return nil }},
		"mcpServers": {c.readServers, c.serverValues},
		"servers":    {c.readServers, func() any { return nil }},
		"inputs":     {c.readInputs, func() any { return nil }},
		"http":       c.HTTP.field(),
		"web":        section(fields{"frameOrigins": originsField(&c.Web.FrameOrigins)}),
		"mcp":        section(c.MCP.fields()),
		"cache":      section(c.Cache.fields()),
		"audit":      section(c.Audit.fields()),
		"secrets":    section(fields{"store": choiceField(&c.Secrets.Store, "auto", "keyring", "file")}),
		"log":        section(c.Log.fields()),
		"analytics":  section(c.Analytics.fields()),
		"telemetry":  section(c.Telemetry.fields()),
		"siyuan":     openSection(&c.SiYuan.Raw, fields{"enabled": boolField(&c.SiYuan.Enabled)}),
		"vault":      openSection(&c.Vault.Raw, fields{"enabled": boolField(&c.Vault.Enabled), "file": pathField(&c.Vault.File), "sync": pathsField(&c.Vault.Sync)}),
		"profiles":   {c.readProfiles, c.profileValues},
		"providers":  {c.readProviders, c.providerValues},
		"models":     {c.readModels, c.modelValues},
		"agent":      section(c.Agent.fields()),
		"guard":      section(c.Guard.fields()),
		"context":    section(fields{"view": choiceField(&c.Context.View, "flat", "grouped", "search", "auto"), "budget": sizeField(&c.Context.Budget)}),
	}
}

func (h *HTTP) field() field {
	fs := fields{
		"addr":           addrField(&h.Addr, &h.AddrSet),
		"allowedOrigins": listField(&h.AllowedOrigins, "https://notes.example.org"),
		"allowedHosts":   listField(&h.AllowedHosts, "notes.example.org"),
		"publicURL":      publicURLField(&h.PublicURL),
		"trustedProxies": proxiesField(&h.TrustedProxies),
		"tlsCert":        pathField(&h.TLSCert),
		"tlsKey":         pathField(&h.TLSKey),
		"noAuth":         boolField(&h.NoAuth),
		"maxBody":        sizeField(&h.MaxBody),
		"metrics":        boolField(&h.Metrics),
		"resumeBytes":    sizeField(&h.ResumeBytes),

		"elicitationConfirms": boolField(&h.ElicitationConfirms),
	}
	s := section(fs)
	return field{func(d *decoder, n node) {
		s.set(d, n)
		if (h.TLSCert == "") != (h.TLSKey == "") {
			d.fail(n, "value", "tlsCert and tlsKey belong together; only one of them is set")
		}
	}, s.get}
}

// publicURLField returns a field whose value is the URL at which people reach the proxy in front of the listener.
func publicURLField(p *string) field {
	f := stringField(p, "https://notes.example.org")
	return field{func(d *decoder, n node) {
		f.set(d, n)
		if *p != "" && !isPublicURL(*p) {
			d.fail(n, "value", "expected https, a name and perhaps a port, such as \"https://notes.example.org\", got %q", *p)
			*p = ""
		}
		*p = strings.TrimRight(*p, "/")
	}, f.get}
}

// isPublicURL reports whether s is https, a host and perhaps a port, without anything else but slashes at the end.
func isPublicURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return false
	}
	return u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

// originsField returns a field whose value is a list of origins as browsers write them.
func originsField(p *[]string) field {
	const example = "http://127.0.0.1:6806"
	f := listField(p, example)
	return field{func(d *decoder, n node) {
		f.set(d, n)
		for _, s := range *p {
			if !isOrigin(s) {
				d.fail(n, "value", "expected origins such as [%q], a scheme, a host and perhaps a port, got %q", example, s)
				*p = nil
				return
			}
		}
	}, f.get}
}

// isOrigin reports whether s is the origin of a page: http or https, a host and perhaps a port. Because origins are written
// into a Content-Security-Policy, characters that could change it are refused: white space, semicolons, commas, quotes and
// stars.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	return u.Scheme+"://"+u.Host == s && !strings.ContainsAny(s, " \t\r\n;,'\"*")
}

// proxiesField returns a field whose value is a list of addresses and networks.
func proxiesField(p *[]string) field {
	f := listField(p, "127.0.0.1")
	return field{func(d *decoder, n node) {
		f.set(d, n)
		for _, s := range *p {
			_, notAddress := netip.ParseAddr(s)
			_, notNetwork := netip.ParsePrefix(s)
			if notAddress != nil && notNetwork != nil {
				d.fail(n, "value", "expected addresses and networks such as [\"127.0.0.1\", \"10.0.0.0/8\"], got %q", s)
				*p = nil
				return
			}
		}
	}, f.get}
}

// addrField returns a field whose value is an address to listen at. It sets isSet if a file sets the address.
func addrField(p *string, isSet *bool) field {
	f := stringField(p, "127.0.0.1:7420")
	return field{func(d *decoder, n node) {
		before := *p
		*isSet = true
		f.set(d, n)
		_, port, err := net.SplitHostPort(*p)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			d.fail(n, "value", "expected host:port such as \"127.0.0.1:7420\", got %q", *p)
			*p = before
		}
	}, f.get}
}

func (m *MCP) fields() fields {
	return fields{
		"enabled":           boolField(&m.Enabled),
		"maxParallelStarts": countField(&m.MaxParallelStarts),
		"maxRunnerStarts":   countField(&m.MaxRunnerStarts),
		"env":               section(fields{"deny": listField(&m.EnvDeny, "*_TOKEN")}),
		"limits":            section(m.Limits.fields()),
		"drain":             durationField(&m.Drain),
		"warmParallel":      countField(&m.WarmParallel),
		"registry":          webField(&m.Registry, "https://registry.modelcontextprotocol.io"),
		"logs": section(fields{
			"enabled": boolField(&m.Logs.Enabled),
			"maxSize": sizeField(&m.Logs.MaxSize),
			"files":   countField(&m.Logs.Files),
		}),
	}
}

func (l *Limits) fields() fields {
	return fields{
		"maxFrame":       sizeField(&l.MaxFrame),
		"maxDefinition":  fixedField(&l.MaxDefinition, sizeField(&l.MaxDefinition)),
		"maxDepth":       fixedField(&l.MaxDepth, countField(&l.MaxDepth)),
		"maxSchemaDepth": fixedField(&l.MaxSchemaDepth, countField(&l.MaxSchemaDepth)),
		"maxSessions":    countField(&l.MaxSessions),
		"maxInFlight":    countField(&l.MaxInFlight),
		"callTimeout":    durationField(&l.CallTimeout),
		"maxCallTimeout": durationField(&l.MaxCallTimeout),
	}
}

func (c *Cache) fields() fields {
	return fields{
		"enabled":  boolField(&c.Enabled),
		"file":     pathField(&c.File),
		"maxAge":   durationField(&c.MaxAge),
		"maxStale": durationField(&c.MaxStale),

		"mode":             modeField(&c.Mode),
		"compression":      choiceField(&c.Compression, "auto", "none", "gzip"),
		"trustImported":    boolField(&c.TrustImported),
		"serveOldOnChange": boolField(&c.ServeOldOnChange),

		"refreshStale":         choiceField(&c.RefreshStale, "use", "start"),
		"warmup":               choiceField(&c.Warmup, "off", "missing", "stale", "all"),
		"refreshInterval":      durationField(&c.RefreshInterval),
		"refreshStartsServers": boolField(&c.RefreshStartsServers),
		"firstListWait":        durationField(&c.FirstListWait),

		"shared":         sharedField(&c.Shared),
		"sharedKeyFile":  pathField(&c.SharedKeyFile),
		"sharedIdentity": choiceField(&c.SharedIdentity, "exact", "portable"),
	}
}

func (g *Guard) fields() fields {
	return fields{
		"mode":    choiceField(&g.Mode, "enforce", "log"),
		"clients": choiceField(&g.Clients, "log", "enforce"),
		"prompts": choiceField(&g.Prompts, "off", "log", "enforce"), "promptsModel": stringField(&g.PromptsModel, "provider/model"),
		"guardian": section(fields{
			"mode": choiceField(&g.Guardian, "off", "monitor", "enforce"), "model": stringField(&g.GuardianModel, "provider/model"),
			"threshold": choiceField(&g.GuardianThreshold, "high", "medium"),
		}),
		"notify":   section(g.Notify.fields()),
		"roots":    section(fields{"read": filesField(&g.ReadRoots, "~/Documents"), "write": filesField(&g.WriteRoots, "~/desk")}),
		"paths":    section(fields{"deny": filesField(&g.DenyPaths, "**/private/**")}),
		"commands": section(fields{"allow": listField(&g.AllowCommands, "go test"), "deny": listField(&g.DenyCommands, "git push")}),
		"hosts":    section(fields{"allow": listField(&g.AllowHosts, "localhost:3000"), "deny": listField(&g.DenyHosts, "*.example.org")}),
	}
}

// filesField returns a field whose value is a list of paths or patterns that do not depend on the working folder.
func filesField(p *[]string, example string) field {
	f := listField(p, example)
	return field{func(d *decoder, n node) {
		before := *p
		f.set(d, n)
		for _, s := range *p {
			if !path.IsAbs(s) && !strings.HasPrefix(s, "~/") && !strings.HasPrefix(s, "**/") && !filepath.IsAbs(s) {
				d.fail(n, "value", "expected paths that begin with /, ~/ or **/ such as %q, got %q", example, s)
				*p = before
				return
			}
		}
	}, f.get}
}

func (l *Log) fields() fields {
	return fields{
		"file":    pathField(&l.File),
		"level":   choiceField(&l.Level, "debug", "info", "warn", "error"),
		"maxSize": sizeField(&l.MaxSize),
		"files":   countField(&l.Files),
	}
}

func (a *Analytics) fields() fields {
	return fields{
		"enabled":     boolField(&a.Enabled),
		"captureText": boolField(&a.CaptureText),
	}
}

func (t *Telemetry) fields() fields {
	return fields{
		"enabled":       boolField(&t.Enabled),
		"endpoint":      webField(&t.Endpoint, "https://telemetry.example.org/collie"),
		"intervalHours": clampedField(&t.IntervalHours, 1, 168),
	}
}

// webField returns a field whose value is an http or https URL. Its password and query values are never shown.
func webField(p *string, example string) field {
	f := stringField(p, example)
	return field{func(d *decoder, n node) {
		before := *p
		f.set(d, n)
		if *p != before && *p != "" && !isURL(*p, "http", "https") {
			*p = before
			d.fail(n, "value", "expected an http or https URL such as %q", example) // the value may hold a secret, so it is not quoted
		}
	}, func() any { return shownURL(*p) }}
}

// fixedField returns a field for a limit that is the same for everyone: another value is ignored with a warning.
func fixedField[T comparable](p *T, f field) field {
	return field{func(d *decoder, n node) {
		before, shown := *p, f.get()
		if f.set(d, n); *p != before {
			d.report(n, n.value.StartOffset, "value", SeverityWarning, "this limit is fixed at %v, the value is ignored", shown)
		}
		*p = before
	}, f.get}
}

// sharedField returns a field whose value is the address of a NATS server, or of several separated by commas. Other
// places, which earlier versions supported, are ignored with a warning: the gateway starts without them, because it can
// learn every list again.
func sharedField(p *string) field {
	const example = "nats://nats.example.org:4222"
	f := stringField(p, example)
	return field{func(d *decoder, n node) {
		before := *p
		f.set(d, n)
		hint := formerPlace(*p)
		switch {
		case *p == before, *p == "", isNATS(*p):
			return
		case hint != "":
			d.report(n, n.value.StartOffset, "value", SeverityWarning,
				"%s is ignored: gateways share lists through NATS alone; write an address such as %q, or take lists over once with collie cache import FILE", hint, example)
		default:
			d.fail(n, "value", "expected the address of a NATS server such as %q", example) // the value may hold a secret, so it is not quoted
		}
		*p = before
	}, func() any { return shownNATS(*p) }}
}

// formerPlace returns the kind of shared place that s describes, if that kind is no longer supported;
// otherwise "".
func formerPlace(s string) string {
	scheme, _, _ := strings.Cut(s, ":")
	scheme = strings.ToLower(scheme) // schemes are case-insensitive
	switch {
	case s == "serve":
		return `"serve"`
	case scheme == "http" || scheme == "https":
		return "an HTTP address"
	case scheme == "dir" || filepath.IsAbs(s) || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "."):
		return "a folder"
	case scheme == "file":
		return "a file"
	}
	return ""
}

// isNATS reports whether s is the address of a NATS server, or several separated by commas.
func isNATS(s string) bool {
	for one := range strings.SplitSeq(s, ",") {
		if !isURL(strings.TrimSpace(one), "nats", "tls") {
			return false
		}
	}
	return true
}

// shownNATS returns the address without user name and password.
func shownNATS(s string) string {
	list := strings.Split(s, ",")
	for i, one := range list {
		list[i] = shownURL(strings.TrimSpace(one))
	}
	return strings.Join(list, ",")
}

// clampedField returns a field whose value is an integer; a value outside the range becomes the nearest bound.
func clampedField(p *int, low, high int) field {
	return field{func(d *decoder, n node) {
		v, err := strconv.Atoi(numberText(n))
		if err != nil {
			d.wrongType(n, fmt.Sprintf("a whole number from %d to %d", low, high))
			return
		}
		if *p = min(max(v, low), high); *p != v {
			d.report(n, n.value.StartOffset, "value", SeverityWarning, "%d is not from %d to %d; %d is used", v, low, high, *p)
		}
	}, func() any { return *p }}
}

// numberText returns a number as it is written; empty if n is not a number.
func numberText(n node) string {
	if n.value.Value.Kind() != '0' {
		return ""
	}
	return string(n.value.Value.(hujson.Literal))
}

func (a *Audit) fields() fields {
	return fields{
		"content":   choiceField(&a.Content, "none", "redacted", "full"),
		"onFailure": choiceField(&a.OnFailure, "refuse", "continue"),
		"dir":       pathField(&a.Dir),
		"anchor":    pathField(&a.Anchor),
		"keep":      keepField(&a.Keep),
	}
}

// leastKept is the minimum time for which records are kept: with less, records would be removed from a segment that is
// still written to.
const leastKept = 24 * time.Hour

// keepField returns a field whose value is a length of time of at least a day, or 0.
func keepField(p *time.Duration) field {
	length := durationField(p)
	return field{func(d *decoder, n node) {
		before := *p
		length.set(d, n)
		if *p != 0 && *p < leastKept {
			d.fail(n, "value", "records are kept for at least a day; write a length of time such as 90d, or 0 for ever")
			*p = before
		}
	}, length.get}
}

// openSection returns a field whose value is a section with more fields than fs. All of it is kept in raw, from which
// another package reads the others.
func openSection(raw *json.RawMessage, fs fields) field {
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() != '{' {
			d.wrongType(n, "an object")
			return
		}
		ms := n.members()
		for i := range ms {
			if f, known := fs[jsonc.Name(&ms[i])]; known {
				f.set(d, n.child(&ms[i]))
			}
		}
		*raw = jsonc.Standard(n.value)
	}, func() any {
		out := map[string]any{}
		if *raw != nil {
			var given map[string]json.RawMessage
			if json.Unmarshal(*raw, &given) == nil {
				for name, v := range given {
					out[name] = v
				}
			}
		}
		maps.Copy(out, fs.values())
		return out
	}}
}

func (p *Profile) fields() fields {
	return fields{
		"description": stringField(&p.Description, "notes only"),
		"view":        choiceField(&p.View, "flat", "grouped", "search", "auto"),
		"budget":      {sizeField(&p.Budget).set, func() any { return p.Budget }},
		"views":       {p.readViews, func() any { return p.Views }},
		"tools":       filterField(&p.Tools),
		"actions":     filterField(&p.Actions),
		"notebooks":   {p.readNotebooks, func() any { return p.Notebooks }},
	}
}

// notebookID is the form of SiYuan's notebook ids. Levels are assigned by id, because anyone who can rename a notebook
// could otherwise change its level.
var notebookID = lazyregexp.New(`^\d{14}-[0-9a-z]{7}$`)

// readNotebooks reads levels. If one is invalid, all notebooks become unreadable, because the invalid one may
// have been meant for any of them.
func (p *Profile) readNotebooks(d *decoder, n node) {
	p.Notebooks = map[string]string{}
	before := len(d.findings)
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, `an object of notebook ids, or "*", and levels`)
	}
	for _, m := range n.members() {
		id, level := jsonc.Name(&m), ""
		at := n.child(&m)
		choiceField(&level, "none", "r", "rw", "rwd").set(d, at)
		if id != "*" && !notebookID.MatchString(id) {
			d.fail(at, "value", `expected the id of a notebook such as "20210808180117-czj9bvb", or "*" for all others, got %q; collie siyuan permission list shows the ids`, id)
		}
		p.Notebooks[id] = level
	}
	if len(d.findings) > before {
		p.Notebooks = map[string]string{"*": "none"}
	}
}

func (p *Profile) readViews(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object of tool names and views")
		return
	}
	p.Views = map[string]string{}
	ms := n.members()
	for i := range ms {
		var view string
		choiceField(&view, "flat", "grouped", "search").set(d, n.child(&ms[i]))
		p.Views[jsonc.Name(&ms[i])] = view
	}
}

// filterField returns a field whose value is {"include": […], "exclude": […]}; a list alone means include.
func filterField(f *Filter) field {
	include := listField(&f.Include, "notebook")
	s := section(fields{"include": include, "exclude": listField(&f.Exclude, "file")})
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() == '[' {
			include.set(d, n)
			return
		}
		s.set(d, n)
	}, s.get}
}

func (c *Config) readProfiles(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object of profiles by name")
		return
	}
	ms := n.members()
	for i := range ms {
		var p Profile
		p.fields().read(d, n.child(&ms[i]))
		c.Profiles[jsonc.Name(&ms[i])] = p
	}
}

func (c *Config) profileValues() any {
	out := map[string]any{}
	for name, p := range c.Profiles {
		out[name] = p.fields().values()
	}
	return out
}
