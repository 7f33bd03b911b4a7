package mcptest

import (
	"context"
	"slices"
	"strings"
)

// This file finds the handler for a request, by its method and era.

// handler answers the request in c.
type handler func(s *server, ctx context.Context, c *call)

// The methods of each era. A handler that serves both eras decides itself what to do differently.
var (
	commonMethods = map[string]handler{
		"tools/list":               (*server).listTools,
		"tools/call":               (*server).callTool,
		"resources/list":           (*server).listResources,
		"resources/templates/list": (*server).listTemplates,
		"resources/read":           (*server).readResource,
		"prompts/list":             (*server).listPrompts,
		"prompts/get":              (*server).getPrompt,
		"completion/complete":      (*server).complete,
	}
	legacyMethods = map[string]handler{
		"initialize":            (*server).initialize,
		"ping":                  (*server).ping,
		"logging/setLevel":      (*server).setLevel,
		"resources/subscribe":   (*server).subscribe,
		"resources/unsubscribe": (*server).unsubscribe,
	}
	modernMethods = map[string]handler{
		"server/discover":      (*server).discover,
		"subscriptions/listen": (*server).listen,
	}
)

// capabilityOf maps a method to the capability it needs.
var capabilityOf = map[string]string{
	"tools/list": "tools", "tools/call": "tools",
	"resources/list": "resources", "resources/templates/list": "resources", "resources/read": "resources",
	"resources/subscribe": "resources", "resources/unsubscribe": "resources",
	"prompts/list": "prompts", "prompts/get": "prompts",
	"completion/complete": "completions", "logging/setLevel": "logging",
}

// decideEra sets the era of a request. A server of both eras goes by the request itself (2026-07-28,
// versioning: backward compatibility).
func (s *server) decideEra(c *call) {
	c.modern = s.opts.modern() && (!s.opts.legacy() || c.meta.version != "" ||
		c.header.Get(versionHeader) >= modernFrom)
}

// admit returns the handler of a request. It returns nil if there is nothing left to do: the request was
// refused or stays unanswered.
func (s *server) admit(c *call) handler {
	if c.method == "server/discover" && s.opts.discoverError != "" {
		c.refuseRaw(codeInternal, s.opts.discoverError)
		return nil
	}
	if c.modern && !s.admitModern(c) {
		return nil
	}
	h := s.findHandler(c)
	if h == nil {
		if s.opts.silentUnknown {
			c.out.sendResponse(0) // ends the HTTP response without a message
			return nil
		}
		c.refuse(codeMethodNotFound, "Method not found: "+c.method, "")
		return nil
	}
	if !c.modern && !s.admitLegacy(c) {
		return nil
	}
	return s.delayed(c, h)
}

// delayed returns h itself, or a handler that answers late or never if the options say so for the method.
func (s *server) delayed(c *call, h handler) handler {
	switch {
	case slices.Contains(s.opts.hang, c.method):
		return func(_ *server, ctx context.Context, _ *call) { <-ctx.Done() }
	case slices.Contains(s.opts.slow, c.method):
		return func(s *server, ctx context.Context, c *call) {
			if pause(ctx, s.opts.slowBy) {
				h(s, ctx, c)
			}
		}
	}
	return h
}

// findHandler returns the handler of the method in the request's era; nil if the server does not have it.
func (s *server) findHandler(c *call) handler {
	if capability, ok := capabilityOf[c.method]; ok && !s.opts.has(capability) {
		return nil
	}
	if h, ok := commonMethods[c.method]; ok {
		return h
	}
	if strings.HasPrefix(c.method, vendorPrefix) {
		return vendorRequest
	}
	if c.modern {
		return modernMethods[c.method]
	}
	return legacyMethods[c.method]
}

// mayBlock reports whether the request may wait for something; then it must not keep stdio from being read.
func (s *server) mayBlock(c *call) bool {
	if slices.Contains(s.opts.hang, c.method) || slices.Contains(s.opts.slow, c.method) {
		return true
	}
	return c.method == "subscriptions/listen" || c.method == "tools/call" && s.tools[c.name].blocks
}

// handleNotification does what a notification of the client asks for, and ignores others.
func (s *server) handleNotification(p *peer, m *message) {
	if s.opts.askRoots && (m.method == "notifications/initialized" || m.method == "notifications/roots/list_changed") {
		s.askRoots(p)
	}
	if m.method == "notifications/vendor/go" {
		p.vendorGo <- struct{}{}
	}
	if m.method == "notifications/cancelled" {
		if id := m.params.Get("requestId").Raw; p.cancel(id) {
			s.logf("cancelled %s", id)
		}
	}
}
