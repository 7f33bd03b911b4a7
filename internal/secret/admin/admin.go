// Package admin is what people do with the secrets of a home, and how settings refer to them.
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

// Open returns the secrets of the home that cfg belongs to. It asks nothing yet: neither
// a keyring nor a file. It needs no Close.
func Open(cfg *config.Config, log *slog.Logger) (*secret.Store, error) {
	return secret.Open(cfg.Paths.State, secret.Options{Kind: secret.Kind(cfg.Secrets.Store), Logger: log})
}

// lookTime bounds one look at the secrets while settings are read. A keyring may ask a person
// meanwhile.
const lookTime = 30 * time.Second

// Lookup looks up what ${secret:NAME} and ${input:ID} in settings stand for. It opens the
// store at the first question, so that settings without such a form touch no keyring. It is safe for
// concurrent use.
type Lookup struct {
	// Open returns the store, which is opened once.
	Open func() (*secret.Store, error)

	mu  sync.Mutex
	err error
}

// NewLookup looks in the secrets of the home that cfg belongs to.
func NewLookup(cfg *config.Config) *Lookup {
	return &Lookup{Open: sync.OnceValues(func() (*secret.Store, error) { return Open(cfg, nil) })}
}

// Get returns a secret and whether there is one. One that cannot be read counts as none;
// [Lookup.Problem] tells.
func (l *Lookup) Get(name string) (string, bool) {
	store, err := l.Open()
	if err != nil {
		l.failed(err)
		return "", false
	}
	// The reader of an entry has no context to give.
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

// Problem is the first error of a look, which says more than that a secret is not set; nil if
// there was none.
func (l *Lookup) Problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// CheckName says why a name cannot be that of a person's secret.
func CheckName(name string) error {
	if strings.HasPrefix(name, signin.Prefix) {
		return fmt.Errorf("the name of a secret is %q, expected one that does not begin with %s: those are for sign-ins", name, signin.Prefix)
	}
	return secret.CheckName(name)
}

// Names are the secrets that people have set, sorted; the tokens of sign-ins are left
// out. The keyring is not asked.
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
