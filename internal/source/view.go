package source

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidwall/sjson"
	"github.com/yosida95/uritemplate/v3"

	"collie/internal/tool"
)

// This file builds what one profile sees: its lists, and the target of each name in them.

// view is the part of a snapshot that one profile sees: its lists as they are sent, and the target of each name
// in them.
type view struct {
	name              string // name of the profile
	profile           Profile
	lists             map[tool.ListKind]func() (json.RawMessage, uint64) // with their digests; each is built when it is first asked for: a call needs only the names
	tools             map[string]target
	switchedOff       map[string]target // names of tools and actions that are switched off
	prompts           map[string]target
	resources         map[string]target
	uris              map[string]target // resources as if the profile hid none, since a URI means the same in all profiles
	templates         []templateTarget
	fallbackReaders   []tool.Source // sources that may know URIs that no list names, in order
	names             []string      // names of the listed tools, in order
	search            *searchTools  // the tools that the search tools stand for; nil if there are none
	shown             atomic.Bool   // a client has been sent its list of tools
	hasUnsavedChoices atomic.Bool   // has chosen views that are not stored yet
}

// target is the thing that an exposed name refers to.
type target struct {
	source   tool.Source
	tool     *tool.Tool
	action   *tool.Action
	grouped  bool
	original string // the source's own name for it
}

// isOff reports whether everything that the profile shows of the target is switched off.
func (t *target) isOff(p *Profile) bool {
	if t.grouped {
		return len(shownActions(t.tool, p)) == 0
	}
	return t.tool.Off != "" || t.action.Off != ""
}

// whyOff returns the reason why the target is off. The target must be off.
func (t *target) whyOff() string {
	if t.action != nil {
		return cmp.Or(t.tool.Off, t.action.Off)
	}
	return cmp.Or(t.tool.Off, "all its actions are")
}

type templateTarget struct {
	source  tool.Source
	pattern *uritemplate.Template
}

// newView builds what the profile p, called name, sees of s.
func newView(s *snapshot, name string, p *Profile) *view {
	v := &view{
		name: name, profile: *p, lists: map[tool.ListKind]func() (json.RawMessage, uint64){}, tools: map[string]target{}, switchedOff: map[string]target{},
		prompts: map[string]target{}, resources: map[string]target{},
	}
	if p.View == "" && p.Default == tool.Auto {
		views, fresh := s.choose(p, s.catalog.autoViews.views(name, p.Budget))
		v.profile.chosen = views
		v.hasUnsavedChoices.Store(fresh)
	}
	v.addTools(s, &v.profile)
	v.addResources(s, p)
	v.addPrompts(s, p)
	return v
}

// addTools builds the list of tools in the order of the sources: an entry for each action of a flat Tool, one for
// each grouped Tool, and at the end the three search tools if they stand for any Tool.
func (v *view) addTools(s *snapshot, p *Profile) {
	most := 3 // of the search tools
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			most += max(1, len(o.offer.Tools[i].Actions))
		}
	}
	want, targets := make([]nameRequest, 0, most), make([]target, 0, most)
	for _, o := range s.offers {
		for i := range o.offer.Tools {
			t := &o.offer.Tools[i]
			if p.viewOf(t) == tool.Grouped {
				if slices.ContainsFunc(t.Actions, func(a tool.Action) bool { return !a.DirectOnly && p.shows(t, a.Name) }) {
					want = append(want, nameRequest{owner: t.Name, original: t.Name, fixed: true})
					targets = append(targets, target{source: o.source, tool: t, grouped: true, original: t.Name})
				}
				continue
			}
			for j := range t.Actions {
				if a := &t.Actions[j]; p.shows(t, a.Name) && !a.DirectOnly {
					want = append(want, nameRequest{owner: t.Name, prefix: t.Prefix, original: a.Name, alias: a.Alias})
					targets = append(targets, target{source: o.source, tool: t, action: a, original: a.Name})
				}
			}
		}
	}
	for _, name := range []string{findName, describeName, callName} {
		want = append(want, nameRequest{owner: searchTool.Name, original: name, fixed: true})
	}
	var found []string
	v.tools, v.names = make(map[string]target, len(targets)), make([]string, 0, len(targets))
	for i, name := range exposedNames(want, *s.catalog.reserved.Load()...)[:len(targets)] {
		t := targets[i]
		if t.isOff(p) {
			v.switchedOff[name] = t
			continue
		}
		if _, exists := v.tools[name]; exists {
			s.catalog.log.Warn("two tools want one name, the first has it", "name", name, "tool", t.tool.Name)
			continue
		}
		v.tools[name] = t
		if p.viewOf(t.tool) == tool.Search {
			found = append(found, name)
		} else {
			v.names = append(v.names, name)
		}
	}
	v.addSearch(s, found)
	v.lists[tool.ListTools] = s.catalog.servedLists.once(v.toolList)
}

// toolList returns the list of tools as it is sent.
func (v *view) toolList() json.RawMessage {
	size := 0
	for _, name := range v.names { // sized first, or long lists would be copied again and again as they grow
		if a := v.tools[name].action; a != nil {
			size += len(a.Definition) + len(name) + 1
		}
	}
	list := newList(tool.ListTools, size)
	for _, name := range v.names {
		if t := v.tools[name]; t.grouped {
			list.add(groupDefinition(name, t.tool, shownActions(t.tool, &v.profile)))
		} else if t.action.Strict {
			list.addNamed(simplifiedDefinition(t.action.Definition), t.action.Name, name)
		} else {
			list.addNamed(t.action.Definition, t.action.Name, name)
		}
	}
	if v.search != nil {
		for _, def := range v.searchDefinitions() {
			list.add(def)
		}
	}
	return list.bytes()
}

