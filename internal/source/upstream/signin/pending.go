package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"collie/internal/tool"
)

// This file keeps a sign-in that waits for its answer, which may also be pasted.

// pendingTime is how long [Session.Complete] may be called after a sign-in began.
const pendingTime = 15 * time.Minute

// pending is a sign-in that waits for its answer.
type pending struct {
	Record   record    `json:"record"`
	AuthURL  string    `json:"authUrl"`
	State    string    `json:"state"`
	Verifier string    `json:"verifier"` // of PKCE
	Scopes   []string  `json:"scopes"`
	NamesIss bool      `json:"namesIss"` // the answer must name the issuer (RFC 9207)
	Ends     time.Time `json:"ends"`
}

func newPending(m *oauthex.AuthServerMeta, rec *record, now time.Time) *pending {
	return &pending{
		Record: *rec, AuthURL: m.AuthorizationEndpoint, State: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		NamesIss: m.AuthorizationResponseIssParameterSupported, Ends: now.Add(pendingTime),
	}
}

// address returns where a person signs in.
func (p *pending) address() string {
	config := oauth2.Config{
		ClientID: p.Record.ClientID, RedirectURL: p.Record.Redirect, Scopes: p.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: p.AuthURL},
	}
	params := []oauth2.AuthCodeOption{
		oauth2.S256ChallengeOption(p.Verifier), oauth2.SetAuthURLParam("resource", p.Record.Resource),
	}
	if slices.Contains(p.Scopes, "offline_access") {
		params = append(params, oauth2.ApprovalForce) // OpenID Connect Core 1.0, 11
	}
	return config.AuthCodeURL(p.State, params...)
}

// errBadAnswer says that an answer does not belong to this sign-in: it is dropped, and the wait goes on.
var errBadAnswer = errors.New("that is not the answer to this sign-in")

// answer is the response of the authorization server.
type answer struct {
	values url.Values
	bare   string // a code without its address, pasted by a person
}

// attempt is one answer, and a channel for the result.
type attempt struct {
	answer  answer
	verdict chan error // buffered
}

// parseAnswer parses what a person pasted: an address, its query, or a code alone.
func parseAnswer(text string) answer {
	text = strings.TrimSpace(text)
	query := text
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Host != "" {
		query = u.RawQuery
	} else if !strings.Contains(text, "code=") && !strings.Contains(text, "error=") {
		return answer{bare: text}
	}
	values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
	if err != nil {
		return answer{}
	}
	return answer{values: values}
}

// codeOf checks an answer and returns its code. An answer with a different state is dropped. One that names a different issuer
// fails the sign-in: it may be a mix-up attack, and its code must not be sent to our server (RFC 9207, section 2.4).
func (p *pending) codeOf(a answer) (code string, err error) {
	if a.bare != "" {
		return p.checkBare(a.bare)
	}
	v := a.values
	for _, values := range v {
		if len(values) > 1 {
			return "", fmt.Errorf("%w: a parameter is given twice", errBadAnswer)
		}
	}
	if subtle.ConstantTimeCompare([]byte(v.Get("state")), []byte(p.State)) != 1 {
		return "", fmt.Errorf("%w: its state is another", errBadAnswer)
	}
	iss := v.Get("iss")
	switch {
	case iss == "" && p.NamesIss:
		return "", &tool.Error{Kind: tool.Upstream, Message: "the answer does not name its issuer, though the server says that it does"}
	case iss != "" && iss != p.Record.Issuer:
		return "", &tool.Error{Kind: tool.Upstream, Message: fmt.Sprintf("the answer names the issuer %q, expected %q", quoted(iss), p.Record.Issuer)}
	case v.Get("error") != "":
		return "", &tool.Error{Kind: tool.Denied, Err: &oauthError{Code: v.Get("error"), Description: v.Get("error_description")}}
	case v.Get("code") == "":
		return "", fmt.Errorf("%w: it has no code", errBadAnswer)
	}
	return v.Get("code"), nil
}

// checkBare accepts a code that was copied without its address. Such a code has no state, for which the PKCE verifier
// makes up; it is refused if the answer has to name the issuer.
func (p *pending) checkBare(code string) (string, error) {
	if p.NamesIss || strings.ContainsFunc(code, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%w: paste the whole address of the page the browser ended on", errBadAnswer)
	}
	return code, nil
}

