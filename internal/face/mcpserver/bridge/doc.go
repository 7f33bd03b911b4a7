// Package bridge carries what one MCP client says on its pipes to a gateway that runs
// already, and back, so that several clients of one home share the servers of one gateway.
//
//	client ── lines ── Serve ──┬── HTTP ── the gateway of this home (collie serve)
//	                           └── Opened: a gateway in this process, when that one has gone
//
// Messages pass as the bytes they came in. Each request is an HTTP exchange of its own, so
// that none waits for another, and the answer goes to the client as it arrives. Of a legacy
// client the bridge keeps what makes its session: initialize, the log level, and the
// resources it listens to. When the gateway goes away it looks for another one, opens one in
// this process if none comes back, and sets the session up there anew; the client sees that
// lists may have changed, and an error for those of its requests that may have been carried
// out. Requests that only read are asked again.
//
// Where a gateway is, and how one is opened, is the caller's to know: see [Options]. The
// entry point is [Serve].
package bridge
