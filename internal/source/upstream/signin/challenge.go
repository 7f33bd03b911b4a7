package signin

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// challenge holds the Bearer parameters of a WWW-Authenticate field (RFC 6750, RFC 9728).
type challenge struct {
	metadata string // URL of the resource metadata
	scopes   []string
	code     string // such as insufficient_scope
}

const (
	// maxScopes bounds how many scopes a server can make us ask for.
	maxScopes = 100
	// maxChallenge bounds the fields in bytes, since the parser takes time quadratic in their length.
	maxChallenge = 8 << 10
)

// readChallenge parses the WWW-Authenticate fields of a refusal. It ignores what it cannot parse.
func readChallenge(h http.Header) challenge {
	fields := h.Values("WWW-Authenticate")
	if len(strings.Join(fields, "")) > maxChallenge {
		return challenge{}
	}
	all, err := oauthex.ParseWWWAuthenticate(fields)
	if err != nil {
		return challenge{}
	}
	var out challenge
	for _, c := range all {
		if c.Scheme != "bearer" {
			continue
		}
		if out.metadata == "" {
			out.metadata = c.Params["resource_metadata"]
		}
		if out.scopes == nil {
			out.scopes = scopesOf(c.Params["scope"])
		}
		if out.code == "" {
			out.code = c.Params["error"]
		}
	}
	return out
}

// scopesOf splits a list of scopes and drops invalid ones (RFC 6749, section 3.3).
func scopesOf(text string) []string { return cleanScopes(strings.Fields(text)) }

func cleanScopes(scopes []string) []string {
	var out []string
	for _, scope := range scopes {
		bad := strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' })
		if scope != "" && !bad && len(out) < maxScopes {
			out = append(out, scope)
		}
	}
	return union(out)
}
