package keypool

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// lookTime is how long it takes at most until a refused key is tried that has another secret.
const lookTime = time.Minute

// stale is a key that was refused, and whose secret may be another one by now.
func (pr *provider) stale(now func() time.Time) *key {
	if pr.troubled {
		for _, k := range pr.keys {
			if k.invalid && !k.Disabled && (k.lookAt == 0 || now().UnixNano() >= k.lookAt) {
				return k
			}
		}
	}
	return nil
}

// later is when a refused key's secret is read again.
func (p *Pool) later() int64 { return p.now().Add(lookTime).UnixNano() }

// look takes a refused key up again if its secret is another one.
func (p *Pool) look(ctx context.Context, k *key) {
	p.mu.Lock()
	ref := k.Secret
	p.mu.Unlock()
	secret, err := "", error(nil)
	if ref != "" {
		secret, err = p.secret(ctx, ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.lookAt = p.later()
	if err == nil && k.Secret == ref && markOf(secret) != k.mark {
		k.forget()
		k.secret, k.resolved, k.mark = secret, true, markOf(secret)
		p.touch(k)
	}
}

// resolve reads the secret of a key that was chosen. One that cannot be read leaves the key out.
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
			k.invalid, k.lookAt, k.why, k.mark = true, p.later(), err.Error(), ""
			p.providers[l.Provider].trouble()
			p.touch(k)
		}
		return err
	}
	k.secret, k.resolved, k.mark = secret, true, markOf(secret)
	l.secret = secret
	return nil
}

func (pr *provider) trouble() {
	if pr != nil {
		pr.troubled = true
	}
}

// markOf tells two secrets apart and says nothing of either.
func markOf(secret string) string {
	sum := sha256.Sum256([]byte("collie key " + secret))
	return fmt.Sprintf("%x", sum[:6])
}

// rotated reads the secret of a refused key once more and reports whether it is another one.
func (p *Pool) rotated(ctx context.Context, l *Lease) bool {
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
	l.key.secret, l.key.resolved, l.key.mark = secret, true, markOf(secret)
	l.secret = secret
	return true
}
