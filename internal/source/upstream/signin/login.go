package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"collie/internal/tool"
)

// This file signs a person in: it sends the browser to the authorization server and waits for the answer.

// loginTime bounds the wait for a person at the authorization server.
const loginTime = 5 * time.Minute

// LoginOptions says how [Session.Login] reaches a person. Each function may be nil, but OpenBrowser or ShowURL has to
// show the address.
type LoginOptions struct {
	// OpenBrowser opens an address.
	OpenBrowser func(ctx context.Context, address string) error
	// ShowURL shows the address; opened says whether OpenBrowser has opened it.
	ShowURL func(address string, opened bool)
	// Answer returns what a person pastes: the address at which the browser ended, or the code in it. problem says
	// what was wrong with the previous answer; it is empty the first time. Answer returns when ctx ends; after an
	// error it is not called again.
	Answer func(ctx context.Context, problem string) (string, error)
	// AskClient returns id and secret of a client that a person has registered by hand with that redirect URI, for
	// servers without dynamic registration. The secret may be empty.
	AskClient func(ctx context.Context, redirect string) (id, secret string, err error)
	// Scopes are asked for in addition to the others.
	Scopes []string
}

// Login signs a person in. It finds the authorization server, sends the person there and waits up to [loginTime] for
// an answer: the browser's return to 127.0.0.1, [Session.Complete] in another process, or a pasted text. With
// [Server.ClientCredentials] it gets a new token and asks nobody. All changes are stored when it returns nil.
func (s *Session) Login(ctx context.Context, o LoginOptions) error {
	if s.origin == nil {
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: s.server.Name, Message: "only servers with an http or https URL have a sign-in"}
	}
	if s.server.ClientCredentials {
		return s.loginByItself(ctx, o.Scopes)
	}
	before, err := s.reload(ctx)
	if err != nil {
		return err
	}
	listener, err := s.listen(ctx, before)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := s.begin(ctx, before, redirectURI(listener), &o)
	if err != nil {
		return err
	}
	address := p.address()
	opened := o.OpenBrowser != nil && o.OpenBrowser(ctx, address) == nil
	if o.ShowURL != nil {
		o.ShowURL(address, opened)
	}
	return s.await(ctx, p, listener, o.Answer)
}

// begin prepares a sign-in and stores it for [Session.Complete].
func (s *Session) begin(ctx context.Context, before *record, redirect string, o *LoginOptions) (*pending, error) {
	f, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	rec := s.newRecord(f)
	rec.Redirect, rec.Login = redirect, rand.Text()
	if err := s.setClientID(ctx, f.authority, rec, before, o); err != nil {
		if f.assumed != nil && ctx.Err() == nil {
			return nil, f.assumed // an assumed server has no clients registered by hand
		}
		return nil, s.noClient(redirect, err)
	}
	p := newPending(f.authority, rec, s.opts.Now())
	p.Scopes = s.scopes(f, before, o.Scopes)
	if slices.Contains(f.authority.ScopesSupported, "offline_access") {
		p.Scopes = union(p.Scopes, []string{"offline_access"}) // some servers give a refresh token only for this scope
	}
	return p, s.storePending(ctx, p)
}

// discovered holds the metadata documents of a server and its authorization server.
type discovered struct {
	challenge challenge
	resource  resource
	authority *oauthex.AuthServerMeta
	wanted    []string // scopes named by a refusal earlier in this process
	assumed   error    // set if authority is only assumed: there are no documents
}

// discover follows the server's challenge to its authorization server.
func (s *Session) discover(ctx context.Context) (*discovered, error) {
	c, err := s.fetchChallenge(ctx)
	if err != nil {
		return nil, s.failed("reach the server", err)
	}
	f := &discovered{challenge: c}
	s.mu.Lock()
	if f.challenge.metadata == "" {
		f.challenge.metadata = s.challenge.metadata
	}
	f.wanted = s.challenge.scopes
	s.mu.Unlock()
	f.resource, err = s.findResource(ctx, f.challenge)
	if err != nil {
		return nil, s.failed("read the resource metadata", asServerFault(err))
	}
	f.authority, err = s.findAuthority(ctx, f.resource.issuers)
	if errors.Is(err, errNothing) {
		err = &tool.Error{
			Op: op, Kind: tool.Upstream, Subject: s.server.Name, Message: "the server offers no OAuth", Err: err,
			Hint: "if it wants a key, put it into the server's headers: \"Authorization\": \"Bearer ${secret:NAME}\"",
		}
		if !f.resource.assumed || s.server.ClientCredentials {
			return nil, err
		}
		f.authority, f.assumed = assumedAuthority(f.resource.issuers[0]), err
		return f, nil
	}
	if err != nil {
		return nil, s.failed("read the authorization server's metadata", asServerFault(err))
	}
	return f, nil
}

// newRecord returns the record for a new sign-in.
func (s *Session) newRecord(f *discovered) *record {
	return &record{
		Issuer: f.authority.Issuer, Resource: f.resource.id, Inside: s.guard.isPrivate(),
		TokenURL: f.authority.TokenEndpoint, RevokeURL: f.authority.RevocationEndpoint,
	}
}

