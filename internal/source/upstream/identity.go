package upstream

import (
	"context"
	"net/http"
	"os"
	"sync"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/signin"
)

// identity is what makes a server what it is.
func (s *Set) identity(e *entry.Entry) string {
	if s.opts.Portable {
		return e.PortableHash(s.opts.Key)
	}
	return e.ConfigHash(s.opts.Key)
}

// fingerprint tells the files behind the command apart.
func (s *Server) fingerprint() string {
	return s.settings().Fingerprint(s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny, IsDir: s.set.folders.isDir})
}

// folders remembers for a moment which folders there are: all servers of a start ask for the
// same ones.
type folders struct {
	mu    sync.Mutex
	since time.Time
	known map[string]bool
}

// foldersFor is how long that is.
const foldersFor = 2 * time.Second

func (f *folders) isDir(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) > foldersFor {
		f.since, f.known = now, map[string]bool{}
	}
	is, known := f.known[dir]
	if !known {
		info, err := os.Stat(dir)
		is = err == nil && info.IsDir()
		f.known[dir] = is
	}
	return is
}

// principalTime bounds a look at who is signed in: a keyring may be slow.
const principalTime = 2 * time.Second

// principal is a digest of who is signed in at the server; empty if nobody is.
func (s *Server) principal() string {
	session, err := s.signIn()
	if session == nil || err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(s.life.ctx, principalTime)
	defer cancel()
	who, err := session.Principal(ctx)
	if err != nil {
		s.log.Warn("not known who is signed in", "error", err)
	}
	return who
}

// openSignIn makes the OAuth session of a server that OAuth may be for; nil for others.
func (s *Server) openSignIn() (*signin.Session, error) {
	conf := s.settings()
	if s.set.opts.Tokens == nil || conf.Transport == entry.Stdio || NoSignIn(conf) != "" {
		return nil, nil //nolint:nilnil // nobody signs in is an answer
	}
	return SignIn(conf, s.set.opts.Tokens, SignInOptions{LockDir: s.set.opts.LockDir, Logger: s.log})
}

// onceItWorks calls f until it returns no error, and remembers what it returned then: a file that
// is missing may be there the next time.
func onceItWorks[T any](f func() (T, error)) func() (T, error) {
	var mu sync.Mutex
	var done bool
	var v T
	return func() (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return v, nil
		}
		var err error
		v, err = f()
		done = err == nil
		return v, err
	}
}

func (s *Server) closeSignIn() {
	if s.settings().Transport == entry.Stdio {
		return
	}
	if session, err := s.signIn(); session != nil && err == nil {
		if err := session.Close(); err != nil {
			s.log.Debug("sign-in not closed", "error", err)
		}
	}
}

// signedIn puts the sign-in around base, where OAuth is for the server.
func (s *Server) signedIn(base http.RoundTripper) (http.RoundTripper, error) {
	session, err := s.signIn()
	if err != nil || session == nil {
		return base, err
	}
	return session.RoundTripper(base), nil
}
