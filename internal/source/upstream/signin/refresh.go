package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"collie/internal/atomicfile"
)

// This file renews access tokens, once for all requests and processes that need one.

// renewal is one attempt to get a newer access token, shared by all requests that need one.
type renewal struct {
	done chan struct{}
	rec  *record // result: signed in, or nil
	err  error
}

var errClosed = errors.New("the session is closed")

// usableRecord returns the record with which to send a request, refreshed if need be; nil if nobody is signed in.
func (s *Session) usableRecord(ctx context.Context) (*record, error) {
	rec, err := s.cachedRecord(ctx)
	if err != nil || !rec.signedIn() {
		return nil, err
	}
	now := s.opts.Now()
	ended := rec.expiresWithin(now, 0)
	switch {
	case !rec.expiresWithin(now, refreshBefore):
		return rec, nil
	case s.server.ClientCredentials: // it can get another one
	case rec.RefreshToken == "" && ended:
		return nil, nil //nolint:nilnil // the server's refusal says what it requires
	case rec.RefreshToken == "":
		return rec, nil
	}
	fresh, err := s.renew(ctx, rec)
	if err != nil && !ended && ctx.Err() == nil {
		s.log.Warn("access token not refreshed, the old one is used while it lasts", "error", err)
		return rec, nil
	}
	return fresh, err
}

// renew returns a record with a different access token than old, which may be nil. It returns nil if it cannot get one.
// Concurrent callers share one renewal. The renewal continues after a caller gives up: if a rotated refresh token were
// not stored, the sign-in would be lost.
func (s *Session) renew(ctx context.Context, old *record) (*record, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	r := s.renewing
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		s.renewing = r
		life, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
		s.wg.Go(func() {
			defer cancel()
			r.rec, r.err = s.renewOnce(life, old)
			s.mu.Lock()
			s.renewing = nil
			s.mu.Unlock()
			close(r.done)
		})
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.rec, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// renewOnce takes over the tokens of another process, or else refreshes.
func (s *Session) renewOnce(ctx context.Context, old *record) (*record, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, s.failed("wait for another process", err)
	}
	defer unlock()
	if err := s.saveRest(ctx); err != nil {
		return nil, err
	}
	rec, err := s.reload(ctx)
	if err != nil || !rec.signedIn() && !s.server.ClientCredentials {
		return nil, err
	}
	now := s.opts.Now()
	news := rec.signedIn() && (old == nil || rec.AccessToken != old.AccessToken)
	switch {
	case news && !rec.expiresWithin(now, refreshBefore):
		return rec, nil
	case s.server.ClientCredentials:
		return s.clientCredentials(ctx, rec, nil)
	case rec.RefreshToken != "":
		return s.refresh(ctx, rec)
	case news && !rec.expiresWithin(now, 0):
		return rec, nil
	}
	return nil, nil //nolint:nilnil // only a person can help
}

// refresh exchanges the refresh token for new tokens, and stores them before they are used. If the server says that the
// refresh token is no longer good, it drops the tokens of old and returns nil.
func (s *Session) refresh(ctx context.Context, old *record) (*record, error) {
	if old.Inside {
		s.guard.trusted.Store(true)
	}
	tok, err := s.exchange(ctx, old, "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", old.RefreshToken))
	rec := *old
	if e, ok := errors.AsType[*oauthError](err); ok && e.isFinal() {
		s.log.Info("the refresh token is not good any more", "error", err)
		rec.AccessToken, rec.RefreshToken = "", ""
		rec.Doubtful = rec.Doubtful || e.clientUnknown()
		if err := s.save(ctx, &rec); err != nil {
			s.log.Warn("the end of the sign-in is not stored", "error", err)
		}
		s.adopt(&rec)
		return nil, nil //nolint:nilnil // only a person can help
	}
	if err != nil {
		return nil, s.failed("refresh the access token", err)
	}
	rec.applyToken(tok, s.opts.Now())
	s.mu.Lock()
	s.unsaved = &rec
	s.mu.Unlock()
	if err := s.saveRest(ctx); err != nil {
		return nil, err
	}
	s.adopt(&rec)
	return &rec, nil
}

// saveRest stores tokens that could not be stored when they came. They are not used before that, and are dropped if
// somebody has signed out or in anew meanwhile.
func (s *Session) saveRest(ctx context.Context) error {
	s.mu.Lock()
	rest := s.unsaved
	s.mu.Unlock()
	if rest == nil {
		return nil
	}
	stored, _, err := s.load(ctx)
	if err == nil && stored != nil && stored.Login == rest.Login {
		err = s.save(ctx, rest)
	}
	if err != nil {
		return s.failed("store the new tokens", err)
	}
	s.mu.Lock()
	s.unsaved = nil
	s.mu.Unlock()
	return nil
}

// exchange sends a request to the token endpoint. An empty code means that params name another grant. x/oauth2 has
// its own refresh, but that cannot name the resource, which MCP requires (RFC 8707); and a parameter without a value
// counts as missing (RFC 6749, section 3.2).
func (s *Session) exchange(ctx context.Context, rec *record, code string, params ...oauth2.AuthCodeOption) (*oauth2.Token, error) {
	if err := s.guard.checkURL("token_endpoint", rec.TokenURL); err != nil {
		return nil, err
	}
	config := oauth2.Config{
		ClientID: rec.ClientID, ClientSecret: rec.secret(),
		Endpoint: oauth2.Endpoint{TokenURL: rec.TokenURL, AuthStyle: rec.authStyle()},
	}
	if code != "" {
		config.RedirectURL = rec.Redirect
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, s.guard.client())
	tok, err := config.Exchange(ctx, code, append(params, oauth2.SetAuthURLParam("resource", rec.Resource))...)
	if err != nil {
		return nil, tokenError(err)
	}
	if !strings.EqualFold(tok.Type(), "bearer") {
		return nil, &oauthError{Code: "token type " + tok.TokenType, Description: "only bearer tokens can be used"}
	}
	return tok, nil
}

// applyToken copies the answer of the token endpoint into r. If it has no refresh token, the old one stays.
func (r *record) applyToken(tok *oauth2.Token, now time.Time) {
	r.AccessToken, r.RefreshToken = tok.AccessToken, tok.RefreshToken
	r.Expiry = tok.Expiry
	if tok.ExpiresIn > 0 {
		r.Expiry = now.Add(time.Duration(tok.ExpiresIn) * time.Second)
	}
	if scope, ok := tok.Extra("scope").(string); ok && scope != "" {
		r.Scopes = scopesOf(scope)
	}
	if id, ok := tok.Extra("id_token").(string); ok {
		if sub := tokenSubject(id); sub != "" {
			r.Subject = sub
		}
	}
}

// tokenSubject returns the subject of an ID token. The signature is not checked: the token came over TLS from the token
// endpoint itself (OpenID Connect Core 1.0, section 3.1.3.7), and the subject only keeps different people's lists
// apart.
func tokenSubject(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if json.Unmarshal(raw, &claims) != nil {
		return ""
	}
	return claims.Subject
}

// lock keeps other processes from changing the tokens of this server. The lock belongs to the URL, because servers of the
// settings with the same URL may share tokens.
func (s *Session) lock(ctx context.Context) (unlock func(), err error) {
	if s.opts.LockDir == "" {
		return func() {}, nil
	}
	return atomicfile.Lock(ctx, filepath.Join(s.opts.LockDir, "signin-"+digest(s.server.URL)+".lock"))
}
