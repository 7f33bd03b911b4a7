package source

import (
	"strings"
	"sync"

	"collie/internal/tool"
)

// This file has the catalog at one moment, which all requests read while the next one is built.

// snapshot is everything on offer at one moment.
type snapshot struct {
	revision uint64
	catalog  *Catalog
	offers   []sourceOffer

	mu    sync.Mutex
	views map[string]*view
}

type sourceOffer struct {
	source tool.Source
	offer  *tool.Offer
}

// newSnapshot reads the offers of c's sources. The caller holds c.mu.
func newSnapshot(c *Catalog, revision uint64) *snapshot {
	s := &snapshot{revision: revision, catalog: c, views: map[string]*view{}}
	for _, src := range c.sources {
		s.offers = append(s.offers, sourceOffer{src, src.Offer()})
	}
	return s
}

// view returns what a profile sees, built at its first use.
func (s *snapshot) view(profile string) *view {
	profile, p := s.catalog.profile(profile)
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[profile]
	if v == nil {
		v = newView(s, profile, &p)
		s.views[profile] = v
	}
	return v
}

// findTool returns the Tool with that name and its source.
func (s *snapshot) findTool(name string) (tool.Source, *tool.Tool) {
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			if t := &o.offer.Tools[i]; t.Name == name {
				return o.source, t
			}
		}
	}
	return nil, nil
}

// findSource returns the offer of the source with that name, if the profile sees anything of it.
func (s *snapshot) findSource(profile, name string) (sourceOffer, bool) {
	for _, o := range s.offers {
		if o.source.Name() == name {
			_, p := s.catalog.profile(profile)
			return o, p.showsSource(o.source)
		}
	}
	return sourceOffer{}, false
}

// instructions joins our own advice with that of the sources that the profile sees: at most 500 characters of each, 8
// KiB in all. A source's full advice is a resource.
func (s *snapshot) instructions(gateway string, p *Profile) string {
	const total, each, ours = 8 << 10, 500, 4 << 10
	var b strings.Builder
	b.WriteString(truncate(gateway, ours))
	for _, o := range s.offers {
		text := strings.TrimSpace(o.offer.Instructions)
		if text == "" || !p.showsSource(o.source) {
			continue
		}
		head := "\n\n## " + o.source.Name() + "\n"
		body := cutRunes(text, each)
		if len(body) < len(text) {
			body += "… (read " + instructionsURI + o.source.Name() + ")"
		}
		if b.Len()+len(head)+len(body) > total {
			break
		}
		b.WriteString(head + body)
	}
	return strings.TrimSpace(b.String())
}

// Instructions returns the advice to models from everything that a profile sees.
func (c *Catalog) Instructions(profile string) string {
	_, p := c.profile(profile)
	return c.snapshot().instructions(c.opts.Instructions, &p)
}

// Shows reports whether a profile sees anything of the named source.
func (c *Catalog) Shows(profile, source string) bool {
	_, ok := c.snapshot().findSource(profile, source)
	return ok
}

// truncate returns at most the first n bytes of s, without splitting a character.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// cutRunes returns at most the first n characters of s.
func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