// scopes returns the scopes to ask for: the configured ones, else those of the challenge, else those of the resource
// (MCP authorization, Scope Selection Strategy). It adds the scopes that were granted and wanted before, so that
// asking for more takes nothing away.
func (s *Session) scopes(f *discovered, before *record, more []string) []string {
	base := s.server.Scopes
	if len(base) == 0 {
		base = f.challenge.scopes
	}
	if len(base) == 0 {
		base = f.resource.scopes
	}
	if before != nil && before.Resource == f.resource.id {
		base = union(base, before.Scopes, before.Wanted)
	}
	return cleanScopes(union(base, f.wanted, more))
}

// noClient returns the error for a missing client id, with what a person can do.
func (s *Session) noClient(redirect string, err error) error {
	e := &tool.Error{Op: op, Kind: tool.Upstream, Subject: s.server.Name, Message: "no client id", Err: err}
	if errors.Is(err, errNoClient) {
		e.Kind, e.Message = tool.Invalid, ""
		e.Hint = "register a client there with the redirect URI " + withoutPort(redirect) +
			" and set auth.clientId of the server (auth.redirectPort fixes the port)"
	}
	return e
}

func withoutPort(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return redirect
	}
	u.Host = u.Hostname()
	return u.String()
}

// asServerFault marks an error in a server's documents as the server's fault. It returns a network error as it is.
func asServerFault(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return err // a network error
	}
	return &tool.Error{Kind: tool.Upstream, Err: err}
}

// callbackPath is the path to which the browser returns.
const callbackPath = "/callback"

// listen opens the port of the callback: the configured one, else the one for which our client was registered, else
// any.
func (s *Session) listen(ctx context.Context, before *record) (net.Listener, error) {
	var config net.ListenConfig
	port := s.server.RedirectPort
	if port == 0 && before != nil && before.Registered {
		if u, err := url.Parse(before.Redirect); err == nil {
			if l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", u.Port())); err == nil {
				return l, nil
			}
		}
	}
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: s.server.Name, Message: "the callback cannot listen", Err: err,
			Hint: "is another sign-in waiting? else change auth.redirectPort",
		}
	}
	return l, nil
}

func redirectURI(l net.Listener) string { return "http://" + l.Addr().String() + callbackPath }

// await waits for an answer from any of the sources and completes the sign-in with it.
func (s *Session) await(ctx context.Context, p *pending, l net.Listener, person func(context.Context, string) (string, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, errLoginTime)
	defer cancel()
	answers := make(chan attempt)
	callback := serveCallback(l, answers)
	defer callback.close()
	var asking sync.WaitGroup
	defer asking.Wait() // before the callback closes; cancel has run
	defer cancel()
	if person != nil {
		asking.Go(func() { askPerson(ctx, person, answers) })
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case a := <-answers:
			err := s.finish(ctx, p, a.answer)
			a.verdict <- err
			if !errors.Is(err, errBadAnswer) {
				return err
			}
		case <-look.C:
			if done, err := s.completed(ctx, p); done {
				return err
			}
		case <-ctx.Done():
			return s.gaveUp(ctx, p)
		}
	}
}

var errLoginTime = errors.New("no sign-in within " + loginTime.String())

// gaveUp returns the error for a sign-in without an answer. The reason may be an earlier registration: a server that
// has forgotten our client says so only in the browser.
func (s *Session) gaveUp(ctx context.Context, p *pending) error {
	err := context.Cause(ctx)
	if !errors.Is(err, errLoginTime) {
		return err
	}
	if p.Record.Registered {
		ctx := context.WithoutCancel(ctx)
		if unlock, err := s.lock(ctx); err == nil {
			s.forgetClient(ctx, p.Record.key())
			unlock()
		}
	}
	return &tool.Error{
		Op: op, Kind: tool.Timeout, Subject: s.server.Name, Err: err,
		Hint: "try again; if the browser is on another machine: collie mcp auth " + s.server.Name + " --code URL_OR_CODE",
	}
}

// forgetClient makes the next sign-in register a new client. The caller holds the lock against other processes; see
// lock.
func (s *Session) forgetClient(ctx context.Context, key string) {
	rec, have, err := s.load(ctx)
	if err != nil || rec == nil || have != key {
		return
	}
	rec.Doubtful = true
	if err := s.save(ctx, rec); err != nil {
		s.log.Debug("doubt about the client is not stored", "error", err)
	}
}

// askPerson accepts answers that the person pastes, as well as those of the browser, until one is valid.
func askPerson(ctx context.Context, person func(context.Context, string) (string, error), answers chan<- attempt) {
	problem := ""
	for {
		text, err := person(ctx, problem)
		if err != nil {
			return // the browser may still answer
		}
		a := attempt{parseAnswer(text), make(chan error, 1)}
		select {
		case answers <- a:
		case <-ctx.Done():
			return
		}
		if err := <-a.verdict; err != nil {
			problem = err.Error()
			continue
		}
		return
	}
}
