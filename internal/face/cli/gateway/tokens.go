package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/httpserver"
	"collie/internal/face/httpserver/tokens"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// This file decides what the named tokens of a gateway may use, and follows changes of their file.

// muted has the two results of [muted.of] for tokens with a setting of their own: no if answers from their clients confirm
// calls, yes if such answers are ignored. yes must be set to true before use.
type muted struct{ no, yes atomic.Bool }

// of returns whether answers from clients with the key k are ignored. The token of k decides if it has a setting of its
// own; otherwise the result is settings.
func (m *muted) of(k *httpserver.Key, settings *atomic.Bool) *atomic.Bool {
	switch {
	case k.Token == nil || k.Token.ElicitationConfirms == nil:
		return settings
	case *k.Token.ElicitationConfirms:
		return &m.no
	}
	return &m.yes
}

// followTokens accepts the named tokens of this home until ctx ends. Each time it has read them, it calls end with the
// holder of each token that has become invalid, and then ready.
func (s *serving) followTokens(ctx context.Context, ready func(), end func(holder string)) {
	tokens.Watch(ctx, tokens.Path(s.cfg.Paths.State), s.log, func(list []tokens.Token, err error) {
		if err != nil {
			s.log.Error("the named tokens are not read, and none of them counts", "error", err)
			list = nil
		}
		for _, holder := range s.ports.setTokens(list) {
			end(holder)
		}
		ready()
	})
}

// setProfiles stores the names of the profiles in cfg, which requests may name.
func (s *serving) setProfiles(cfg *config.Config) {
	known := app.KnownProfiles(cfg)
	s.known.Store(&known)
}

// profile returns the profile for a request of k that asks for one (empty: for none), or an error that says
// why it is refused.
func (s *serving) profile(k *httpserver.Key, asked string) (string, error) {
	bound := k.Token != nil && k.Token.Profile != ""
	switch {
	case bound && asked != "" && asked != k.Token.Profile:
		return "", &tool.Error{
			Op: "choose profile", Kind: tool.Denied, Subject: asked,
			Message: fmt.Sprintf("the token %s is for profile %s alone", k.Token.Name, k.Token.Profile),
			Hint:    "leave ?profile= out, or use a token for the other profile: collie token add NAME --profile PROFILE",
		}
	case bound:
		asked = k.Token.Profile
	}
	base, _, _ := strings.Cut(asked, "@")
	if known := *s.known.Load(); base != "" && !slices.Contains(known, asked) && !slices.Contains(known, base) {
		return "", &tool.Error{
			Op: "choose profile", Kind: tool.Denied, Subject: asked,
			Message: "there is no such profile", Hint: "leave ?profile= out, or add the profile to the settings",
		}
	}
	return asked, nil
}

// guard refuses requests of browsers, and requests whose named token does not have the scope or the profile. An empty
// scope refuses all named tokens.
func (s *serving) guard(scope tokens.Scope, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k, _ := httpserver.KeyFrom(r.Context())
		if k.Name == httpserver.BrowserKey { // a person at a page is not an MCP client, whatever the page is made to send
			err := &tool.Error{Op: "ask", Kind: tool.Denied, Subject: r.URL.Path, Message: "pages may not use this", Hint: "use a token"}
			web.Refuse(w, http.StatusForbidden, err.Payload())
			return
		}
		if err := s.mayAsk(&k, scope, r); err != nil {
			web.Refuse(w, http.StatusForbidden, err.Payload())
			return
		}
		h.ServeHTTP(w, r)
	})
}

// admit returns why a token may not use a route of the API; nil if it may.
func (s *serving) admit(r *http.Request, class web.Class) error {
	k, _ := httpserver.KeyFrom(r.Context())
	scope := tokens.Tools
	if class == web.ClassChat {
		scope = tokens.Chat
	}
	if err := s.mayAsk(&k, scope, r); err != nil {
		return err
	}
	return nil
}

// mayAsk returns why a request with the key k is refused for lack of the scope or because of its profile; nil if it is not.
func (s *serving) mayAsk(k *httpserver.Key, scope tokens.Scope, r *http.Request) *tool.Error {
	switch t := k.Token; {
	case t == nil && scope == tokens.Chat && !k.Manage:
		return &tool.Error{
			Op: "ask", Kind: tool.Denied, Subject: r.URL.Path, Message: "conversations need a token with the scope chat",
			Hint: "use a token with that scope: collie token add NAME --scope chat",
		}
	case t == nil:
	case scope == "":
		return &tool.Error{
			Op: "ask", Kind: tool.Denied, Subject: r.URL.Path, Message: "named tokens may not use this",
			Hint: "use the first token, which is in the file token of the state folder",
		}
	case !t.May(scope):
		return &tool.Error{
			Op: "ask", Kind: tool.Denied, Subject: r.URL.Path,
			Message: fmt.Sprintf("the token %s has the scope %s, and this needs %s", t.Name, t.ScopeList(), scope),
			Hint:    "use a token with that scope: collie token add NAME --scope " + string(scope),
		}
	}
	asked := []string{""} // the profile that a token is bound to may have been removed
	if r.URL.RawQuery != "" {
		asked = append(asked, r.URL.Query()["profile"]...)
	}
	for _, asked := range asked {
		if _, err := s.profile(k, asked); err != nil {
			e, _ := err.(*tool.Error) //nolint:errorlint // it is made above
			return e
		}
	}
	return nil
}
