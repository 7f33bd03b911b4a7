package mcptest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// This file has the rules of both eras: versions, the handshake, and the metadata of each request.

// modernFrom is the first protocol version without a handshake.
const modernFrom = "2026-07-28"

// legacyVersions are the versions with a handshake, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// acceptedVersions returns the versions that the server accepts in one era, newest first.
func (o *options) acceptedVersions(modern bool) []string {
	var vs []string
	for _, v := range o.versions {
		if (v >= modernFrom) == modern {
			vs = append(vs, v)
		}
	}
	switch {
	case len(vs) > 0:
		return vs
	case modern:
		return []string{modernFrom}
	default:
		return legacyVersions
	}
}

// supportedVersions returns all versions that the server supports.
func (o *options) supportedVersions() []string {
	var vs []string
	if o.modern() {
		vs = append(vs, o.acceptedVersions(true)...)
	}
	if o.legacy() {
		vs = append(vs, o.acceptedVersions(false)...)
	}
	return vs
}

// admitModern checks the per-request metadata (2026-07-28, basic: _meta). If something is wrong, it answers
// the request and returns false.
func (s *server) admitModern(c *call) bool {
	switch {
	case c.method == "initialize":
		// Not required, but it is the only hint that an old client will see.
		s.refuseVersion(c, c.params.Get("protocolVersion").Str)
	case c.header != nil && s.mismatch(c) != "":
		c.refuse(codeHeaderMismatch, "Header mismatch: "+s.mismatch(c), "")
	case c.meta.version == "" || !c.meta.capabilities.IsObject():
		c.refuse(codeInvalidParams, "Missing "+metaVersion+" or "+metaCapabilities+" in _meta", "")
	case !slices.Contains(s.opts.acceptedVersions(true), c.meta.version):
		s.refuseVersion(c, c.meta.version)
	case c.meta.logLevel != "" && !slices.Contains(levels, c.meta.logLevel):
		c.refuse(codeInvalidParams, "Unknown log level "+c.meta.logLevel, "")
	default:
		return true
	}
	return false
}

func (s *server) refuseVersion(c *call, requested string) {
	c.refuse(codeVersion, "Unsupported protocol version",
		`{"supported":`+stringsJSON(s.opts.supportedVersions())+`,"requested":`+quote(requested)+`}`)
}

// admitLegacy refuses requests before the handshake.
func (s *server) admitLegacy(c *call) bool {
	if c.method == "initialize" || c.method == "ping" {
		return true
	}
	if version, _ := c.peer.agreed(); version == "" {
		c.refuse(codeInvalidRequest, "Server not initialized: "+c.method+" came before initialize", "")
		return false
	}
	return true
}

func (s *server) initialize(_ context.Context, c *call) {
	versions := s.opts.acceptedVersions(false)
	version := c.params.Get("protocolVersion").Str
	if !slices.Contains(versions, version) {
		version = versions[0]
	}
	c.peer.setAgreed(version, c.params.Get("capabilities"))
	c.answer(`{"protocolVersion":` + quote(version) + `,"capabilities":` + s.capabilitiesJSON() +
		`,"serverInfo":` + s.infoJSON() + s.instructionsMember() + `}`)
}

func (s *server) discover(_ context.Context, c *call) {
	c.answer(`{"resultType":"complete","supportedVersions":` + stringsJSON(s.opts.supportedVersions()) +
		`,"capabilities":` + s.capabilitiesJSON() + s.instructionsMember() + s.cachingMembers(c) +
		`,"_meta":{"` + metaServerInfo + `":` + s.infoJSON() + `}}`)
}

func (s *server) ping(_ context.Context, c *call) { c.answer(`{}`) }

func (s *server) setLevel(_ context.Context, c *call) {
	if !c.peer.setLevel(c.params.Get("level").Str) {
		c.refuse(codeInvalidParams, "Unknown log level", "")
		return
	}
	c.answer(`{}`)
}

// capabilitiesJSON returns the capabilities object, the same in both eras.
func (s *server) capabilitiesJSON() string {
	all := []struct{ name, value string }{
		{"tools", `{"listChanged":true}`},
		{"resources", `{"subscribe":true,"listChanged":true}`},
		{"prompts", `{"listChanged":true}`},
		{"completions", `{}`},
		{"logging", `{}`},
	}
	var fields []string
	for _, c := range all {
		if s.opts.has(c.name) {
			fields = append(fields, `"`+c.name+`":`+c.value)
		}
	}
	return `{` + strings.Join(fields, ",") + `}`
}

func (s *server) infoJSON() string {
	return `{"name":` + quote(s.opts.name) + `,"version":` + quote(s.opts.version) + `}`
}

// instructionsMember returns the instructions as a further member of an object, "" without any.
func (s *server) instructionsMember() string {
	if s.opts.instructions == "" {
		return ""
	}
	return `,"instructions":` + quote(s.opts.instructions)
}

// cachingMembers returns the caching hints that modern lists and reads must have, as further members; "" in the
// legacy era.
func (s *server) cachingMembers(c *call) string {
	if !c.modern {
		return ""
	}
	return `,"ttlMs":` + strconv.Itoa(s.opts.ttl) + `,"cacheScope":"private"`
}

// stringsJSON returns a JSON array of strings.
func stringsJSON(list []string) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
