package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// This file finds the authorization server of an MCP server.

// resource describes a server as a protected resource (RFC 9728).
type resource struct {
	id      string // identifier that tokens are requested for
	scopes  []string
	issuers []string // its authorization servers
	assumed bool     // no metadata was found: these are the server's own URL and origin
}

// probeRequest is a request that opens no session and changes nothing.
const probeRequest = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// fetchChallenge sends the server one request without a token, to get its challenge. An answer without one gives an
// empty challenge.
func (s *Session) fetchChallenge(ctx context.Context) (challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.origin.String(), strings.NewReader(probeRequest))
	if err != nil {
		return challenge{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := s.guard.client().Do(req)
	if err != nil {
		return challenge{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return challenge{}, nil
	}
	return readChallenge(resp.Header), nil
}

// findResource finds the resource metadata: at the address in the challenge, else at the well-known places. A server
// without metadata is treated by MCP 2025-03-26, where the authorization server has the same origin.
func (s *Session) findResource(ctx context.Context, c challenge) (resource, error) {
	places := resourcePlaces(s.origin)
	if c.metadata != "" {
		places = append([]string{c.metadata}, places...)
	}
	var wrong error
	for _, place := range places {
		r, err := s.readResource(ctx, place)
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return resource{}, context.Cause(ctx)
		case wrong == nil && !errors.Is(err, errNothing):
			wrong = err
		}
	}
	if wrong != nil {
		return resource{}, wrong
	}
	root := url.URL{Scheme: s.origin.Scheme, Host: s.origin.Host}
	return resource{id: s.origin.String(), issuers: []string{root.String()}, assumed: true}, nil
}

// assumedAuthority returns the endpoints of a server that publishes no metadata at all: the default paths at the root
// of its own origin (MCP 2025-03-26, Authorization, Fallbacks for Servers without Metadata Discovery).
func assumedAuthority(root string) *oauthex.AuthServerMeta {
	return &oauthex.AuthServerMeta{
		Issuer: root, AuthorizationEndpoint: root + "/authorize", TokenEndpoint: root + "/token", RegistrationEndpoint: root + "/register",
	}
}

// resourcePlaces returns the well-known places of a resource's metadata: with its path, and at the root.
func resourcePlaces(u *url.URL) []string {
	const known = "/.well-known/oauth-protected-resource"
	root := url.URL{Scheme: u.Scheme, Host: u.Host, Path: known}
	if path := strings.Trim(u.Path, "/"); path != "" {
		full := root
		full.Path += "/" + path
		full.RawQuery = u.RawQuery
		return []string{full.String(), root.String()}
	}
	return []string{root.String()}
}

// errNothing is the error if there is no document at a place.
var errNothing = errors.New("no metadata")

// readResource reads the metadata at place. RFC 9728, section 3.3, and the SDK's reader want the resource to equal
// the server's URL exactly, but many servers name the root of their URL or add a slash. Those are accepted too: the
// origin is the same, so no other host gets the token.
func (s *Session) readResource(ctx context.Context, place string) (resource, error) {
	var m oauthex.ProtectedResourceMetadata
	if err := s.readJSON(ctx, "resource_metadata", place, &m); err != nil {
		return resource{}, err
	}
	if !isParentURL(m.Resource, s.origin) {
		return resource{}, fmt.Errorf("the metadata at %s is for the resource %q, expected %s", place, quoted(m.Resource), s.origin)
	}
	if len(m.AuthorizationServers) == 0 {
		return resource{}, fmt.Errorf("the metadata at %s names no authorization server", place)
	}
	issuers := m.AuthorizationServers[:min(len(m.AuthorizationServers), 8)]
	return resource{id: m.Resource, scopes: cleanScopes(m.ScopesSupported), issuers: issuers}, nil
}

// isParentURL reports whether resource is u or a parent of u.
func isParentURL(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || !sameOrigin(r, u) || r.User != nil || r.Fragment != "" {
		return false
	}
	path := strings.TrimSuffix(r.Path, "/")
	return path == "" || u.Path == path || strings.HasPrefix(u.Path, path+"/")
}

// readJSON reads a JSON document at place, which the metadata names in field, into v. A missing document is errNothing.
func (s *Session) readJSON(ctx context.Context, field, place string, v any) error {
	if err := s.guard.checkURL(field, place); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.guard.client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return errNothing
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with status %d", place, resp.StatusCode)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s holds no JSON object: %w", place, errNothing) // usually a web page
	}
	return nil
}

