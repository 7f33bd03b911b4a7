package httpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"

	"collie/internal/face/httpserver/tokens"
	"collie/internal/tool"
)

// maxSecret bounds a secret in bytes, so that one is hashed without allocating.
const maxSecret = 256

// anonymous is the name of the [Key] that a request gets under [Options.NoAuth].
const anonymous = "anonymous"

// Key is a token with the identity it stands for. Printed or logged it shows no secret.
type Key struct {
	// Name is the principal: "token", "control", "bridge", or "token/NAME" of a named token. Required and unique.
	Name string
	// Secret is 1 to 256 bytes. It is empty in what [KeyFrom] returns.
	Secret string
	// Origin of the calls made with the key. Empty means MCPLocal for a caller on this
	// machine and MCPRemote for any other.
	Origin tool.Origin
	// Manage lets the holder change settings.
	Manage bool
	// Token is the named token that let the request in, in what [KeyFrom] returns; nil for the keys of Options. Shared and not to be
	// changed.
	Token *tokens.Token

	holder string
}

// Holder names who holds a secret: the key, and of a named token the secret too, so that what belongs to one that was
// rotated, or revoked and added again, is nobody's.
func (k Key) Holder() string { return k.holder }

// String shows the key without its secret.
func (k Key) String() string { return "key " + k.Name }

// GoString shows the key without its secret.
func (k Key) GoString() string { return k.String() }

// LogValue shows the key without its secret.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.Name) }

type keyOf struct{}

// KeyFrom returns the key that let a request in, without its secret and with Origin
// filled in. It is false for a context that did not come through a [Server].
func KeyFrom(ctx context.Context) (Key, bool) {
	k, ok := ctx.Value(keyOf{}).(*Key)
	if !ok {
		return Key{}, false
	}
	return *k, true
}

// identity is a key as the server keeps it: what it is for callers here and elsewhere.
type identity struct {
	digest      [sha256.Size]byte
	here, there *Key

	end      func()                   // called when the key counts no more
	afterEnd func(func()) func() bool // runs the function then; nil where the key counts for good
}

func newIdentity(k Key) identity {
	id := identity{digest: sha256.Sum256([]byte(k.Secret))}
	k.Secret, k.holder = "", k.Name
	return id.standFor(k)
}

// ofToken is the identity of a named token.
func ofToken(t *tokens.Token) identity {
	ctx, end := context.WithCancel(context.Background())
	id := identity{digest: t.Digest(), end: end, afterEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
	name := "token/" + t.Name
	return id.standFor(Key{Name: name, Token: t, holder: name + "\x00" + t.SHA256})
}

func (id identity) standFor(k Key) identity {
	here, there := k, k
	if k.Origin == "" {
		here.Origin, there.Origin = tool.MCPLocal, tool.MCPRemote
	}
	id.here, id.there = &here, &there
	return id
}

func (id *identity) key(local bool) *Key {
	if local {
		return id.here
	}
	return id.there
}

type keyring []identity

func newKeyring(keys []Key) (keyring, error) {
	ring := make(keyring, 0, len(keys))
	names := make(map[string]bool, len(keys))
	for _, k := range keys {
		switch {
		case k.Name == "" || k.Name == anonymous || names[k.Name]:
			return nil, &badEntry{"keys", k.Name, "each key needs a name of its own"}
		case k.Secret == "" || len(k.Secret) > maxSecret:
			return nil, &badEntry{"keys", k.Name, fmt.Sprintf("a token has 1 to %d bytes, this one %d", maxSecret, len(k.Secret))}
		}
		id := newIdentity(k)
		if ring.find(k.Secret) != nil {
			return nil, &badEntry{"keys", k.Name, "each key needs a token of its own"}
		}
		names[k.Name] = true
		ring = append(ring, id)
	}
	return ring, nil
}

// find returns the identity of secret, or nil.
func (ring keyring) find(secret string) *identity {
	if secret == "" || len(secret) > maxSecret {
		return nil
	}
	return ring.of(digestOf(secret), nil)
}

func digestOf(secret string) [sha256.Size]byte {
	var buf [maxSecret]byte
	return sha256.Sum256(buf[:copy(buf[:], secret)])
}

// of returns the identity of a digest, or found. Digests are compared, and all of them, so
// that the time tells neither how much of a guess was right nor which key it was near.
func (ring keyring) of(sum [sha256.Size]byte, found *identity) *identity {
	for i := range ring {
		if subtle.ConstantTimeCompare(sum[:], ring[i].digest[:]) == 1 {
			found = &ring[i]
		}
	}
	return found
}
