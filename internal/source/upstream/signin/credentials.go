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

// byItself stands for the person in a record that has none.
const byItself = "client credentials"

// loginByItself gets a new token that covers more, too.
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
	_, err = s.obtain(ctx, before, more)
	return err
}

// obtain trades the client's own id and secret for a token (RFC 6749, section 4.4), and stores it
// before anybody uses it. The documents are read anew each time: a token is got once in its life,
// and the server may have moved to another authorization server since. before, which may be nil,
// is the record of the last token. What waiting does not cure is a [*NeedsAuthError]. No other process
// may be at it meanwhile; see lock.
func (s *Session) obtain(ctx context.Context, before *record, more []string) (*record, error) {
	rec, err := s.token(ctx, before, more)
	if err == nil {
		rec.RefreshToken = "" // there should be none (RFC 6749, section 4.4.3), and the secret does its work
		if err := s.replace(ctx, rec); err != nil {
			return nil, s.failed("store the token", err)
		}
		return rec, nil
	}
	if tool.KindOf(err) == tool.Upstream {
		s.setNeeds(true)
		return nil, &NeedsAuthError{Server: s.server.Name, byItself: true, err: err}
	}
	return nil, err
}

// token gets a token for the client itself.
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
		return nil, s.failed("get a token", upstream(fmt.Errorf(
			"token_endpoint_auth_methods_supported is %q, expected client_secret_basic or client_secret_post in it", methods)))
	}
	rec.Scopes = s.scopes(f, before, more) // granted, unless the answer says otherwise (RFC 6749, section 5.1)
	rec.Wanted = rec.Scopes
	params := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("grant_type", "client_credentials")}
	if len(rec.Scopes) > 0 {
		params = append(params, oauth2.SetAuthURLParam("scope", strings.Join(rec.Scopes, " ")))
	}
	tok, err := s.exchange(ctx, rec, "", params...)
	if e, ok := errors.AsType[*refusal](err); ok && e.final() {
		err = upstream(err)
	}
	if err != nil {
		return nil, s.failed("get a token", err)
	}
	rec.store(tok, s.opts.Now())
	return rec, nil
}

// mayAskForMore reports whether an answer to a request with the token of rec is a 403 that a token
// with more scopes may cure. Only a client that signs in by itself asks for them without a person,
// and only for those that it has not asked for before.
func (s *Session) mayAskForMore(resp *http.Response, rec *record) bool {
	if !s.server.ClientCredentials || !rec.signedIn() || resp.StatusCode != http.StatusForbidden {
		return false
	}
	c := readChallenge(resp.Header)
	asked := union(rec.Scopes, rec.Wanted)
	return c.code == "insufficient_scope" && len(union(asked, c.scopes)) > len(asked)
}
