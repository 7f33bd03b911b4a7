package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"collie/internal/tool"
)

// This file signs in a client without a person, by its own id and secret (the grant client_credentials).

// byItself stands in the record's Login for a client that signs in without a person.
const byItself = "client credentials"

// loginByItself gets a new token, with the scopes in more as well.
func (s *Session) loginByItself(ctx context.Context, more []string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return s.failed("wait for another process", err)
	}
	defer unlock()
	before, err := s.reload(ctx)
	if err != nil {
		return err
	}
	_, err = s.clientCredentials(ctx, before, more)
	return err
}

// clientCredentials gets a token for the client's own id and secret (RFC 6749, section 4.4), and stores it before it is
// used. It reads the metadata anew each time, since the server may have moved to another authorization server in the
// meantime. before is the record of the last token and may be nil. An error that waiting does not cure is a
// [*NeedsAuthError]. The caller holds the lock against other processes; see lock.
func (s *Session) clientCredentials(ctx context.Context, before *record, more []string) (*record, error) {
	rec, err := s.token(ctx, before, more)
	if err == nil {
		rec.RefreshToken = "" // there should be none (RFC 6749, section 4.4.3), and the secret replaces it
		if err := s.replace(ctx, rec); err != nil {
			return nil, s.failed("store the token", err)
		}
		return rec, nil
	}
	if tool.KindOf(err) == tool.Upstream { // a final refusal, see token
		s.setNeeds(true)
		return nil, &NeedsAuthError{Server: s.server.Name, byItself: true, err: err}
	}
	return nil, err
}

// token requests a token for the client itself. An error that trying again cannot cure is of kind Upstream.
func (s *Session) token(ctx context.Context, before *record, more []string) (*record, error) {
	f, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	rec := s.newRecord(f)
	rec.ByItself, rec.Login = true, byItself
	rec.ClientID, rec.ClientSecret = s.server.ClientID, s.server.ClientSecret
	methods := f.authority.TokenEndpointAuthMethodsSupported
	rec.ClientAuth = authWith(methods, rec.ClientSecret)
	if rec.ClientAuth == authPost && !slices.Contains(methods, "client_secret_post") {
		return nil, s.failed("get a token", asServerFault(fmt.Errorf(
			"token_endpoint_auth_methods_supported is %q, expected client_secret_basic or client_secret_post in it", methods)))
	}
	rec.Scopes = s.scopes(f, before, more) // granted unless the answer says otherwise (RFC 6749, section 5.1)
	rec.Wanted = rec.Scopes
	params := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("grant_type", "client_credentials")}
	if len(rec.Scopes) > 0 {
		params = append(params, oauth2.SetAuthURLParam("scope", strings.Join(rec.Scopes, " ")))
	}
	tok, err := s.exchange(ctx, rec, "", params...) // no code: params name another grant
	if e, ok := errors.AsType[*oauthError](err); ok && e.isFinal() {
		err = asServerFault(err)
	}
	if err != nil {
		return nil, s.failed("get a token", err)
	}
	rec.applyToken(tok, s.opts.Now())
	return rec, nil
}

// mayAskForMore reports whether resp is a 403 that a token with more scopes may cure. Only a client that signs in by
// itself asks for more without a person, and only for scopes that it has not asked for before.
func (s *Session) mayAskForMore(resp *http.Response, rec *record) bool {
	if !s.server.ClientCredentials || !rec.signedIn() || resp.StatusCode != http.StatusForbidden {
		return false
	}
	c := readChallenge(resp.Header)
	asked := union(rec.Scopes, rec.Wanted)
	return c.code == "insufficient_scope" && len(union(asked, c.scopes)) > len(asked)
}
