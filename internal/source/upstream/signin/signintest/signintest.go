// Package signintest is an authorization server with one protected MCP server, for tests: real HTTP on 127.0.0.1, and
// as strict as real ones. It shares no code with package signin.
//
// [New] starts both. [Provider.Change] changes their behaviour, and [Provider.Browser] is a person with a browser who
// agrees to everything.
package signintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Behaviour says how the servers behave. The zero value is a correct server with dynamic registration, rotation of
// refresh tokens, and tokens that last an hour.
type Behaviour struct {
	NoResourceMetadata bool   // none in the challenge and none at the well-known places
	SilentChallenge    bool   // WWW-Authenticate names no metadata
	MetadataAt         string // the challenge names this address instead
	Resource           string // in the metadata; empty means the server's URL
	Issuers            []string
	OpenIDOnly         bool   // the metadata is only at OpenID's place
	Issuer             string // in metadata and answers; empty means the true one
	Undocumented       bool   // neither server has metadata; the endpoints are at the root
	NoPKCE             bool   // code_challenge_methods_supported is missing
	CredentialsOnly    bool   // people cannot sign in: no PKCE and no authorization endpoint
	Grants             string // the scope that is granted; empty grants what is asked for
	TokenEndpoint      string // in the metadata
	AuthMethods        []string
	NoRegistration     bool
	ClientDocuments    bool // client_id_metadata_document_supported
	ClientSecret       bool // registration returns a secret, which is then required
	Iss                string
	AnnounceIss        bool
	Deny               bool // the person refuses
	Life               time.Duration
	KeepRefresh        bool // refresh tokens are not rotated
	NoRefresh          bool
	IDToken            string // claims of an ID token
	TokenStatus        int    // the token endpoint fails with this status
	TokenError         string // "error" of its JSON body; empty means plain text
	TokenRedirect      string
	ChallengeScope     string
	ScopesSupported    []string // in the resource's metadata
	ASScopes           []string // in the authorization server's metadata
	NeedScope          string   // requests without this scope get a 403
	NoRevocation       bool
	Pad                int // bytes of white space in metadata documents
}

// Seen counts the requests to the servers.
type Seen struct {
	Registrations, Refreshes, Codes, Credentials, Calls int
	Revoked                                             []string
	Registration                                        map[string]any // body of the last registration
	Authorize                                           url.Values     // last authorization request
	Token                                               url.Values     // last token request
}

// Provider is both servers at one address.
type Provider struct {
	*httptest.Server

	mu       sync.Mutex
	b        Behaviour
	seen     Seen
	clients  map[string]client
	codes    map[string]grant
	access   map[string]grant
	refresh  map[string]grant
	burnt    map[string]bool // refresh tokens that were replaced by rotation
	sequence int
}

type client struct{ secret, redirect string }

type grant struct {
	client, redirect, challenge, resource, scope string
}

// New starts the servers; the end of the test stops them.
func New(t testing.TB, b Behaviour) *Provider {
	t.Helper()
	p := &Provider{
		b: b, clients: map[string]client{}, codes: map[string]grant{},
		access: map[string]grant{}, refresh: map[string]grant{}, burnt: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", p.serveResource)
	mux.HandleFunc("GET /.well-known/oauth-protected-resource", p.serveResourceMetadata)
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", p.serveResourceMetadata)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server/as", p.serveMetadata(false))
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", p.serveMetadata(false))
	mux.HandleFunc("GET /as/.well-known/openid-configuration", p.serveMetadata(true))
	mux.HandleFunc("POST /as/register", p.serveRegister)
	mux.HandleFunc("GET /as/authorize", p.serveAuthorize)
	mux.HandleFunc("POST /as/token", p.serveToken)
	mux.HandleFunc("POST /as/revoke", p.serveRevoke)
	mux.HandleFunc("/", p.serveUndocumented)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// MCP returns the URL of the protected server.
func (p *Provider) MCP() string { return p.URL + "/mcp" }

// TrueIssuer returns the issuer's identifier.
func (p *Provider) TrueIssuer() string { return p.URL + "/as" }

// Change changes the behaviour from now on.
func (p *Provider) Change(edit func(*Behaviour)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	edit(&p.b)
}

// Seen returns the requests so far.
func (p *Provider) Seen() Seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.seen
	out.Revoked = slices.Clone(out.Revoked)
	return out
}

