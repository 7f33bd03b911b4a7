// Package secret stores the named secrets of one home: the values of ${secret:NAME} in the settings, and the
// tokens of servers that a person has signed in to.
//
// They are stored in the keyring of the system under the service "collie", one item per secret. If there is
// no keyring, they are in a file encrypted with age, and the key is in a file beside it. [Open] is the entry
// point; it accesses neither before the first use. The meaning of a secret and the form of its name are up to
// its owner.
//
// The files, all in the folder given to Open and readable by their owner alone:
//
//	secrets.json  which of the two is used, and the names that are in the keyring
//	secrets.age   the secrets, where there is no keyring: JSON, encrypted
//	secrets.key   the age identity that decrypts them; age -d -i secrets.key secrets.age
//
// Whoever can read both of the last two files can read the secrets: encryption protects a backup or a copy of
// only one of them. A keyring protects better.
package secret

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/zalando/go-keyring"

	"collie/internal/atomicfile"
)

// Kind says where secrets are stored.
type Kind string

// The kinds. A [Store] may be opened with any of them; [Store.Kind] returns one of the last two.
const (
	Auto    Kind = "auto"
	Keyring Kind = "keyring"
	File    Kind = "file"
)

// Options are the optional parts of [Open].
type Options struct {
	// Kind selects the place. Empty means Auto: the place that this home already uses, else the keyring if
	// there is one, else the file. The first secret that is set fixes the choice.
	Kind Kind
	// Timeout bounds one access to the keyring, which may ask a person to unlock it; 0 means 20 s. An access
	// cannot be cancelled: until it returns, all others fail.
	Timeout time.Duration
	// Ring is used instead of the system's keyring, if not nil.
	Ring keyring.Keyring
	// Logger is told once which place was chosen and why; nil discards. Values are never logged.
	Logger *slog.Logger
}

// maxName and maxValue bound, in bytes, the name and the value of a secret.
const (
	maxName  = 200
	maxValue = 1 << 20
)

// Store holds the secrets of one home. It is safe for concurrent use, by several processes too: no change of
// one is lost because of another.
type Store struct {
	dir   string
	kind  Kind
	index indexFile
	ring  ringBackend
	file  fileBackend
	log   *slog.Logger

	mu        sync.Mutex
	fixedKind Kind // empty until the first access
}

// Open returns the store in dir, which is created when a secret is set. It reads nothing yet.
func Open(dir string, o Options) (*Store, error) {
	switch o.Kind {
	case "":
		o.Kind = Auto
	case Auto, Keyring, File:
	default:
		return nil, fmt.Errorf("secret store is %q, expected %s, %s or %s", o.Kind, Auto, Keyring, File)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Ring == nil {
		o.Ring = systemKeyring{}
	}
	index := indexFile{atomicfile.File{Path: filepath.Join(dir, "secrets.json")}}
	return &Store{
		dir: dir, kind: o.Kind, index: index, log: o.Logger,
		ring: ringBackend{timedRing{o.Ring, o.Timeout, newTurn()}, index},
		file: fileBackend{
			file:    atomicfile.File{Path: filepath.Join(dir, "secrets.age")},
			keyPath: filepath.Join(dir, "secrets.key"),
		},
	}, nil
}

// Get returns a secret and whether it exists. In the keyring it also finds items that other programs have
// stored under the service "collie".
func (s *Store) Get(ctx context.Context, name string) (value string, ok bool, err error) {
	if err := CheckName(name); err != nil {
		return "", false, err
	}
	b, err := s.backend(ctx)
	if err != nil {
		return "", false, err
	}
	return b.get(ctx, name)
}

// Set stores a secret and replaces an earlier one with that name.
func (s *Store) Set(ctx context.Context, name, value string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("secret %s has %d bytes, expected at most %d", name, len(value), maxValue)
	}
	if err := s.chooseBackend(ctx, name, value); err != nil {
		return err
	}
	b, err := s.backend(ctx)
	if err != nil {
		return err
	}
	return b.set(ctx, name, value)
}

// Delete removes a secret. A missing secret is not an error.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	b, err := s.backend(ctx)
	if err != nil {
		return err
	}
	return b.delete(ctx, name)
}

// List returns the names of all secrets that this program has stored, sorted. It does not access the keyring.
func (s *Store) List(ctx context.Context) ([]string, error) {
	kind, err := s.knownKind()
	switch {
	case err != nil:
		return nil, err
	case kind == File:
		return s.file.names()
	}
	return s.index.names() // empty if no place is chosen yet
}

// Has reports whether this program has stored a secret with that name. It does not access the keyring, so
// that no person is asked to unlock it.
func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	names, err := s.List(ctx)
	_, found := slices.BinarySearch(names, name)
	return found, err
}

// Kind returns where secrets are stored: [Keyring] or [File]. If none is stored yet, it checks whether there
// is a keyring.
func (s *Store) Kind(ctx context.Context) (Kind, error) {
	if kind, err := s.knownKind(); kind != "" || err != nil {
		return kind, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixedKind != "" {
		return s.fixedKind, nil
	}
	kind := Keyring
	if err := s.ring.probe(ctx); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		kind = File
		s.log.Info("no keyring can be used, secrets are kept in a file", "dir", s.dir, "error", err)
	}
	s.fixedKind = kind
	return kind, nil
}

// knownKind returns the kind without accessing the keyring; empty if it is not fixed yet.
func (s *Store) knownKind() (Kind, error) {
	if s.kind != Auto {
		return s.kind, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.index.read()
	if err != nil {
		return "", err
	}
	switch _, err := os.Stat(s.file.file.Path); {
	case x.Kind != "":
		s.fixedKind = x.Kind
	case err == nil: // the index is lost
		s.fixedKind = File
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return s.fixedKind, nil
}

// chooseBackend fixes the choice, before the first secret is stored. The keyring is chosen only if it can
// store that very secret, because some keyrings are read-only in a network login.
func (s *Store) chooseBackend(ctx context.Context, name, value string) error {
	if s.kind != Auto {
		return nil
	}
	if x, err := s.index.read(); err != nil || x.Kind != "" {
		return err
	}
	kind, err := s.Kind(ctx)
	if err != nil {
		return err
	}
	if kind == Keyring {
		if err := s.ring.set(ctx, name, value); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			kind = File
			s.log.Info("the keyring keeps nothing, secrets are kept in a file", "dir", s.dir, "error", err)
		}
	}
	return s.index.update(ctx, func(x *index) error {
		if x.Kind == "" { // otherwise another process has decided
			x.Kind = kind
		}
		return nil
	})
}

func (s *Store) backend(ctx context.Context) (backend, error) {
	kind, err := s.Kind(ctx)
	if err != nil {
		return nil, err
	}
	if kind == File {
		return &s.file, nil
	}
	return &s.ring, nil
}

// backend stores secrets in one place.
type backend interface {
	get(ctx context.Context, name string) (string, bool, error)
	set(ctx context.Context, name, value string) error
	delete(ctx context.Context, name string) error
}

// CheckName returns why a name is not valid: it must be possible to write it between "${secret:" and "}" and
// to read it in a list.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a secret is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name of a secret has %d bytes, expected at most %d", len(name), maxName)
	case strings.ContainsAny(name, "{}$#"):
		return fmt.Errorf("the name of a secret is %q, expected one without { } $ #", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar }):
		return fmt.Errorf("the name of a secret is %q, expected letters and signs without spaces", name)
	}
	return nil
}
