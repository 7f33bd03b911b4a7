package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

// This file answers what the catalog itself serves: help pages, instructions, the search tools and unlisted resources.

// The URIs that the catalog itself serves.
const (
	ownScheme       = "collie://"
	helpURI         = ownScheme + "help/"         // followed by {tool} or {tool}/{action}
	instructionsURI = ownScheme + "instructions/" // followed by {server}
	serverURI       = ownScheme + "server/"       // followed by {server}/{escaped uri}
)

var _ tool.Source = (*Catalog)(nil)

// Name returns the name of the catalog as a source, for the audit.
func (c *Catalog) Name() string { return "collie" }

// Offer returns an empty offer: the catalog adds its own resources to its lists itself.
func (c *Catalog) Offer() *tool.Offer { return &emptyOffer }

var emptyOffer tool.Offer

// Run answers what the catalog serves itself: the search tools, help, instructions, and reads of URIs that no list
// names.
func (c *Catalog) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	if call.Kind == tool.KindCall && isSearch(call.Target) {
		return c.runSearch(call)
	}
	if call.Kind == tool.KindCall {
		page, err := c.help(ctx, call, strings.TrimPrefix(call.Target, helpURI))
		if err != nil {
			return tool.Result{}, err
		}
		return textResult(page), nil
	}
	switch uri := call.Target; {
	case strings.HasPrefix(uri, helpURI):
		page, err := c.help(ctx, call, strings.TrimPrefix(uri, helpURI))
		if err != nil {
			return tool.Result{}, err
		}
		return textResource(uri, "text/markdown", page), nil
	case strings.HasPrefix(uri, instructionsURI):
		name := strings.TrimPrefix(uri, instructionsURI)
		if o, ok := c.snapshot().findSource(call.Profile, name); ok && o.offer.Instructions != "" {
			return textResource(uri, "text/plain", o.offer.Instructions), nil
		}
	case strings.HasPrefix(uri, serverURI):
		return c.readOf(ctx, call)
	case !strings.HasPrefix(uri, ownScheme):
		return c.readAny(ctx, call)
	}
	return tool.Result{}, unknownNameError("read", "resource", call.Target, nil)
}

// readOf reads from the server that a URI of the form collie://server/… names.
func (c *Catalog) readOf(ctx context.Context, call *tool.Call) (tool.Result, error) {
	name, escaped, _ := strings.Cut(strings.TrimPrefix(call.Target, serverURI), "/")
	o, ok := c.snapshot().findSource(call.Profile, name)
	uri, err := url.PathUnescape(escaped)
	if !ok || err != nil || uri == "" {
		return tool.Result{}, unknownNameError("read", "resource", call.Target, nil)
	}
	inner := *call
	inner.Target = uri
	return aliasedSource{o.source, uri, call.Target}.Run(ctx, &inner)
}

// readAny asks each source that may know the URI, in order, until one does. If a source cannot be reached, the next
// are still asked; its error is returned only if none knows the URI.
func (c *Catalog) readAny(ctx context.Context, call *tool.Call) (tool.Result, error) {
	missing, silent := unknownNameError("read", "resource", call.Target, nil), false
	for _, src := range c.snapshot().view(call.Profile).fallbackReaders {
		r, err := src.Run(ctx, call)
		switch {
		case err == nil || ctx.Err() != nil || !notFound(err) && !isUnreachable(err):
			return r, err
		case !silent && isUnreachable(err):
			missing, silent = err, true
		}
	}
	return tool.Result{}, missing
}

// isUnreachable reports whether an error means that the source gave no answer at all.
func isUnreachable(err error) bool {
	switch tool.KindOf(err) {
	case tool.Unavailable, tool.Crashed, tool.Timeout, tool.Disabled:
		return true
	}
	return false
}

// notFound reports whether a source said that it has no such resource. Legacy revisions of MCP have the code -32002
// for it; 2026-07-28 uses invalid params (-32602). A server without resources answers -32601 (method not found).
func notFound(err error) bool {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return e.Code == -32002 || e.Code == -32602 || e.Code == -32601
	}
	return tool.KindOf(err) == tool.NotFound
}

// aliasedSource is a source that knows a resource by another URI than clients do.
type aliasedSource struct {
	tool.Source
	original, exposed string
}

