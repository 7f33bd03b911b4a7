// Package secret keeps the named secrets of one home: what ${secret:NAME} in the settings
// stands for, and the tokens of signed-in servers.
//
// They lie in the keyring of the system under the service "collie", one item a secret, or,
// where there is no keyring, in a file encrypted with age whose key lies beside it. [Open]
// is the entry point; it touches neither before the first question. What a secret is for,
// and what its name may look like to people, is its owner's business.
//
// The files, all in the folder given to Open and readable by their owner alone:
//
//	secrets.json  which of the two is used, and the names that are in the keyring
//	secrets.age   the secrets, where there is no keyring: JSON, encrypted
//	secrets.key   the age identity that decrypts them; age -d -i secrets.key secrets.age
//
// Anybody who may read both of the latter has the secrets: the file protects a backup or a
// copy of one of them, the keyring more.
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

// Kind says where secrets are kept.
type Kind string

// The kinds. A [Store] is opened with any of them and answers with one of the last two.
const (
	Auto    Kind = "auto"
	Keyring Kind = "keyring"
	File    Kind = "file"
)

// Options are the optional parts of [Open].
type Options struct {
	// Kind forces a place. Empty means Auto: the place that this home uses already, else the
	// keyring if there is one, else the file. The first secret that is kept decides for good.
	Kind Kind
	// Timeout bounds one question to the keyring, which may ask a person to unlock it; 0
	// means 20 s. A question cannot be taken back: until it is answered, all others fail.
	Timeout time.Duration
	// Ring is asked instead of the system's keyring.
	Ring keyring.Keyring
	// Logger hears once which place was chosen and why; nil discards. Values are never logged.
	Logger *slog.Logger
}

// maxName and maxValue bound, in bytes, the name and the value of a secret.
const (
	maxName  = 200
	maxValue = 1 << 20
)

// Store holds the secrets of one home. It is safe for concurrent use, and several processes
// may have the same home open: no change of one is lost to another.
type Store struct {
	dir   string
	kind  Kind
	index indexFile
	ring  ringBackend
	file  fileBackend
	log   *slog.Logger

	mu      sync.Mutex
	decided Kind // empty until something was asked
}

// Open returns the store in dir, which is made when something is kept. It reads nothing yet.
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
		o.Ring = system{}
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

// Get returns a secret and whether there is one of that name. Of the keyring, it also finds
// items that other programs have put under the service "collie".
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

// Set keeps a secret, in the place of an earlier one of that name.
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

// Delete removes a secret. It is not an error if there is none of that name.
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

// List returns the names of all secrets that this program has kept, sorted. The keyring is
// not asked for it.
func (s *Store) List(ctx context.Context) ([]string, error) {
	kind, err := s.known()
	switch {
	case err != nil:
		return nil, err
	case kind == File:
		return s.file.names()
	}
	return s.index.names() // none, where nothing is decided yet
}

// Has reports whether this program has kept a secret of that name. The keyring is not asked
// for it, so that it never makes a person unlock something.
func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	names, err := s.List(ctx)
	_, found := slices.BinarySearch(names, name)
	return found, err
}

// Kind returns where secrets are kept: [Keyring] or [File]. Where nothing is kept yet, it
// asks whether there is a keyring.
func (s *Store) Kind(ctx context.Context) (Kind, error) {
	if kind, err := s.known(); kind != "" || err != nil {
		return kind, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decided != "" {
		return s.decided, nil
	}
	kind := Keyring
	if err := s.ring.probe(ctx); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		kind = File
		s.log.Info("no keyring can be used, secrets are kept in a file", "dir", s.dir, "error", err)
	}
	s.decided = kind
	return kind, nil
}

// known is the kind without asking the keyring; empty where nothing is decided.
func (s *Store) known() (Kind, error) {
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
		s.decided = x.Kind
	case err == nil: // the index is lost
		s.decided = File
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return s.decided, nil
}

// chooseBackend decides for good, before the first secret is kept: a keyring counts only if it can
// keep that very secret, since some can only be read over a network login.
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
		if x.Kind == "" { // else another process was first
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

// backend is one place for secrets.
type backend interface {
	get(ctx context.Context, name string) (string, bool, error)
	set(ctx context.Context, name, value string) error
	delete(ctx context.Context, name string) error
}

// CheckName says why a name cannot be that of a secret: it must be possible to write it
// between "${secret:" and "}" and to read it in a list.
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
