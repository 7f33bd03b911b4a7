package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// This file registers us at an authorization server and authenticates us there.

// The ways in which a client authenticates at the token endpoint.
const (
	authNone  = "none"
	authBasic = "basic"
	authPost  = "post"
)

var methodNames = map[string]string{
	"none": authNone, "client_secret_basic": authBasic, "client_secret_post": authPost,
}

// authStyle returns ClientAuth for x/oauth2. A client without a secret sends its id in the body.
func (r *record) authStyle() oauth2.AuthStyle {
	if r.ClientAuth == authBasic {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

func (r *record) secret() string {
	if r.ClientAuth == authNone {
		return ""
	}
	return r.ClientSecret
}

// setClientID sets the client id of rec. It uses, in this order: the configured id, the metadata document, the client
// registered at an earlier sign-in, a new registration, and an id that a person enters.
func (s *Session) setClientID(ctx context.Context, m *oauthex.AuthServerMeta, rec, before *record, o *LoginOptions) error {
	methods := m.TokenEndpointAuthMethodsSupported
	switch {
	case s.server.ClientID != "":
		rec.ClientID, rec.ClientSecret = s.server.ClientID, s.server.ClientSecret
		rec.ClientAuth = authWith(methods, rec.ClientSecret)
	case s.server.ClientMetadataURL != "" && m.ClientIDMetadataDocumentSupported:
		rec.ClientID, rec.ClientAuth = s.server.ClientMetadataURL, authNone
	case before.clientReusable(rec, s.opts.Now()):
		rec.ClientID, rec.ClientSecret = before.ClientID, before.ClientSecret
		rec.ClientAuth, rec.ClientEnds, rec.Registered = before.ClientAuth, before.ClientEnds, true
	case m.RegistrationEndpoint != "":
		return s.register(ctx, m, rec)
	case o.AskClient != nil:
		id, secret, err := o.AskClient(ctx, rec.Redirect)
		if err != nil {
			return err
		}
		rec.ClientID, rec.ClientSecret, rec.ClientAuth = id, secret, authWith(methods, secret)
	}
	if rec.ClientID == "" {
		return errNoClient
	}
	return nil
}

// errNoClient says that the authorization server only accepts clients it knows.
var errNoClient = errors.New("the authorization server registers no clients by itself: register Collie there by hand")

// clientReusable reports whether the client of an earlier sign-in can be used again. r may be nil.
func (r *record) clientReusable(now *record, at time.Time) bool {
	return r != nil && r.Registered && !r.Doubtful && r.Issuer == now.Issuer && r.Redirect == now.Redirect &&
		(r.ClientEnds.IsZero() || at.Before(r.ClientEnds))
}

// authWith returns how a client with that secret authenticates at a server that supports these methods. If the server
// lists none, RFC 8414 says client_secret_basic.
func authWith(methods []string, secret string) string {
	switch {
	case secret == "":
		return authNone
	case len(methods) == 0 || slices.Contains(methods, "client_secret_basic"):
		return authBasic
	}
	return authPost
}

// register registers a client at the authorization server (RFC 7591).
func (s *Session) register(ctx context.Context, m *oauthex.AuthServerMeta, rec *record) error {
	method := "none"
	if methods := m.TokenEndpointAuthMethodsSupported; len(methods) > 0 && !slices.Contains(methods, method) {
		i := slices.IndexFunc(methods, func(name string) bool { return methodNames[name] != "" })
		if i < 0 {
			return fmt.Errorf("token_endpoint_auth_methods_supported is %q, expected none, client_secret_basic or client_secret_post in it", methods)
		}
		method = methods[i]
	}
	var status int
	client := s.guard.client()
	client.Transport = statusOf(client.Transport, &status)
	answer, err := oauthex.RegisterClient(ctx, m.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{rec.Redirect}, TokenEndpointAuthMethod: method,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: s.opts.ClientName, ApplicationType: "native",
	}, client)
	if err != nil {
		return registrationError(err, status)
	}
	if got := methodNames[answer.TokenEndpointAuthMethod]; got != "" {
		rec.ClientAuth = got
	} else {
		rec.ClientAuth = methodNames[method]
	}
	if answer.ClientSecret == "" {
		rec.ClientAuth = authNone
	}
	rec.ClientID, rec.ClientSecret, rec.ClientEnds = answer.ClientID, answer.ClientSecret, answer.ClientSecretExpiresAt
	rec.Registered = true
	return nil
}

// registrationError drops the SDK's quotation of the answer, which may hold a new secret.
func registrationError(err error, status int) error {
	if e, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return fmt.Errorf("register as a client: %w", &oauthError{Code: e.ErrorCode, Description: e.ErrorDescription, Status: status})
	}
	if status == 0 {
		return fmt.Errorf("register as a client: %w", err)
	}
	return fmt.Errorf("register as a client: the answer has status %d and cannot be used", status)
}

// statusOf stores the status of each answer in *status.
func statusOf(rt http.RoundTripper, status *int) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := rt.RoundTrip(req)
		if err == nil {
			*status = resp.StatusCode
		}
		return resp, err
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// post sends a form to an endpoint with the client's authentication (RFC 6749, section 2.3.1), and returns the status
// of the answer.
func (s *Session) post(ctx context.Context, rec *record, endpoint string, form url.Values) (int, error) {
	if rec.ClientAuth != authBasic {
		form.Set("client_id", rec.ClientID)
		if secret := rec.secret(); secret != "" {
			form.Set("client_secret", secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if rec.ClientAuth == authBasic {
		req.SetBasicAuth(url.QueryEscape(rec.ClientID), url.QueryEscape(rec.secret()))
	}
	resp, err := s.guard.client().Do(req)
	if err != nil {
		return 0, err
	}
	discard(resp)
	return resp.StatusCode, nil
}