// Register registers a client by hand.
func (p *Provider) Register(id, secret, redirect string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[id] = client{secret, redirect}
}

// ForgetTokens invalidates all access tokens and, if refresh is set, all refresh tokens.
func (p *Provider) ForgetTokens(refresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.access)
	if refresh {
		clear(p.refresh)
	}
}

// ForgetClients deletes all registrations.
func (p *Provider) ForgetClients() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.clients)
}

// Valid reports whether an access token is valid now.
func (p *Provider) Valid(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.access[token]
	return ok
}

// Scope returns the scope of an access token.
func (p *Provider) Scope(token string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.access[token].scope
}

func (p *Provider) serveResource(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Calls++
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g, ok := p.access[token]
	if !ok || g.resource != p.resource() {
		p.refuse(w, http.StatusUnauthorized, "")
		return
	}
	if p.b.NeedScope != "" && !slices.Contains(strings.Fields(g.scope), p.b.NeedScope) {
		p.refuse(w, http.StatusForbidden, p.b.NeedScope)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	writeReply(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{"token": token}})
}

// serveUndocumented serves the default endpoints of MCP 2025-03-26.
func (p *Provider) serveUndocumented(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	serve := map[string]http.HandlerFunc{
		"POST /register": p.serveRegister, "GET /authorize": p.serveAuthorize, "POST /token": p.serveToken,
	}[r.Method+" "+r.URL.Path]
	found := p.b.Undocumented && serve != nil
	p.mu.Unlock()
	if !found {
		http.NotFound(w, r)
		return
	}
	serve(w, r)
}

func (p *Provider) refuse(w http.ResponseWriter, status int, missing string) {
	var params []string
	add := func(name, value string) {
		if value != "" {
			params = append(params, fmt.Sprintf("%s=%q", name, value))
		}
	}
	switch {
	case p.b.NoResourceMetadata || p.b.SilentChallenge || p.b.Undocumented:
	case p.b.MetadataAt != "":
		add("resource_metadata", p.b.MetadataAt)
	default:
		add("resource_metadata", p.URL+"/.well-known/oauth-protected-resource/mcp")
	}
	if missing != "" {
		add("error", "insufficient_scope")
		add("scope", missing)
	} else {
		add("scope", p.b.ChallengeScope)
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(params, ", ")))
	http.Error(w, "refused", status)
}

func (p *Provider) resource() string {
	if p.b.Resource != "" {
		return p.b.Resource
	}
	return p.MCP()
}

func (p *Provider) serveResourceMetadata(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.b.NoResourceMetadata || p.b.Undocumented {
		http.NotFound(w, r)
		return
	}
	issuers := p.b.Issuers
	if issuers == nil {
		issuers = []string{p.TrueIssuer()}
	}
	p.writeDocument(w, map[string]any{
		"resource": p.resource(), "authorization_servers": issuers, "scopes_supported": p.b.ScopesSupported,
	})
}

func (p *Provider) writeDocument(w http.ResponseWriter, doc map[string]any) {
	if p.b.Pad > 0 {
		doc["x-pad"] = strings.Repeat(" ", p.b.Pad)
	}
	writeReply(w, http.StatusOK, doc)
}

