package pins

// This file bounds what one server may put into the file of pins, which all servers share.

// limits bound the file and the part of it that one server may fill.
type limits struct {
	file int // bytes of the file; what would make it larger is not written
	// tools bounds how many tools of a server are pinned, those that it no longer has included.
	tools int
	// definitions bounds the pinned definitions of a server in bytes, and the pending ones once more. Of those beyond
	// it only hash and digest are kept, by which a change still shows.
	definitions int
}

// defaultLimits allow a server five times the tools that one list may have.
var defaultLimits = limits{file: maxFile, tools: 10_000, definitions: 2 << 20}

// room is what a server may still add.
type room struct {
	tools           int
	pinned, pending int // bytes of definitions
}

// roomFor returns what a server may still add.
func (b *pinBook) roomFor(server string) room {
	most := b.store.limits
	left := room{most.tools, most.definitions, most.definitions}
	for _, r := range b.pins[server] {
		left.take(nil, r)
	}
	return left
}

// take records that a record has replaced old, which is nil for a new tool.
func (left *room) take(old, now *record) {
	pinnedBefore, pendingBefore := old.sizes()
	pinned, pending := now.sizes()
	left.pinned -= pinned - pinnedBefore
	left.pending -= pending - pendingBefore
	if old == nil {
		left.tools--
	}
}

// sizes returns the bytes of the pinned and of the pending definition.
func (r *record) sizes() (pinned, pending int) {
	if r == nil {
		return 0, 0
	}
	if pinned = len(r.definition); pinned == 0 && r.stored {
		pinned = r.size
	}
	if r.pending != nil {
		pending = len(r.pending.definition)
	}
	return pinned, pending
}

// warnFull logs, once for a server, that there is no room for more of its definitions.
func (b *pinBook) warnFull(server string) {
	if !b.full[server] {
		b.full[server] = true
		b.store.log.Warn("a server has too many tools, or too large ones, for all of their definitions to be kept", "server", server)
	}
}
