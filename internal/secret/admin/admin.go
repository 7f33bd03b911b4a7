// Package admin lets people set, list and remove named secrets, and resolves references such as ${secret:NAME} in
// settings.
package admin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"collie/internal/config"
	"collie/internal/secret"
	"collie/internal/source/upstream/signin"
)

// Open returns the secrets of the home that cfg belongs to. It does not access the keyring or a file yet. It
// needs no Close.
func Open(cfg *config.Config, log *slog.Logger) (*secret.Store, error) {
	return secret.Open(cfg.Paths.State, secret.Options{Kind: secret.Kind(cfg.Secrets.Store), Logger: log})
}

// lookTime bounds one lookup while settings are read. A keyring may ask a person to unlock it.
const lookTime = 30 * time.Second

// Lookup resolves ${secret:NAME} and ${input:ID} in settings. It opens the store at the first lookup, so that
// settings without such references never touch the keyring. It is safe for concurrent use.
type Lookup struct {
	// Open returns the store; it is opened only once.
	Open func() (*secret.Store, error)

	mu  sync.Mutex
	err error
}

// NewLookup looks in the secrets of the home that cfg belongs to.
func NewLookup(cfg *config.Config) *Lookup {
	return &Lookup{Open: sync.OnceValues(func() (*secret.Store, error) { return Open(cfg, nil) })}
}

// Get returns a secret and whether it exists. A secret that cannot be read counts as missing;
// [Lookup.Problem] then returns the error.
func (l *Lookup) Get(name string) (string, bool) {
	store, err := l.Open()
	if err != nil {
		l.failed(err)
		return "", false
	}
	// The code that reads entries has no context.
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	v, ok, err := store.Get(ctx, name)
	if err != nil {
		l.failed(err)
	}
	return v, ok && err == nil
}

func (l *Lookup) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// Problem returns the first error of a lookup; nil if there was none. A secret that does not exist is not an
// error.
func (l *Lookup) Problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Explain returns err, and says if secrets could not be read, since one that was not found may be set then.
func (l *Lookup) Explain(err error) error {
	if problem := l.Problem(); err != nil && problem != nil {
		return fmt.Errorf("%w (secrets cannot be read: %w)", err, problem)
	}
	return err
}

// CheckName returns why a name is not valid for a person's secret.
func CheckName(name string) error {
	if strings.HasPrefix(name, signin.Prefix) {
		return fmt.Errorf("the name of a secret is %q, expected one that does not begin with %s: those are for sign-ins", name, signin.Prefix)
	}
	return secret.CheckName(name)
}

// Names returns the names of the secrets that people have set, sorted, without the tokens of sign-ins. It
// does not access the keyring.
func Names(ctx context.Context, cfg *config.Config) ([]string, error) {
	store, err := Open(cfg, nil)
	if err != nil {
		return nil, err
	}
	names, err := store.List(ctx)
	out := []string{}
	for _, n := range names {
		if !strings.HasPrefix(n, signin.Prefix) {
			out = append(out, n)
		}
	}
	return out, err
}