func (p *Provider) serveMetadata(openID bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		atRoot := !strings.HasSuffix(r.URL.Path, "/as") && !openID
		if p.b.OpenIDOnly && !openID || atRoot && !p.b.NoResourceMetadata || p.b.Undocumented {
			http.NotFound(w, r)
			return
		}
		issuer := p.TrueIssuer()
		if atRoot {
			issuer = p.URL
		}
		if p.b.Issuer != "" {
			issuer = p.b.Issuer
		}
		doc := map[string]any{
			"issuer": issuer, "authorization_endpoint": p.URL + "/as/authorize", "token_endpoint": p.URL + "/as/token",
			"response_types_supported": []string{"code"}, "jwks_uri": p.URL + "/as/jwks",
			"code_challenge_methods_supported": []string{"plain", "S256"}, "scopes_supported": p.b.ASScopes,
		}
		set := func(on bool, name string, value any) {
			if on {
				doc[name] = value
			}
		}
		set(p.b.TokenEndpoint != "", "token_endpoint", p.b.TokenEndpoint)
		set(!p.b.NoRegistration, "registration_endpoint", p.URL+"/as/register")
		set(!p.b.NoRevocation, "revocation_endpoint", p.URL+"/as/revoke")
		set(p.b.AuthMethods != nil, "token_endpoint_auth_methods_supported", p.b.AuthMethods)
		set(p.b.ClientDocuments, "client_id_metadata_document_supported", true)
		set(p.b.AnnounceIss, "authorization_response_iss_parameter_supported", true)
		if p.b.NoPKCE || p.b.CredentialsOnly {
			delete(doc, "code_challenge_methods_supported")
		}
		if p.b.CredentialsOnly {
			delete(doc, "authorization_endpoint")
		}
		p.writeDocument(w, doc)
	}
}

