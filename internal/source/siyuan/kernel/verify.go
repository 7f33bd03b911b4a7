package kernel

import (
	"context"
	"sync"
	"time"
)

// A Verifier checks that a kernel is the intended one before it gets requests. It is safe for concurrent use; nil accepts every
// kernel.
type Verifier struct {
	client *Client
	verify func(context.Context, *Client) error

	mu       sync.Mutex
	accepted time.Time // when verify last accepted the kernel
}

// verifyEvery is how long a verification holds. A person may open another workspace in SiYuan at any time, which answers at
// the same address.
const verifyEvery = 10 * time.Second

// NewVerifier returns a Verifier of the kernel of a client, which verify refuses with an error. It returns nil if verify is nil.
func NewVerifier(c *Client, verify func(context.Context, *Client) error) *Verifier {
	if verify == nil {
		return nil
	}
	return &Verifier{client: c, verify: verify}
}

// Verify returns an error unless the kernel is the intended one, or was it less than ten seconds ago.
func (v *Verifier) Verify(ctx context.Context) error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	accepted := v.accepted
	v.mu.Unlock()
	if !accepted.IsZero() && time.Since(accepted) < verifyEvery {
		return nil
	}
	if err := v.verify(ctx, v.client); err != nil {
		return err
	}
	v.mu.Lock()
	v.accepted = time.Now()
	v.mu.Unlock()
	return nil
}
