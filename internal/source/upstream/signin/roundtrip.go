package signin

import (
	"context"
	"io"
	"net/http"
	"slices"
)

// This file adds the access token to requests, and renews it when a server refuses it.

// drainLimit is how much of an unwanted answer is read so that its connection can be reused, in bytes.
const drainLimit = 64 << 10

// RoundTripper returns base with the sign-in added. Requests that have an Authorization field, and those to another
// origin than the server's, pass unchanged.
//
// After a 401 it sends the request once more if a stored or refreshed token may help and the body can be sent again.
// Otherwise it returns the 401, and [Session.NeedsAuth] is true from then on. After a 403 with insufficient_scope it does
// so with a token that another process has stored; otherwise that becomes a [*NeedsAuthError], since only a person can
// grant more. If a token cannot be had, the error is a tool.Error and the request was not sent.
//
// With [Server.ClientCredentials] the second try has a new token. A 403 then gets a token with the scopes that it
// names, the first time it names them.
func (s *Session) RoundTripper(base http.RoundTripper) http.RoundTripper {
	return &transport{s, base}
}

type transport struct {
	session *Session
	base    http.RoundTripper
}

// RoundTrip sends one request; see [Session.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	s := t.session
	if len(req.Header["Authorization"]) > 0 || !sameOrigin(req.URL, s.origin) {
		return t.base.RoundTrip(req)
	}
	rec, err := s.usableRecord(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	for tried := 0; ; tried++ {
		resp, err := t.send(req, rec)
		if err != nil || !s.tokenMayHelp(resp, rec, tried) {
			return s.answerOrError(req.Context(), resp, rec, err)
		}
		s.remember(resp)
		again, ok := replay(req)
		better, err := s.betterRecord(req.Context(), resp, rec)
		switch {
		case err != nil:
			discard(resp)
			closeBody(again)
			return nil, err
		case better == nil:
			closeBody(again)
			return s.answerOrError(req.Context(), resp, rec, nil)
		case !ok:
			return resp, nil // the next request uses the better token
		}
		discard(resp)
		req, rec = again, better
	}
}

// tokenMayHelp reports whether another token may help after resp, which answered a request with rec's token; tried
// counts the earlier tries. It may once after a 401, once if a person's sign-in lacks scopes, and once more if a client
// that signs in by itself lacks them.
func (s *Session) tokenMayHelp(resp *http.Response, rec *record, tried int) bool {
	return tried == 0 && (resp.StatusCode == http.StatusUnauthorized || s.mayHaveMore(resp, rec)) || tried < 2 && s.mayAskForMore(resp, rec)
}

// mayHaveMore reports whether resp is a 403 for which a person may have granted more scopes in another process.
func (s *Session) mayHaveMore(resp *http.Response, rec *record) bool {
	return !s.server.ClientCredentials && rec.signedIn() && resp.StatusCode == http.StatusForbidden &&
		readChallenge(resp.Header).code == "insufficient_scope"
}

// betterRecord returns a record with another token than rec, which resp refused; nil if there is none.
func (s *Session) betterRecord(ctx context.Context, resp *http.Response, rec *record) (*record, error) {
	if !s.mayHaveMore(resp, rec) {
		return s.renew(ctx, rec)
	}
	stored, err := s.reload(ctx)
	if err != nil || !stored.signedIn() || stored.AccessToken == rec.AccessToken {
		return nil, nil //nolint:nilerr,nilnil // the refusal says what a person can do
	}
	return stored, nil
}

// send sends req with rec's token, if it has one.
func (t *transport) send(req *http.Request, rec *record) (*http.Response, error) {
	if !rec.signedIn() {
		return t.base.RoundTrip(req)
	}
	signed := *req
	signed.Header = req.Header.Clone()
	if signed.Header == nil {
		signed.Header = http.Header{}
	}
	signed.Header.Set("Authorization", "Bearer "+rec.AccessToken)
	return t.base.RoundTrip(&signed)
}

// replay returns a copy of req that can be sent again, if there can be one.
func replay(req *http.Request) (*http.Request, bool) {
	again := *req
	if req.Body == nil || req.Body == http.NoBody {
		return &again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return &again, true
}

// answerOrError turns the last answer to a request into the result.
func (s *Session) answerOrError(ctx context.Context, resp *http.Response, rec *record, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		s.remember(resp)
		s.setNeeds(true)
		return resp, nil
	case http.StatusForbidden:
		c := readChallenge(resp.Header)
		if c.code != "insufficient_scope" {
			return resp, nil
		}
		s.remember(resp)
		discard(resp)
		return nil, s.stepUp(ctx, rec, c.scopes)
	}
	if rec.signedIn() || resp.StatusCode < 400 {
		s.setNeeds(false)
	}
	return resp, nil
}

// stepUp stores the scopes that the server wants, for a sign-in that a person starts later, perhaps in another
// process.
func (s *Session) stepUp(ctx context.Context, rec *record, scopes []string) error {
	if rec == nil {
		return &NeedsAuthError{Server: s.server.Name, Scopes: scopes}
	}
	missing := &NeedsAuthError{Server: s.server.Name, Scopes: union(rec.Scopes, rec.Wanted, scopes), byItself: rec.ByItself}
	if len(union(rec.Wanted, scopes)) == len(rec.Wanted) {
		return missing
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return missing
	}
	defer unlock()
	now, err := s.reload(ctx)
	if err != nil || now == nil {
		return missing
	}
	wants := *now
	wants.Wanted = cleanScopes(slices.Concat(now.Wanted, scopes))
	if err := s.save(ctx, &wants); err != nil {
		s.log.Warn("the missing scopes are not stored", "error", err)
	}
	s.adopt(&wants)
	return missing
}

// remember keeps the challenge of a refusal for [Session.Login].
func (s *Session) remember(resp *http.Response) {
	c := readChallenge(resp.Header)
	s.mu.Lock()
	s.challenge = c
	s.mu.Unlock()
}

func (s *Session) setNeeds(needs bool) {
	s.mu.Lock()
	s.needsSignIn = needs
	s.mu.Unlock()
}

func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, drainLimit)
	_ = resp.Body.Close()
}

// closeBody closes the body of a request that is not sent; req may be nil.
func closeBody(req *http.Request) {
	if req != nil && req.Body != nil {
		_ = req.Body.Close()
	}
}
