package app

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

// OpenSecrets returns the secrets of the home that cfg belongs to. It asks nothing yet: neither
// a keyring nor a file. It needs no Close.
func OpenSecrets(cfg *config.Config, log *slog.Logger) (*secret.Store, error) {
	return secret.Open(cfg.Paths.State, secret.Options{Kind: secret.Kind(cfg.Secrets.Store), Logger: log})
}

// secretTime bounds one look at the secrets while settings are read. A keyring may ask a person
// meanwhile.
const secretTime = 30 * time.Second

// secretLookup looks up what ${secret:NAME} and ${input:ID} in settings stand for. It opens the
// store at the first question, so that settings without such a form touch no keyring.
type secretLookup struct {
	open func() (*secret.Store, error)

	mu  sync.Mutex
	err error
}

func newSecretLookup(cfg *config.Config) *secretLookup {
	return &secretLookup{open: sync.OnceValues(func() (*secret.Store, error) { return OpenSecrets(cfg, nil) })}
}

// get returns a secret and whether there is one. One that cannot be read counts as none; err
// tells.
func (l *secretLookup) get(name string) (string, bool) {
	store, err := l.open()
	if err != nil {
		l.failed(err)
		return "", false
	}
	// The reader of an entry has no context to give.
	ctx, cancel := context.WithTimeout(context.Background(), secretTime)
	defer cancel()
	v, ok, err := store.Get(ctx, name)
	if err != nil {
		l.failed(err)
	}
	return v, ok && err == nil
}

func (l *secretLookup) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// problem is the first error of a look, which says more than that a secret is not set; nil if
// there was none.
func (l *secretLookup) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// CheckSecretName says why a name cannot be that of a person's secret.
func CheckSecretName(name string) error {
	if strings.HasPrefix(name, signin.Prefix) {
		return fmt.Errorf("the name of a secret is %q, expected one that does not begin with %s: those are for sign-ins", name, signin.Prefix)
	}
	return secret.CheckName(name)
}

// SecretNames are the secrets that people have set, sorted; the tokens of sign-ins are left
// out. The keyring is not asked.
func SecretNames(ctx context.Context, cfg *config.Config) ([]string, error) {
	store, err := OpenSecrets(cfg, nil)
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
