package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"collie/internal/tool"
)

// Logout revokes the tokens of this server where its authorization server lets one (RFC 7009),
// and forgets them and the registered client. revoked is false where nothing could be revoked:
// tokens that somebody copied are good until they end. The error for a server where nobody is
// signed in is of kind [tool.Invalid]; nothing is stored of it in any case.
func (s *Session) Logout(ctx context.Context) (revoked bool, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return false, s.failed("wait for another process", err)
	}
	defer unlock()
	rec, key, err := s.load(ctx)
	if err != nil {
		return false, s.failed("read the sign-in", err)
	}
	if rec != nil && rec.RevokeURL != "" {
		revoked = s.revoke(ctx, rec)
	}
	for _, name := range []string{key, s.pointer(), s.pendingName()} {
		if name != "" {
			err = errors.Join(err, s.store.Delete(ctx, name))
		}
	}
	if err != nil {
		return revoked, s.failed("forget the tokens", err)
	}
	s.mu.Lock()
	s.unsaved, s.challenge, s.needs = nil, challenge{}, false
	s.mu.Unlock()
	s.adopt(nil)
	if key == "" {
		return false, &tool.Error{Op: "sign out", Kind: tool.Invalid, Subject: s.server.Name, Message: "nobody is signed in there"}
	}
	return revoked, nil
}

// revoke reports whether all tokens were revoked. The refresh token comes first: with it, most
// servers end the access tokens as well.
func (s *Session) revoke(ctx context.Context, rec *record) bool {
	if rec.Inside {
		s.guard.trusted.Store(true)
	}
	if err := s.guard.check("revocation_endpoint", rec.RevokeURL); err != nil {
		s.log.Warn("tokens are not revoked", "error", err)
		return false
	}
	all := true
	for _, t := range []struct{ hint, token string }{{"refresh_token", rec.RefreshToken}, {"access_token", rec.AccessToken}} {
		if t.token == "" {
			continue
		}
		status, err := s.post(ctx, rec, rec.RevokeURL, url.Values{"token": {t.token}, "token_type_hint": {t.hint}})
		if err != nil || status != http.StatusOK {
			s.log.Warn("token is not revoked", "kind", t.hint, "status", status, "error", err)
			all = false
		}
	}
	return all && (rec.RefreshToken != "" || rec.AccessToken != "")
}
