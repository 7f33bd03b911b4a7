package secret

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zalando/go-keyring"
)

// This file keeps secrets in the keyring of the system, long ones in parts.

const (
	service = "collie"
	// partSize is the size in bytes that every system's keyring accepts for one item. The limit of Windows is
	// 2,560 bytes, that of macOS 4 KiB in Base64, including the names.
	partSize = 1800
	// splitMark starts the item of a secret that is split into parts. The parts' tag and number follow. A
	// value that itself starts with it is always split.
	splitMark = "collie-split:"
)

// ringBackend keeps secrets in a keyring. A long secret is split into parts beside its item, which names
// them. The item is written last, so that a reader finds either all old parts or all new ones.
type ringBackend struct {
	keyring timedRing
	index   indexFile
}

// probe returns an error if the keyring does not work.
func (b *ringBackend) probe(ctx context.Context) error {
	_, _, err := b.item(ctx, "probe")
	return err
}

// item returns one item of the keyring.
func (b *ringBackend) item(ctx context.Context, name string) (value string, ok bool, err error) {
	value, err = b.keyring.ask(ctx, func(k keyring.Keyring) (string, error) { return k.Get(service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("ask the keyring: %w", err)
	}
	return value, true, nil
}

func (b *ringBackend) put(ctx context.Context, name, value string) error {
	_, err := b.keyring.ask(ctx, func(k keyring.Keyring) (string, error) { return "", k.Set(service, name, value) })
	if err != nil {
		return fmt.Errorf("write to the keyring: %w", err)
	}
	return nil
}

func (b *ringBackend) drop(ctx context.Context, name string) error {
	_, err := b.keyring.ask(ctx, func(k keyring.Keyring) (string, error) { return "", k.Delete(service, name) })
	if err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("delete from the keyring: %w", err)
	}
	return nil
}

func (b *ringBackend) get(ctx context.Context, name string) (string, bool, error) {
	const tries = 3 // another process may change it meanwhile
	for range tries {
		head, ok, err := b.item(ctx, name)
		if err != nil || !ok {
			return "", false, err
		}
		parts, split := partsOf(name, head)
		if !split {
			return head, true, nil
		}
		value, whole, err := b.join(ctx, parts)
		if err != nil || whole {
			return value, whole, err
		}
	}
	return "", false, fmt.Errorf("secret %s is not whole in the keyring: set it again", name)
}

// join returns the value of a secret that is split. whole is false if a part is missing.
func (b *ringBackend) join(ctx context.Context, parts []string) (value string, whole bool, err error) {
	var text strings.Builder
	for _, p := range parts {
		v, ok, err := b.item(ctx, p)
		if err != nil || !ok {
			return "", false, err
		}
		text.WriteString(v)
	}
	return text.String(), true, nil
}

func (b *ringBackend) set(ctx context.Context, name, value string) error {
	return b.index.update(ctx, func(x *index) error {
		old, err := b.oldParts(ctx, name)
		if err != nil {
			return err
		}
		head, parts := value, []string(nil)
		if len(value) > partSize || strings.HasPrefix(value, splitMark) {
			parts = splitValue(value)
			head = splitMark + rand.Text()[:8] + ":" + strconv.Itoa(len(parts))
		}
		names, _ := partsOf(name, head)
		for i, p := range parts {
			if err := b.put(ctx, names[i], p); err != nil {
				return err
			}
		}
		if err := b.put(ctx, name, head); err != nil {
			return err
		}
		x.add(name)
		return b.dropAll(ctx, old)
	})
}

func (b *ringBackend) delete(ctx context.Context, name string) error {
	return b.index.update(ctx, func(x *index) error {
		old, err := b.oldParts(ctx, name)
		if err != nil {
			return err
		}
		if err := b.dropAll(ctx, append([]string{name}, old...)); err != nil {
			return err
		}
		x.remove(name)
		return nil
	})
}

// oldParts returns the names of the parts that a secret has now.
func (b *ringBackend) oldParts(ctx context.Context, name string) ([]string, error) {
	head, _, err := b.item(ctx, name)
	if err != nil {
		return nil, err
	}
	parts, _ := partsOf(name, head)
	return parts, nil
}

func (b *ringBackend) dropAll(ctx context.Context, names []string) error {
	for _, n := range names {
		if err := b.drop(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// partsOf returns the names of the parts that an item refers to.
func partsOf(name, head string) (parts []string, split bool) {
	text, ok := strings.CutPrefix(head, splitMark)
	tag, count, counted := strings.Cut(text, ":")
	n, err := strconv.Atoi(count)
	if !ok || !counted || err != nil || n < 1 || n > maxValue {
		return nil, false
	}
	for i := range n {
		parts = append(parts, name+"#"+tag+"."+strconv.Itoa(i)) // names of secrets cannot contain #
	}
	return parts, true
}

// splitValue splits a value into parts, between characters, because some keyrings accept only text.
func splitValue(value string) (parts []string) {
	for len(value) > partSize {
		end := partSize
		for end > partSize-utf8.UTFMax && !utf8.RuneStart(value[end]) {
			end--
		}
		parts = append(parts, value[:end])
		value = value[end:]
	}
	return append(parts, value)
}