func (s *Session) pendingName() string {
	return Prefix + "pending:" + digest(s.server.Name, s.server.URL, s.server.ClientID)
}

func (s *Session) storePending(ctx context.Context, p *pending) error {
	raw, err := json.Marshal(p)
	if err == nil {
		err = s.store.Set(ctx, s.pendingName(), string(raw))
	}
	if err != nil {
		return s.failed("store the sign-in that waits", err)
	}
	return nil
}

// Complete ends a sign-in that [Session.Login] has begun, perhaps in another process. text is the address at which
// the browser ended, or the code in it.
func (s *Session) Complete(ctx context.Context, text string) error {
	raw, ok, err := s.store.Get(ctx, s.pendingName())
	if err != nil {
		return s.failed("read the sign-in that waits", err)
	}
	var p pending
	if !ok || json.Unmarshal([]byte(raw), &p) != nil || s.opts.Now().After(p.Ends) {
		return &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: s.server.Name, Message: "no sign-in waits for an answer",
			Hint: "collie mcp auth " + s.server.Name + " begins one",
		}
	}
	if p.Record.Inside {
		s.guard.trusted.Store(true)
	}
	err = s.finish(ctx, &p, parseAnswer(text))
	if errors.Is(err, errBadAnswer) {
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: s.server.Name, Err: err, Hint: "paste the whole address of the page the browser ended on"}
	}
	return err
}

// finish exchanges the code of an answer for tokens and stores them.
func (s *Session) finish(ctx context.Context, p *pending, a answer) error {
	code, err := p.codeOf(a)
	if errors.Is(err, errBadAnswer) {
		return err
	}
	if err == nil {
		err = s.exchangeCode(ctx, p, code)
	}
	// A code can be used once, whatever the result.
	if e := s.store.Delete(ctx, s.pendingName()); e != nil && err == nil {
		s.log.Debug("the finished sign-in is still stored", "error", e)
	}
	if err != nil {
		return s.failed("get tokens", err)
	}
	return nil
}

func (s *Session) exchangeCode(ctx context.Context, p *pending, code string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	rec := p.Record
	if rec.ClientID == s.server.ClientID {
		rec.ClientSecret = s.server.ClientSecret
	}
	rec.Scopes = p.Scopes // granted unless the answer says otherwise (RFC 6749, section 5.1)
	tok, err := s.exchange(ctx, &rec, code, oauth2.VerifierOption(p.Verifier))
	if e, ok := errors.AsType[*oauthError](err); ok {
		if e.clientUnknown() {
			s.forgetClient(ctx, rec.key())
		}
		return &tool.Error{Kind: tool.Upstream, Err: e}
	}
	if err != nil {
		return err
	}
	rec.applyToken(tok, s.opts.Now())
	return s.replace(ctx, &rec)
}

// replace stores rec in place of the old record, and makes requests use it. The caller holds the lock against other
// processes; see lock.
func (s *Session) replace(ctx context.Context, rec *record) error {
	_, old, err := s.load(ctx)
	if err != nil {
		return err
	}
	if err := s.save(ctx, rec); err != nil {
		return err
	}
	if old != "" && old != rec.key() {
		if err := s.store.Delete(ctx, old); err != nil {
			s.log.Debug("the former sign-in is still stored", "error", err)
		}
	}
	s.mu.Lock()
	s.unsaved, s.challenge = nil, challenge{}
	s.mu.Unlock()
	s.adopt(rec)
	return nil
}

// completed reports whether another process has ended the sign-in, and with what error; nil if somebody is signed in.
func (s *Session) completed(ctx context.Context, p *pending) (bool, error) {
	waiting, err := s.store.Has(ctx, s.pendingName())
	if err != nil || waiting {
		return false, nil //nolint:nilerr // the next look may tell
	}
	rec, err := s.reload(ctx)
	switch {
	case err != nil:
		return true, err
	case rec.signedIn() && rec.Login == p.Record.Login:
		return true, nil
	}
	return true, &tool.Error{Op: op, Kind: tool.Canceled, Subject: s.server.Name, Message: "the sign-in was ended by another process"}
}
