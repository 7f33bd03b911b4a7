package keypool

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// This file reads the secrets of keys, and again after a provider has refused one.

// recheckInterval is the time between attempts to read the secret of a refused key again.
const recheckInterval = time.Minute

// keyToRecheck returns a refused key whose secret is due to be read again, or nil.
func (pr *provider) keyToRecheck(now func() time.Time) *key {
	if pr.limited {
		for _, k := range pr.keys {
			if k.invalid && !k.Disabled && (k.recheckAt == 0 || now().UnixNano() >= k.recheckAt) {
				return k
			}
		}
	}
	return nil
}

// nextRecheck returns when to read the secret of a refused key again.
func (p *Pool) nextRecheck() int64 { return p.now().Add(recheckInterval).UnixNano() }

// recheckSecret reads the secret of a refused key again, and makes the key usable if the secret was replaced.
func (p *Pool) recheckSecret(ctx context.Context, k *key) {
	p.mu.Lock()
	ref := k.Secret
	p.mu.Unlock()
	secret, err := "", error(nil)
	if ref != "" {
		secret, err = p.secret(ctx, ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.recheckAt = p.nextRecheck()
	if err == nil && k.Secret == ref && fingerprintOf(secret) != k.fingerprint {
		k.clear()
		k.secret, k.resolved, k.fingerprint = secret, true, fingerprintOf(secret)
		p.markDirty(k)
	}
}

// resolve reads the secret of the key of l. If that fails, the key is invalid until the secret can be read.
func (p *Pool) resolve(ctx context.Context, l *Lease) error {
	p.mu.Lock()
	k, ref := l.key, l.key.Secret
	p.mu.Unlock()
	secret, err := "", error(nil)
	if ref != "" {
		secret, err = p.secret(ctx, ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			k.invalid, k.recheckAt, k.why, k.fingerprint = true, p.nextRecheck(), err.Error(), ""
			p.providers[l.Provider].markLimited()
			p.markDirty(k)
		}
		return err
	}
	k.secret, k.resolved, k.fingerprint = secret, true, fingerprintOf(secret)
	l.secret = secret
	return nil
}

// markLimited makes the next pick check the state of all keys. pr may be nil, if the provider was removed.
func (pr *provider) markLimited() {
	if pr != nil {
		pr.limited = true
	}
}

// fingerprintOf returns a short hash, to compare secrets without keeping them.
func fingerprintOf(secret string) string {
	sum := sha256.Sum256([]byte("collie key " + secret))
	return fmt.Sprintf("%x", sum[:6])
}

// secretChanged reads the secret of a refused key again and reports whether it was replaced. If so, l holds the new one.
func (p *Pool) secretChanged(ctx context.Context, l *Lease) bool {
	p.mu.Lock()
	ref := l.key.Secret
	p.mu.Unlock()
	if ref == "" {
		return false
	}
	secret, err := p.secret(ctx, ref)
	if err != nil || secret == l.secret {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.key.secret, l.key.resolved, l.key.fingerprint = secret, true, fingerprintOf(secret)
	l.secret = secret
	return true
}
