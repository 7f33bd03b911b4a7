package entry

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collie/internal/tool"
)

// This file reads the fields about how a server is treated: timeouts, prefix, trust, which tools are offered.

// readBehaviour reads the fields for the treatment of a server, which are not part of its identity.
func (o *object) readBehaviour() {
	e := &o.entry
	o.setText(&e.DisplayName, "displayName")
	o.setText(&e.Description, "description")
	o.setText(&e.About, "about")
	o.setText(&e.Registry, "registry")
	o.readEnabled()
	setWord(o, &e.Lifecycle, []lifecycle{Auto, Lazy, Eager, KeepAlive}, "lifecycle")
	setWord(o, &e.View, []tool.View{tool.Flat, tool.Grouped, tool.Search}, "view")
	setWord(o, &e.Sampling, []Answer{Forward, Ask, Off}, "sampling")
	setWord(o, &e.Elicitation, []Answer{Forward, Ask, Off}, "elicitation")
	setWord(o, &e.Isolation, []isolation{shared, Session}, "isolation")
	validate := "on"
	setWord(o, &validate, []string{"on", "off"}, "validate")
	e.Unchecked = validate == "off"
	o.readTimeouts()
	o.readPrefix()
	o.readTrust()
	var roots []string
	o.appendList(&roots, "roots")
	for i, r := range roots {
		if r == "~" || strings.HasPrefix(r, "~/") {
			r = "${userHome}" + r[1:]
		}
		v := o.shownValue("/roots/"+strconv.Itoa(i), r)
		if v.text != "" && !strings.Contains(v.text, "://") && !filepath.IsAbs(v.text) {
			v.text = filepath.Join(o.Dir, v.text)
		}
		e.Roots = append(e.Roots, v)
	}
}

// readEnabled reads "disabled" and "enabled": either one can switch the server off.
func (o *object) readEnabled() {
	enabled := true
	o.setBool(&o.entry.Disabled, "disabled")
	o.setBool(&enabled, "enabled")
	o.entry.Disabled = o.entry.Disabled || !enabled
}

// readTimeouts reads timeouts and related fields.
func (o *object) readTimeouts() {
	e := &o.entry
	o.setDuration(&e.IdleTimeout, "idleTimeout")
	o.setPositiveDuration(&e.StartTimeout, "startTimeout")
	o.setPositiveDuration(&e.ToolTimeout, "toolTimeout")
	o.setPositiveDuration(&e.MaxToolTimeout, "maxToolTimeout")
	if _, pointer, ok := o.field("timeout"); ok {
		o.warn(pointer, ruleUnit, `programs disagree on the unit of "timeout", so it is not used; write "toolTimeout": "60s"`)
	}
	o.readObject(func(r *object) {
		r.setCount(&e.Restart.Max, 0, "max")
		r.setPositiveDuration(&e.Restart.Window, "window")
		r.setPositiveDuration(&e.Restart.Base, "base")
		r.setPositiveDuration(&e.Restart.Cap, "cap")
	}, "restart")
	o.readObject(func(h *object) {
		enabled := true
		h.setBool(&enabled, "enabled")
		if raw, _, ok := h.field("ping", "interval"); ok && string(raw) == `"off"` {
			enabled = false
		} else {
			h.setDuration(&e.Health.Ping, "ping", "interval")
		}
		h.setCount(&e.Health.Failures, 1, "failures")
		if !enabled {
			e.Health.Ping = 0
		}
	}, "health", "heartbeat")
	if raw, _, ok := o.field("cache"); ok && jsonKind(raw) == "boolean" {
		o.setBool(&e.Cache.Enabled, "cache")
		return
	}
	o.readObject(func(c *object) {
		c.setBool(&e.Cache.Enabled, "enabled")
		c.setDuration(&e.Cache.MaxAge, "maxAge")
		c.setDuration(&e.Cache.MaxStale, "maxStale")
	}, "cache")
}

