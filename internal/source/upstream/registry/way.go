package registry

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
)

// This file derives from a description in the registry how a server can be run or reached, and refuses what is not
// safe.

// Kind says how a server is run or reached.
type Kind string

// The kinds.
const (
	NPM    Kind = "npm"    // npx -y NAME@VERSION
	PyPI   Kind = "pypi"   // uvx NAME==VERSION
	OCI    Kind = "oci"    // docker run -i --rm IMAGE
	Remote Kind = "remote" // a URL
)

const (
	maxItems = 64   // arguments, variables or headers of one server
	maxValue = 4096 // bytes of one value
)

// Server is one version of a server.
type Server struct {
	Found

	detail detail
}

// Pinned returns NAME@VERSION, by which the settings say where an entry comes from.
func (s *Server) Pinned() string { return s.Name + "@" + s.Version }

// Input is something that a person may have to give.
type Input struct {
	// Key names the input in [Server.Entry]: the name of a variable or a header, or of a part of an argument or a URL.
	Key string `json:"key"`
	// Place is env, header, argument or url.
	Place       string   `json:"place"`
	Description string   `json:"description,omitempty"`
	Default     string   `json:"default,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
}

// Way is one way to run or reach a server.
type Way struct {
	Kind Kind `json:"kind"`
	// Package is the package with its version, or the URL as the registry has it.
	Package string `json:"package"`
	// Refused says why this way cannot be taken; empty if it can.
	Refused string  `json:"refused,omitempty"`
	Inputs  []Input `json:"inputs"`

	command string
	before  []part // arguments before the package
	after   []part // arguments after it
	env     []part
	headers []part
	url     part
	sse     bool
}

// part is a text with placeholders that inputs fill.
type part struct {
	name     string // name of a variable or header, or a flag that precedes the value as an argument
	flag     bool   // a flag without a value
	pieces   []piece
	optional bool // left out if an input in it has no value
}

// piece is a literal text or the place of an input.
type piece struct {
	text string // a literal, as the registry has it
	key  string // the key of the input, empty for a literal
}

// Program returns the program that runs the package; empty for a URL.
func (w *Way) Program() string { return w.command }

// Ways returns all ways to run or reach the server, in the order of the registry, packages first. It
// includes refused ones.
func (s *Server) Ways() []Way { return s.detail.ways() }

func (d *detail) ways() []Way {
	var out []Way
	for i := range d.Packages[:min(len(d.Packages), maxItems)] {
		out = append(out, d.Packages[i].way())
	}
	for i := range d.Remotes[:min(len(d.Remotes), maxItems)] {
		out = append(out, d.Remotes[i].way())
	}
	return out
}

// builder builds a Way step by step. After a refusal the way cannot be taken, so what the later steps build is not used.
type builder struct{ Way }

// refuse marks the way as refused. Only the first reason is kept.
func (b *builder) refuse(format string, args ...any) {
	if b.Refused == "" {
		b.Refused = fmt.Sprintf(format, args...)
	}
}

var (
	npmName    = lazyregexp.New(`^(@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$`)
	npmVersion = lazyregexp.New(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	pyName     = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	pyVersion  = lazyregexp.New(`^\d[0-9A-Za-z.!+_-]*$`)
	imageName  = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	imageTag   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	imageSum   = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// way returns the way to run a package. A package from another package registry than the usual one is refused, because
// npx, uvx and docker would look for its name in the usual one, where it may be somebody else's.
func (p *pack) way() Way {
	b := builder{Way{Kind: Kind(clean(p.Type)), Package: clean(p.Name + " " + p.Version), Inputs: []Input{}}}
	if len(p.Name) > maxValue || len(p.Version) > maxValue {
		b.refuse("the name of the package is too long")
		return b.Way
	}
	base := strings.TrimSuffix(strings.TrimSuffix(p.Base, "/"), "/simple") // PyPI's index is https://pypi.org/simple
	// The URLs of the usual package registries, and the program that runs their packages.
	usual, runner := "", ""
	switch b.Kind {
	case NPM:
		usual, runner = "https://registry.npmjs.org", "npx"
		b.npm(p)
	case PyPI:
		usual, runner = "https://pypi.org", "uvx"
		b.pypi(p)
	case OCI:
		usual, runner = "https://docker.io https://ghcr.io", "docker"
		b.image(p)
	case Remote:
		b.refuse("a package of type remote is unknown")
	default:
		b.refuse("packages of type %q cannot be run from here", b.Kind)
	}
	switch {
	case b.Refused != "":
		return b.Way
	case base != "" && !slices.Contains(strings.Fields(usual), base):
		b.refuse("the package comes from %s, which its program does not ask by itself", clean(base))
	case p.Hint != "" && p.Hint != runner:
		b.refuse("it wants to be run by %q, expected %s", clean(p.Hint), runner)
	case p.Carrier.Type != "" && p.Carrier.Type != "stdio":
		b.refuse("it speaks %s after it was started, expected stdio", clean(p.Carrier.Type))
	case len(p.ForRun) > maxItems || len(p.Args) > maxItems || len(p.Variable) > maxItems:
		b.refuse("it has more than %d arguments or variables", maxItems)
	}
	b.runtime(p.ForRun)
	for i := range p.Args {
		b.argument(&p.Args[i], &b.after, "argument "+strconv.Itoa(i+1))
	}
	for i := range p.Variable {
		b.variable(&p.Variable[i])
	}
	return b.Way
}

func (b *builder) npm(p *pack) {
	if !npmName.MatchString(p.Name) || !npmVersion.MatchString(p.Version) {
		b.refuse("%q is not a package of npm with an exact version", b.Package)
		return // what the registry wrote is shown as it is cleaned
	}
	b.command, b.Package = "npx", p.Name+"@"+p.Version
	b.before = append(b.before, literals("-y")...)
}

func (b *builder) pypi(p *pack) {
	if !pyName.MatchString(p.Name) || !pyVersion.MatchString(p.Version) {
		b.refuse("%q is not a package of PyPI with an exact version", b.Package)
		return
	}
	b.command, b.Package = "uvx", p.Name+"=="+p.Version
}

// image reads NAME, NAME:TAG, NAME@SUM and NAME:TAG@SUM. If the name has neither a tag nor a sum, the version of the
// package is the tag.
func (b *builder) image(p *pack) {
	name, sum, summed := strings.Cut(p.Name, "@")
	tag := ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, tag = name[:i], name[i+1:]
	}
	if tag == "" && !summed {
		tag = p.Version
	}
	b.command, b.Package = "docker", name
	if tag != "" {
		b.Package += ":" + tag
	}
	if summed {
		b.Package += "@" + sum
	}
	if !imageName.MatchString(name) || tag != "" && !imageTag.MatchString(tag) || summed && !imageSum.MatchString(sum) ||
		!summed && (tag == "" || tag == "latest") {
		b.Package = clean(b.Package)
		b.refuse("%q is not an image with an exact version", b.Package)
		return
	}
	b.before = append(b.before, literals("run", "-i", "--rm")...)
}

func literals(texts ...string) (out []part) {
	for _, s := range texts {
		out = append(out, part{pieces: []piece{{text: s}}})
	}
	return out
}

// runtime reads the arguments for the program that runs the package (npx, docker). Such arguments could make it run
// something else, or give a container access to this machine. So it accepts only arguments that are passed anyway,
// environment variables of a container, which [builder.variable] checks, and mounts whose host folder a person gives.
func (b *builder) runtime(args []arg) {
	for i := range args {
		a := &args[i]
		given := ""
		if a.Value != nil {
			given = *a.Value
		}
		word := a.Name
		if a.Type != "named" {
			word = given
		}
		switch {
		case b.Kind == NPM && (word == "-y" || word == "--yes"), b.Kind == OCI && slices.Contains([]string{"run", "-i", "--interactive", "--rm"}, word):
		case b.Kind == OCI && a.Type == "named" && slices.Contains([]string{"-e", "--env"}, word):
			name, value, ok := strings.Cut(given, "=")
			v := *a
			if v.Name = name; ok {
				v.Value = &value
			} else {
				v.Value = nil
			}
			b.variable(&v)
		case b.Kind == OCI && a.Type == "named" && slices.Contains([]string{"-v", "--volume", "--mount"}, word) && asksForSource(word, given, a.Variables):
			b.argument(a, &b.before, "argument of docker")
		default:
			b.refuse("it wants %s to be run with %q, which is not known to be harmless", b.command, clean(strings.TrimSpace(a.Name+" "+given)))
		}
	}
}

// asksForSource reports whether the host folder of a mount is an input, which a person gives. A variable whose value the
// registry gives is not one, and could say more than its place shows.
func asksForSource(flag, value string, variables map[string]arg) bool {
	for _, m := range variableIn.FindAllStringSubmatch(value, -1) {
		if v, known := variables[m[1]]; !known || v.Value != nil {
			return false
		}
	}
	if flag != "--mount" {
		source, _, ok := strings.Cut(value, ":")
		return ok && wholeVariable.MatchString(source)
	}
	sources := 0
	for field := range strings.SplitSeq(value, ",") {
		name, v, _ := strings.Cut(field, "=")
		switch name {
		case "type":
			if v != "bind" {
				return false
			}
		case "src", "source":
			if sources++; !wholeVariable.MatchString(v) {
				return false
			}
		case "dst", "target", "destination", "readonly", "ro":
		default:
			return false
		}
	}
	return sources == 1
}

var (
	wholeVariable = lazyregexp.New(`^\{[A-Za-z0-9_.-]+\}$`)
	variableIn    = lazyregexp.New(`\{([A-Za-z0-9_.-]{1,64})\}`)
	flagName      = lazyregexp.New(`^-{0,2}[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	envName       = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	headerName    = lazyregexp.New(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,128}$`)
	inputKey      = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)
)

// argument adds an argument to a list. place, such as "argument 2", names an input that the registry gives no name.
func (b *builder) argument(a *arg, to *[]part, place string) {
	var out part
	switch a.Type {
	case "named":
		if !flagName.MatchString(a.Name) {
			b.refuse("the name of an argument is %q", clean(a.Name))
			return
		}
		out.name = a.Name
		// An argument without a value and without anything that describes one is a flag.
		if out.flag = a.Value == nil && a.Default == "" && a.Description == "" && !a.Required || a.Value != nil && *a.Value == ""; out.flag {
			*to = append(*to, out)
			return
		}
	case "positional":
	default:
		b.refuse("the type of an argument is %q, expected positional or named", clean(a.Type))
		return
	}
	key := strings.TrimLeft(a.Name, "-")
	if key == "" {
		key = a.Hint
	}
	if !inputKey.MatchString(key) {
		key = strings.ReplaceAll(place, " ", "_")
	}
	if b.fill(&out, a, key, "argument") {
		*to = append(*to, out)
	}
}

// rulingVariable matches environment variables that make programs load other code, fetch code from another place or send
// data elsewhere. A registry must not set them.
var rulingVariable = lazyregexp.New(`(?i)^(PATH|HOME|SHELL|IFS|ENV|BASH_.*|LD_.*|DYLD_.*|NODE_.*|NPM_.*|YARN_.*|PYTHON.*|PIP_.*|UV_.*|VIRTUAL_ENV|` +
	`BUN_.*|DENO_(DIR|CERT|TLS_CA_STORE)|COREPACK_.*|ELECTRON_RUN_AS_NODE|DOCKER_.*|CONTAINER_HOST|GIT_.*|SSH_ASKPASS.*|SSL_.*|SSLKEYLOGFILE|OPENSSL_(CONF|ENGINES|MODULES)|CURL_.*|REQUESTS_CA_BUNDLE|(HTTPS?|ALL|NO|FTP)_PROXY|` +
	`PERL5.*|RUBY.*|GEM_(HOME|PATH)|BUNDLE_(GEMFILE|PATH)|LUA_C?PATH|CLASSPATH|(JAVA|JDK)_.*OPTIONS|_JAVA_OPTIONS|DOTNET_.*|CORECLR_.*|COR_PROFILER.*|GOFLAGS|GOPROXY|RUSTC_.*|CARGO_HOME|GCONV_PATH|GLIBC_.*|` +
	`EDITOR|VISUAL|PAGER|BROWSER|PROMPT_COMMAND|XDG_.*|USERPROFILE|(LOCAL)?APPDATA|COMSPEC|PATHEXT|SYSTEMROOT|WINDIR|PSMODULEPATH|COLLIE_.*)$`)

// variable adds an environment variable.
func (b *builder) variable(a *arg) {
	switch {
	case !envName.MatchString(a.Name):
		b.refuse("the name of a variable is %q", clean(a.Name))
	case rulingVariable.MatchString(a.Name):
		b.refuse("it wants to set %s, which decides what programs do", a.Name)
	default:
		out := part{name: a.Name}
		if b.fill(&out, a, a.Name, "env") {
			b.env = append(b.env, out)
		}
	}
}

// fill reads the value of an argument, a variable, a header or a URL into out, with the inputs in it. It returns false
// if the value was refused.
func (b *builder) fill(out *part, a *arg, key, place string) bool {
	if !b.plain(a) {
		return false
	}
	if a.Value == nil {
		out.pieces, out.optional = []piece{{key: key}}, !a.Required
		b.input(key, place, a)
		return true
	}
	text, at := *a.Value, 0
	for _, loc := range variableIn.FindAllStringSubmatchIndex(text, -1) {
		name := text[loc[2]:loc[3]]
		inner, known := a.Variables[name]
		if !known {
			continue // the format leaves unknown variables as they are
		}
		if !b.plain(&inner) {
			return false
		}
		out.literal(text[at:loc[0]])
		at = loc[1]
		if inner.Value != nil {
			out.literal(*inner.Value)
			continue
		}
		if n := len(out.pieces); n > 0 && strings.HasSuffix(out.pieces[n-1].text, "$") {
			b.refuse("a value holds ${%s}, which would be a variable of the settings", name)
			return false
		}
		out.pieces = append(out.pieces, piece{key: name})
		out.optional = out.optional || !inner.Required
		inner.Secret = inner.Secret || a.Secret
		b.input(name, place, &inner)
	}
	out.literal(text[at:])
	return true
}

// literal appends a literal text. It joins adjacent literals, so that a ${ whose characters come from two of them is
// escaped.
func (p *part) literal(text string) {
	if n := len(p.pieces); n > 0 && p.pieces[n-1].key == "" {
		p.pieces[n-1].text += text
		return
	}
	p.pieces = append(p.pieces, piece{text: text})
}

// plain refuses the way if a text of a cannot be part of an argument, a variable or a header. It reports whether all
// are accepted.
func (b *builder) plain(a *arg) bool {
	texts := append([]string{a.Default, a.Name}, a.Choices...)
	if a.Value != nil {
		texts = append(texts, *a.Value)
	}
	for _, s := range texts {
		if why := wrongText(s); why != "" {
			b.refuse("a value %s", why)
			return false
		}
	}
	if len(a.Choices) > maxItems || len(a.Variables) > maxItems {
		b.refuse("it has more than %d choices or variables", maxItems)
		return false
	}
	return true
}

// wrongText returns what is wrong with a text, as the end of a sentence; empty if it is accepted.
func wrongText(s string) string {
	switch {
	case len(s) > maxValue:
		return fmt.Sprintf("has more than %d bytes", maxValue)
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "holds control characters"
	}
	return ""
}

// input adds the input that a asks for, unless one with its key exists.
func (b *builder) input(key, place string, a *arg) {
	if slices.ContainsFunc(b.Inputs, func(i Input) bool { return i.Key == key }) {
		return
	}
	in := Input{
		Key: key, Place: place, Description: clean(a.Description), Default: a.Default,
		Choices: a.Choices, Required: a.Required, Secret: a.Secret,
	}
	if a.Secret {
		in.Default = ""
	}
	if in.Description == "" {
		in.Description = clean(a.Placeholder)
	}
	b.Inputs = append(b.Inputs, in)
}

// way returns the way to reach a server by its URL.
func (r *remote) way() Way {
	b := builder{Way{Kind: Remote, Package: clean(r.URL), Inputs: []Input{}}}
	switch r.Type {
	case "streamable-http", "http":
	case "sse":
		b.sse = true
	default:
		b.refuse("it speaks %q, expected streamable-http or sse", clean(r.Type))
	}
	if len(r.Headers) > maxItems {
		b.refuse("it has more than %d headers", maxItems)
		return b.Way
	}
	b.fill(&b.url, &arg{Value: &r.URL, Variables: r.Variables}, "url", "url")
	b.url.optional = false // without its URL there is no server
	// [Server.Entry] checks the URL again, with the inputs filled in.
	probe := ""
	for _, p := range b.url.pieces {
		if p.key != "" {
			p.text = "x"
		}
		probe += p.text
	}
	probe = variableIn.ReplaceAllString(probe, "x")
	if why := wrongURL(probe); why != "" {
		b.refuse("%s", why)
	}
	for i := range r.Headers {
		h := &r.Headers[i]
		switch lower := strings.ToLower(h.Name); {
		case !headerName.MatchString(h.Name):
			b.refuse("the name of a header is %q", clean(h.Name))
		case strings.HasPrefix(lower, "mcp-"), strings.HasPrefix(lower, "proxy-"), slices.Contains(strings.Fields(connectionHeaders), lower):
			b.refuse("it wants to set the header %s, which belongs to the connection", h.Name)
		default:
			out := part{name: h.Name}
			if b.fill(&out, h, h.Name, "header") {
				b.headers = append(b.headers, out)
			}
		}
	}
	return b.Way
}

// connectionHeaders are headers that the entry of a server must not set.
const connectionHeaders = "host connection content-length content-type content-encoding transfer-encoding te trailer upgrade accept accept-encoding origin cookie last-event-id"

// wrongURL returns why a URL is refused as the address of a server; empty if it is accepted.
func wrongURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil:
		return fmt.Sprintf("its address is %q, expected an https URL", clean(text))
	case strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > unicode.MaxASCII }):
		// Because such names can look like others, and what a person agrees to is what they see.
		return fmt.Sprintf("its address is %q, expected a host in ASCII, such as xn--fsqu00a.example", clean(text))
	case isLocal(u.Hostname()) || isPrivate(u.Hostname()):
		return fmt.Sprintf("its address is %q, which is on a private network", clean(text))
	}
	return ""
}

// isLocal reports whether a host is this machine, by name or number.
func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isPrivate reports whether a host is an address outside the public network, or a name that only private networks use.
// Unusual forms of numbers that some resolvers accept, such as 0x7f.1, count as private too.
func isPrivate(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return !ip.IsGlobalUnicast() || ip.IsPrivate() || netip.MustParsePrefix("100.64.0.0/10").Contains(ip)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == host || slices.Contains([]string{"local", "internal", "lan", "home", "intranet", "arpa"}, last) || numeric.MatchString(last)
}

// numeric matches the last part of a name that some resolvers read as part of an address.
var numeric = lazyregexp.New(`^(\d+|0x[0-9a-f]*)$`)
