package natsstore

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/tool"
)

// The keys of the bucket.
const (
	manifestKey = "manifest"
	entryPrefix = "entry."
	leasePrefix = "lease."
)

const (
	format   = 1         // what this package writes; a manifest of a higher one is not touched
	maxPlain = 256 << 20 // bytes that anything may unpack to
)

// manifest is everything that is kept. The zero value is that of an empty bucket.
type manifest struct {
	Format      int             `json:"format"`
	TotalWrites uint64          `json:"totalWrites"`
	Entries     map[string]blob `json:"entries"`
	Retired     []retired       `json:"retired,omitempty"`
}

// blob is an entry in the bucket.
type blob struct {
	ID     string `json:"id"`
	Chunks int    `json:"chunks"`
	Size   int    `json:"size"` // unpacked
	SHA256 string `json:"sha256"`
}

// retired is a blob that was replaced and may still be read.
type retired struct {
	ID string `json:"id"`
	// At is when the server took the manifest that no longer names it; zero in that manifest.
	At time.Time `json:"at,omitzero"`
}

// manifest reads the newest manifest, its revision and when the server took it. None is the
// zero manifest of revision 0.
func (b *bucket) manifest(ctx context.Context) (m manifest, revision uint64, taken time.Time, err error) {
	kept, err := b.kv.Get(ctx, manifestKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return manifest{}, 0, time.Time{}, nil
	}
	if err != nil {
		return manifest{}, 0, time.Time{}, err
	}
	raw, err := unpack(kept.Value(), maxPlain)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	switch {
	case err != nil || m.Format < 1:
		return manifest{}, 0, time.Time{}, &tool.Error{
			Op: "read shared tool cache", Kind: tool.Upstream, Subject: "key " + manifestKey, Message: "is not what this program writes", Err: err,
			Hint: "give the tool cache a bucket of its own, or delete this one",
		}
	case m.Format > format:
		return manifest{}, 0, time.Time{}, &tool.Error{
			Op: "read shared tool cache", Kind: tool.Unavailable, Subject: "key " + manifestKey,
			Message: "was written by a newer version of this program",
			Hint:    "update this one, or give it a bucket of its own",
		}
	}
	return m, kept.Revision(), kept.Created(), nil
}

// next begins the manifest after m, which the server took at taken: what was retired with m
// is dated, and what is older than keep by the server's clock is left out and returned.
func (m manifest) next(taken time.Time, keep time.Duration) (n manifest, spare []string) {
	n = manifest{Format: format, TotalWrites: m.TotalWrites, Entries: maps.Clone(m.Entries)}
	if n.Entries == nil {
		n.Entries = map[string]blob{}
	}
	for _, r := range m.Retired {
		if r.At.IsZero() {
			r.At = taken
		}
		if taken.Sub(r.At) > keep {
			spare = append(spare, r.ID)
			continue
		}
		n.Retired = append(n.Retired, r)
	}
	return n, spare
}

// names reports whether a blob is, or was until recently, part of what is kept.
func (m manifest) names(id string) bool {
	for _, e := range m.Entries {
		if e.ID == id {
			return true
		}
	}
	return slices.ContainsFunc(m.Retired, func(r retired) bool { return r.ID == id })
}

// pack compresses what is longer than a threshold, where it helps. What is packed is told by its first byte, which no JSON has.
func pack(raw []byte, threshold int) ([]byte, error) {
	if len(raw) <= threshold {
		return raw, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if b.Len() < len(raw) {
		return b.Bytes(), nil
	}
	return raw, nil
}

func unpack(raw []byte, limit int) ([]byte, error) {
	if len(raw) > 0 && raw[0] == 0x1f {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		if raw, err = io.ReadAll(io.LimitReader(z, int64(limit)+1)); err != nil {
			return nil, err
		}
	}
	if len(raw) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return raw, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