// readPrefix reads the prefix of tool names. A single word gets the default separator "__" behind it.
func (o *object) readPrefix() {
	s, pointer, ok := o.readText("prefix")
	switch {
	case !ok || s == "auto":
	case len(s) > 32 || !consistsOf(s, nameChars):
		o.fail(pointer, "value", "expected up to 32 of A-Z a-z 0-9 _ -, got %q", s)
	case s == "" || strings.HasSuffix(s, "_") || strings.HasSuffix(s, "-"):
		o.entry.Prefix = s
	default:
		o.entry.Prefix = s + "__"
	}
}

// readTrust reads "trust", a word in our format and a boolean in that of another host, and which tools run without asking.
func (o *object) readTrust() {
	e := &o.entry
	raw, _, ok := o.field("trust")
	switch {
	case ok && jsonKind(raw) == "boolean":
		o.setBool(&e.AutoApprove.All, "trust")
	case ok:
		setWord(o, &e.Trust, []trust{Pin, trustWarn, Trusted}, "trust")
	}
	raw, pointer, ok := o.field("autoApprove", "alwaysAllow")
	switch {
	case ok && jsonKind(raw) == "boolean":
		e.AutoApprove.All, _ = decode[bool](o.parser, pointer, raw, "")
	case ok:
		e.AutoApprove.Names, _ = decode[[]string](o.parser, pointer, raw, "a list of tool names, true or false")
	}
}

// readTools reads which tools are offered, in our form and in those of four other hosts.
func (o *object) readTools() {
	t := &o.entry.Tools
	if raw, _, ok := o.field("tools"); ok && jsonKind(raw) == "array" {
		o.appendGlobs(&t.Include, "tools")
	} else if ok {
		o.readObject(func(s *object) {
			s.appendGlobs(&t.Include, "include")
			s.appendGlobs(&t.Exclude, "exclude")
			s.readObject(func(m *object) { m.readOverrides(t) }, "override")
		}, "tools")
	}
	o.appendGlobs(&t.Include, "includeTools")
	o.appendGlobs(&t.Exclude, "excludeTools")
	o.appendGlobs(&t.Exclude, "disabledTools")
	o.readObject(func(f *object) {
		mode, list := "allow", []string(nil)
		setWord(f, &mode, []string{"allow", "block"}, "mode")
		f.appendGlobs(&list, "list")
		if mode == "block" {
			t.Exclude = append(t.Exclude, list...)
		} else {
			t.Include = append(t.Include, list...)
		}
	}, "toolFilter")
}

// appendGlobs appends the patterns of a field that is a list, and reports those that are not valid.
func (o *object) appendGlobs(to *[]string, name string) {
	var list []string
	o.appendList(&list, name)
	for i, g := range list {
		if _, err := path.Match(g, ""); err != nil {
			o.fail(o.pointer+"/"+name+"/"+strconv.Itoa(i), "value", "%q is not a pattern: %v", g, err)
			continue
		}
		*to = append(*to, g)
	}
}

// readOverrides reads an object of overrides by tool name.
func (o *object) readOverrides(t *tools) {
	t.Override = make(map[string]override, len(o.fields))
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		var v override
		o.readObject(func(s *object) {
			if raw, pointer, ok := s.field("enabled", "enable"); ok {
				if on, ok := decode[bool](o.parser, pointer, raw, "true or false"); ok {
					v.Enabled = &on
				}
			}
			s.setText(&v.Alias, "alias")
			if !ValidAlias(v.Alias) {
				s.warn(s.pointer+"/alias", "value", "%q is not used: letters, digits, _ and - make an alias, at most %d", v.Alias, maxAlias)
				v.Alias = ""
			}
			s.setText(&v.Description, "description")
			s.setBool(&v.Retry, "retry")
		}, name)
		t.Override[name] = v
	}
}

// maxAlias is the longest alias of a tool, in characters. Clients see it behind the prefix of its server.
const maxAlias = 64

// ValidAlias reports whether a tool can be shown under a name; an empty one shows its own.
func ValidAlias(name string) bool {
	return len(name) <= maxAlias && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