func (p *Provider) serveRegister(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Registrations++
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		writeReply(w, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	p.seen.Registration = body
	uris, _ := body["redirect_uris"].([]any)
	if len(uris) != 1 || body["application_type"] != "native" {
		writeReply(w, http.StatusBadRequest, map[string]any{"error": "invalid_redirect_uri", "error_description": "a native client has one"})
		return
	}
	c := client{redirect: fmt.Sprint(uris[0])}
	id := p.nextID("client")
	answer := map[string]any{"client_id": id, "redirect_uris": uris, "token_endpoint_auth_method": body["token_endpoint_auth_method"]}
	if p.b.ClientSecret {
		c.secret = p.nextID("client-secret")
		answer["client_secret"] = c.secret
	}
	p.clients[id] = c
	writeReply(w, http.StatusCreated, answer)
}

func (p *Provider) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	p.seen.Authorize = q
	c, known := p.clients[q.Get("client_id")]
	if p.b.ClientDocuments && strings.HasPrefix(q.Get("client_id"), "https://") {
		c, known = client{redirect: q.Get("redirect_uri")}, true
	}
	if !known || c.redirect != q.Get("redirect_uri") {
		http.Error(w, "unknown client or redirect", http.StatusBadRequest) // not redirected, since the address cannot be trusted
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	switch {
	case p.b.Iss != "":
		answer.Set("iss", p.b.Iss)
	case p.b.AnnounceIss:
		answer.Set("iss", p.TrueIssuer())
	}
	switch {
	case p.b.Deny:
		answer.Set("error", "access_denied")
		answer.Set("error_description", "the person\nsaid no")
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" ||
		q.Get("state") == "" || q.Get("resource") != p.resource():
		answer.Set("error", "invalid_request")
	default:
		code := p.nextID("code")
		p.codes[code] = grant{
			client: q.Get("client_id"), redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"),
			resource: q.Get("resource"), scope: q.Get("scope"),
		}
		answer.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (p *Provider) serveToken(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.b.TokenRedirect != "" {
		http.Redirect(w, r, p.b.TokenRedirect, http.StatusTemporaryRedirect)
		return
	}
	if err := r.ParseForm(); err != nil {
		writeReply(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	f := r.PostForm
	p.seen.Token = f
	id, ok := p.authenticate(r)
	switch {
	case p.b.TokenStatus != 0 && p.b.TokenError != "":
		writeReply(w, p.b.TokenStatus, map[string]any{"status": p.b.TokenStatus, "error": p.b.TokenError, "path": r.URL.Path})
		return
	case p.b.TokenStatus != 0:
		http.Error(w, "out of order", p.b.TokenStatus)
		return
	}
	if !ok {
		writeReply(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	var g grant
	switch f.Get("grant_type") {
	case "authorization_code":
		p.seen.Codes++
		g, ok = p.codes[f.Get("code")]
		delete(p.codes, f.Get("code")) // a code is valid once
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		ok = ok && g.redirect == f.Get("redirect_uri") && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
	case "refresh_token":
		p.seen.Refreshes++
		old := f.Get("refresh_token")
		g, ok = p.refresh[old]
		if p.burnt[old] { // used twice, by a thief or in a race: all its tokens end
			clear(p.refresh)
			clear(p.access)
			ok = false
		}
		if ok && !p.b.KeepRefresh {
			delete(p.refresh, old)
			p.burnt[old] = true
		}
	case "client_credentials":
		p.seen.Credentials++
		g = grant{client: id, resource: f.Get("resource"), scope: f.Get("scope")}
		if p.clients[id].secret == "" { // for confidential clients only (RFC 6749, section 4.4)
			writeReply(w, http.StatusBadRequest, map[string]any{"error": "unauthorized_client"})
			return
		}
	default:
		writeReply(w, http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type"})
		return
	}
	if !ok || g.client != id || g.resource != f.Get("resource") {
		writeReply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "not yours"})
		return
	}
	if p.b.Grants != "" {
		g.scope = p.b.Grants
	}
	writeReply(w, http.StatusOK, p.issueTokens(g))
}

// issueTokens issues new tokens for a grant.
func (p *Provider) issueTokens(g grant) map[string]any {
	life := p.b.Life
	if life == 0 {
		life = time.Hour
	}
	access := p.nextID("access")
	p.access[access] = g
	answer := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": int(life.Seconds()), "scope": g.scope}
	if !p.b.NoRefresh && !p.b.KeepRefresh || !p.b.NoRefresh && len(p.refresh) == 0 {
		refresh := p.nextID("refresh")
		p.refresh[refresh] = g
		answer["refresh_token"] = refresh
	}
	if p.b.IDToken != "" {
		part := base64.RawURLEncoding.EncodeToString
		answer["id_token"] = part([]byte(`{"alg":"none"}`)) + "." + part([]byte(p.b.IDToken)) + ".x"
	}
	return answer
}

// authenticate returns the client of a request. One with a secret must send it, in exactly one place.
func (p *Provider) authenticate(r *http.Request) (id string, ok bool) {
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	method := "client_secret_post"
	switch {
	case basic:
		method = "client_secret_basic"
	case secret == "":
		method = "none"
	}
	if p.b.AuthMethods != nil && !slices.Contains(p.b.AuthMethods, method) {
		return id, false
	}
	if p.b.ClientDocuments && strings.HasPrefix(id, "https://") {
		return id, secret == ""
	}
	c, known := p.clients[id]
	return id, known && c.secret == secret
}

func (p *Provider) serveRevoke(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.b.NoRevocation || r.ParseForm() != nil {
		http.NotFound(w, r)
		return
	}
	if _, ok := p.authenticate(r); !ok {
		writeReply(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	token := r.PostForm.Get("token")
	p.seen.Revoked = append(p.seen.Revoked, r.PostForm.Get("token_type_hint"))
	delete(p.access, token)
	delete(p.refresh, token)
	w.WriteHeader(http.StatusOK)
}

// nextID returns a new secret, or a new client id. Secrets contain the word canary, so that tests can search for leaks.
func (p *Provider) nextID(kind string) string {
	p.sequence++
	if kind == "client" {
		return fmt.Sprint("client-", p.sequence)
	}
	return fmt.Sprint("canary-", kind, "-", p.sequence)
}

func writeReply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
