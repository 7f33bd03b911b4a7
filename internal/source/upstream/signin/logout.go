package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"collie/internal/tool"
)

// Logout revokes the server's tokens, if its authorization server supports that (RFC 7009), and deletes them and the
// registered client. If revoked is false, copies of the tokens stay valid until they expire. If nobody is signed in,
// the error has kind [tool.Invalid]. After Logout nothing is stored in any case.
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
	for _, name := range []string{key, s.recordKey(), s.pendingName()} {
		if name != "" {
			err = errors.Join(err, s.store.Delete(ctx, name))
		}
	}
	if err != nil {
		return revoked, s.failed("forget the tokens", err)
	}
	s.mu.Lock()
	s.unsaved, s.challenge, s.needsSignIn = nil, challenge{}, false
	s.mu.Unlock()
	s.adopt(nil)
	if key == "" {
		return false, &tool.Error{Op: "sign out", Kind: tool.Invalid, Subject: s.server.Name, Message: "nobody is signed in there"}
	}
	return revoked, nil
}

// revoke reports whether all tokens were revoked. The refresh token comes first, since most servers end its access
// tokens with it.
func (s *Session) revoke(ctx context.Context, rec *record) bool {
	if rec.Inside {
		s.guard.trusted.Store(true)
	}
	if err := s.guard.checkURL("revocation_endpoint", rec.RevokeURL); err != nil {
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