// Run replaces the source's URI in the result by the one that clients know.
func (a aliasedSource) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	r, err := a.Source.Run(ctx, call)
	if err != nil || call.Kind != tool.KindRead {
		return r, err
	}
	for i, item := range gjson.GetBytes(r.Raw, "contents").Array() {
		if item.Get("uri").String() != a.original {
			continue
		}
		raw, err := sjson.SetBytes(r.Raw, fmt.Sprintf("contents.%d.uri", i), a.exposed)
		if err != nil {
			return r, &tool.Error{Op: "read", Kind: tool.Upstream, Subject: a.exposed, Err: err}
		}
		r.Raw = raw
	}
	return r, nil
}

// help returns the help page of a Tool, or of one of its actions, as far as the profile shows them.
func (c *Catalog) help(ctx context.Context, call *tool.Call, path string) (string, error) {
	name, action, _ := strings.Cut(path, "/")
	s := c.snapshot()
	p := &s.view(call.Profile).profile
	_, t := s.findTool(name)
	if t == nil || len(shownActions(t, p)) == 0 {
		return "", unknownNameError("help", "tool", name, s.toolNames(p))
	}
	actions := shownActions(t, p)
	if action == "" {
		if t.Help != nil {
			return t.Help(ctx, call.Profile, "")
		}
		return toolPage(t, actions), nil
	}
	var known []string
	for _, a := range actions {
		if a.Is(action) {
			if t.Help != nil {
				return t.Help(ctx, call.Profile, a.Name)
			}
			return actionPage(t, a), nil
		}
		known = append(known, a.Shown())
	}
	err := &tool.Error{
		Op: "help", Kind: tool.Invalid, Code: "unknown_help_topic", Subject: t.Name, Message: fmt.Sprintf("unknown topic %q", action),
		Hint: "topics: " + strings.Join(known, ", "), Facts: map[string]any{"validTopics": known},
	}
	if near, ok := tool.Nearest(action, known); ok {
		err.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return "", err
}

// toolNames returns the Tools of which a profile shows something.
func (s *snapshot) toolNames(p *Profile) []string {
	var names []string
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			if t := &o.offer.Tools[i]; len(shownActions(t, p)) > 0 {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

func toolPage(t *tool.Tool, actions []*tool.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", t.Name, strings.TrimSpace(t.Description))
	for _, a := range actions {
		fmt.Fprintf(&b, "- `%s` %s\n", signature(a), firstLine(a.Description, 160))
	}
	fmt.Fprintf(&b, "\nAsk with topic=<action> for an action's arguments.\n")
	return b.String()
}

// actionPage returns the part of an action's definition that a grouped tool has no room for.
func actionPage(t *tool.Tool, a *tool.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\n%s\n\n`%s`\n\n```json\n%s\n```\n",
		t.Name, a.Shown(), strings.TrimSpace(a.Description), signature(a), a.InputSchema)
	for _, member := range []string{"outputSchema", "annotations"} {
		if raw := gjson.GetBytes(a.Definition, member).Raw; raw != "" {
			fmt.Fprintf(&b, "\n%s:\n\n```json\n%s\n```\n", member, raw)
		}
	}
	return b.String()
}

func textResult(text string) tool.Result {
	o := orderedObject{}
	o.add("content", []map[string]string{{"type": "text", "text": text}})
	return tool.Result{Raw: o.bytes()}
}

func textResource(uri, media, text string) tool.Result {
	o := orderedObject{}
	o.add("contents", []map[string]string{{"uri": uri, "mimeType": media, "text": text}})
	return tool.Result{Raw: o.bytes()}
}

// addOwn lists the resources that the catalog serves itself, as far as they would be of use in this profile.
func (v *view) addOwn(s *snapshot, resources, templates *list) {
	for _, o := range s.offers {
		if !v.profile.showsSource(o.source) {
			continue
		}
		if len(cutRunes(o.offer.Instructions, 500)) < len(o.offer.Instructions) {
			resources.add(ownEntry("uri", instructionsURI+o.source.Name(), "Instructions of "+o.source.Name(), "text/plain"))
		}
	}
	for _, name := range v.names {
		if v.tools[name].grouped {
			templates.add(ownEntry("uriTemplate", helpURI+"{tool}/{action}", "Help for an action", "text/markdown"))
			return
		}
	}
}

func ownEntry(field, uri, name, media string) json.RawMessage {
	o := orderedObject{}
	o.add(field, uri)
	o.add("name", name)
	o.add("mimeType", media)
	return o.bytes()
}