// findAuthority reads the metadata of the first issuer that has any.
func (s *Session) findAuthority(ctx context.Context, issuers []string) (*oauthex.AuthServerMeta, error) {
	var wrong error
	for _, issuer := range issuers {
		m, err := s.readAuthority(ctx, issuer)
		if err == nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		wrong = errors.Join(wrong, err)
	}
	return nil, wrong
}

// readAuthority reads and checks the metadata of an authorization server, at the first place that has any.
func (s *Session) readAuthority(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	if err := s.guard.checkURL("issuer", issuer); err != nil {
		return nil, err
	}
	var wrong error
	for _, place := range authorityPlaces(issuer) {
		m, err := s.readAuthorityAt(ctx, place, issuer)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			wrong = errors.Join(wrong, errors.New(quoted(err.Error())))
		case m != nil:
			return m, s.checkAuthority(m)
		}
	}
	if wrong == nil {
		wrong = errNothing
	}
	return nil, fmt.Errorf("authorization server %s: %w", quoted(issuer), wrong)
}

// readAuthorityAt reads the metadata at one place; nil if there is none. The SDK's reader refuses a server without
// PKCE, so it is not used for a client that signs in by itself, which needs no PKCE.
func (s *Session) readAuthorityAt(ctx context.Context, place, issuer string) (*oauthex.AuthServerMeta, error) {
	if !s.server.ClientCredentials {
		return oauthex.GetAuthServerMeta(ctx, place, issuer, s.guard.client())
	}
	var m oauthex.AuthServerMeta
	if err := s.readJSON(ctx, "issuer", place, &m); errors.Is(err, errNothing) {
		return nil, nil //nolint:nilnil // as the SDK's reader has it
	} else if err != nil {
		return nil, err
	}
	if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") { // RFC 8414, section 3.3
		return nil, fmt.Errorf("the metadata at %s is of the issuer %q, expected %q", place, m.Issuer, issuer)
	}
	return &m, nil
}

// authorityPlaces returns the places of an authorization server's metadata (RFC 8414, section 3.1; OpenID Connect
// Discovery 1.0, section 4), in the order of the MCP specification.
func authorityPlaces(issuer string) []string {
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	root := url.URL{Scheme: u.Scheme, Host: u.Host}
	base, path := root.String(), strings.TrimRight(u.EscapedPath(), "/")
	if path == "" {
		return []string{base + oauth, base + openID}
	}
	return []string{base + oauth + path, base + openID + path, base + path + openID}
}

// checkAuthority returns why an authorization server cannot be used.
func (s *Session) checkAuthority(m *oauthex.AuthServerMeta) error {
	for _, u := range []struct {
		field, value string
		needed       bool
	}{
		{"authorization_endpoint", m.AuthorizationEndpoint, !s.server.ClientCredentials},
		{"token_endpoint", m.TokenEndpoint, true},
		{"registration_endpoint", m.RegistrationEndpoint, false},
		{"revocation_endpoint", m.RevocationEndpoint, false},
	} {
		if u.value == "" && !u.needed {
			continue
		}
		if err := s.guard.checkURL(u.field, u.value); err != nil {
			return err
		}
	}
	if !s.server.ClientCredentials && !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return fmt.Errorf("code_challenge_methods_supported is %q, expected S256 in it", m.CodeChallengeMethodsSupported)
	}
	return nil
}
