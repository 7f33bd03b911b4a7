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

// This file has the identity behind a request: the key, without its secret, that handlers get.

// maxSecret is the maximum length of a secret in bytes, so that hashing one does not allocate.
const maxSecret = 256

// anonymous is the name of the [Key] of a request without a token under [Options.NoAuth].
const anonymous = "anonymous"

// Key is a token with the identity it stands for. Printing or logging a Key shows no secret.
type Key struct {
	// Name is the principal: "token", "control", "bridge", or "token/NAME" for a named token. It is required
	// and unique.
	Name string
	// Secret has 1 to 256 bytes. It is empty in the Key that [KeyFrom] returns.
	Secret string
	// Origin is the origin of calls made with the key. Empty means MCPLocal for callers on this machine and
	// MCPRemote for others.
	Origin tool.Origin
	// Manage allows the holder to change settings.
	Manage bool
	// Token is the named token of the request, in the Key that [KeyFrom] returns; nil for the keys of
	// Options. It is shared and must not be changed.
	Token *tokens.Token

	holder string
}

// Holder identifies who holds the secret: the key and, for a named token, the secret too. So after a token
// was rotated, or revoked and added again, the new holder does not get what belongs to the old one.
func (k Key) Holder() string { return k.holder }

// String shows the key without its secret.
func (k Key) String() string { return "key " + k.Name }

// GoString shows the key without its secret.
func (k Key) GoString() string { return k.String() }

// LogValue shows the key without its secret.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.Name) }

type keyOf struct{}

// KeyFrom returns the key of a request, without its secret and with Origin set. ok is false if ctx does not
// come from a [Server].
func KeyFrom(ctx context.Context) (Key, bool) {
	k, ok := ctx.Value(keyOf{}).(*Key)
	if !ok {
		return Key{}, false
	}
	return *k, true
}

// identity is a key in the server, with its meaning for local and remote callers.
type identity struct {
	digest        [sha256.Size]byte
	local, remote *Key

	end      func()                   // called when the key is no longer valid
	afterEnd func(func()) func() bool // runs the function after that; nil for a key that stays valid
}

func newIdentity(k Key) identity {
	id := identity{digest: sha256.Sum256([]byte(k.Secret))}
	k.Secret, k.holder = "", k.Name
	return id.standFor(k)
}

// ofToken returns the identity of a named token.
func ofToken(t *tokens.Token) identity {
	ctx, end := context.WithCancel(context.Background())
	id := identity{digest: t.Digest(), end: end, afterEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
	name := "token/" + t.Name
	return id.standFor(Key{Name: name, Token: t, holder: name + "\x00" + t.SHA256})
}

// BrowserKey is the name of the [Key] of a browser in which a person has signed in.
const BrowserKey = "browser"

// ofBrowser returns the identity of a browser in which a person has signed in. Its requests end with signedOut.
func ofBrowser(signedOut context.Context) *identity {
	k := &Key{Name: BrowserKey, Origin: tool.Direct, Manage: true, holder: BrowserKey}
	return &identity{local: k, remote: k, afterEnd: func(f func()) func() bool { return context.AfterFunc(signedOut, f) }}
}

func (id identity) standFor(k Key) identity {
	mine, theirs := k, k
	if k.Origin == "" {
		mine.Origin, theirs.Origin = tool.MCPLocal, tool.MCPRemote
	}
	id.local, id.remote = &mine, &theirs
	return id
}

func (id *identity) key(local bool) *Key {
	if local {
		return id.local
	}
	return id.remote
}

// keyring holds the identities whose tokens are accepted.
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

// find returns the identity of secret, nil if there is none.
func (ring keyring) find(secret string) *identity {
	if secret == "" || len(secret) > maxSecret {
		return nil
	}
	return ring.match(digestOf(secret), nil)
}

func digestOf(secret string) [sha256.Size]byte {
	var buf [maxSecret]byte
	return sha256.Sum256(buf[:copy(buf[:], secret)])
}

// match returns the identity with this digest, or found. It always compares the whole digest of every key, so
// that the time does not reveal how close a guess was.
func (ring keyring) match(sum [sha256.Size]byte, found *identity) *identity {
	for i := range ring {
		if subtle.ConstantTimeCompare(sum[:], ring[i].digest[:]) == 1 {
			found = &ring[i]
		}
	}
	return found
}