// shownActions returns the actions that the profile shows and that are on; none if the Tool is off.
func shownActions(t *tool.Tool, p *Profile) []*tool.Action {
	if t.Off != "" {
		return nil
	}
	var out []*tool.Action
	for i := range t.Actions {
		if a := &t.Actions[i]; a.Off == "" && !a.DirectOnly && p.shows(t, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// withName returns a definition with another name. All other bytes stay.
func withName(def json.RawMessage, old, name string) json.RawMessage {
	if old == name {
		return def
	}
	return set(def, "name", name)
}

// set changes one string field of a definition. It cannot fail, since a definition is a JSON object.
func set(def json.RawMessage, field, value string) json.RawMessage {
	out, err := sjson.SetBytes(def, field, value)
	if err != nil {
		panic("source: a definition is not a JSON object: " + err.Error())
	}
	return out
}

// addResources lists resources and templates. A URI belongs to the first source that offers it. Later sources'
// resources of the same URI are listed under a URI of ours, and so is any URI that uses our own scheme.
func (v *view) addResources(s *snapshot, p *Profile) {
	resources, templates := newList(tool.ListResources, 0), newList(tool.ListTemplates, 0)
	v.uris = map[string]target{}
	for _, o := range s.offers {
		seen := p.showsSource(o.source)
		for i := range o.offer.Resources {
			r := &o.offer.Resources[i]
			uri, def := r.URI, r.Definition
			first, exists := v.uris[uri]
			if exists && first.source == o.source {
				continue // of a URI that one source lists twice, the first counts
			}
			if exists || strings.HasPrefix(uri, ownScheme) {
				uri = serverURI + o.source.Name() + "/" + url.PathEscape(r.URI)
				def = set(def, "uri", uri)
				s.catalog.log.Info("a resource URI is taken, this source's gets another", "uri", r.URI, "source", o.source.Name(), "now", uri)
			}
			if _, twice := v.uris[uri]; twice {
				continue
			}
			v.uris[uri] = target{source: o.source, original: r.URI}
			if seen {
				v.resources[uri] = v.uris[uri]
				resources.add(def)
			}
		}
		if !seen {
			continue
		}
		for i := range o.offer.Templates {
			t := &o.offer.Templates[i]
			templates.add(t.Definition)
			if pattern, err := uritemplate.New(t.Pattern); err == nil {
				v.templates = append(v.templates, templateTarget{o.source, pattern})
			} else {
				s.catalog.log.Debug("a resource template is not RFC 6570", "template", t.Pattern, "error", err)
			}
		}
		if o.offer.ReadsAny {
			v.fallbackReaders = append(v.fallbackReaders, o.source)
		}
	}
	v.addOwn(s, resources, templates)
	v.lists[tool.ListResources] = s.catalog.servedLists.once(resources.bytes)
	v.lists[tool.ListTemplates] = s.catalog.servedLists.once(templates.bytes)
}

// addPrompts builds the list of prompts. Names are chosen as if the profile hid none, so a prompt has the same name in
// all profiles.
func (v *view) addPrompts(s *snapshot, p *Profile) {
	var want []nameRequest
	var targets []target
	var defs []json.RawMessage
	for _, o := range s.offers {
		prefix, owner := o.source.Name()+"__", o.source.Name()
		if len(o.offer.Tools) == 1 {
			prefix = o.offer.Tools[0].Prefix // prompts get the prefix of the tools
		}
		for i := range o.offer.Prompts {
			prompt, prefix := &o.offer.Prompts[i], prefix
			if strings.HasPrefix(prompt.Name, owner+"_") {
				prefix = "" // the name already begins with its owner's
			}
			want = append(want, nameRequest{owner: owner, prefix: prefix, original: prompt.Name})
			targets = append(targets, target{source: o.source, original: prompt.Name})
			defs = append(defs, prompt.Definition)
		}
	}
	list := newList(tool.ListPrompts, 0)
	for i, name := range exposedNames(want) {
		if _, exists := v.prompts[name]; !exists && p.showsSource(targets[i].source) {
			v.prompts[name] = targets[i]
			list.addNamed(defs[i], targets[i].original, name)
		}
	}
	v.lists[tool.ListPrompts] = s.catalog.servedLists.once(list.bytes)
}

// list builds a list result, {"tools":[…]}.
type list struct {
	buf []byte
	any bool
}

// newList begins a list; size is the expected bytes of its elements.
func newList(kind tool.ListKind, size int) *list {
	head := `{"` + string(kind) + `":[`
	return &list{buf: append(make([]byte, 0, len(head)+size+2), head...)}
}

func (l *list) add(def json.RawMessage) {
	l.next()
	l.buf = append(l.buf, def...)
}

// next begins an element.
func (l *list) next() {
	if l.any {
		l.buf = append(l.buf, ',')
	}
	l.any = true
}

// addNamed adds a definition under another name; see withName. If the name is the first member, as in most
// definitions, the bytes are written straight into the list, without a copy.
func (l *list) addNamed(def json.RawMessage, old, name string) {
	rest, first := strings.CutPrefix(string(def[:min(len(def), len(nameFirst)+len(old)+1)]), nameFirst+old)
	if !first || rest != `"` || !plain(old) || !plain(name) {
		l.add(withName(def, old, name))
		return
	}
	l.next()
	l.buf = append(append(l.buf, nameFirst...), name...)
	l.buf = append(l.buf, def[len(nameFirst)+len(old):]...)
}

// nameFirst is how most definitions begin.
const nameFirst = `{"name":"`

// plain reports whether s needs no escaping in a JSON string.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

func (l *list) bytes() json.RawMessage { return append(l.buf, `]}`...) }
