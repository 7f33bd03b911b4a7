// Package toolcache keeps what MCP servers offer on disk, so that a restart lists every tool
// before any server runs.
//
// A [Cache] is what one gateway knows: entries by server name, loaded once at start, changed
// in memory at once and written in the background. Where entries lie is a [Backend]'s: the
// file beside the configuration, and optionally a second one that several gateways share.
// The cache is never needed for correctness: whatever goes wrong with it is a warning and a
// counter, and the gateway works on without it.
//
// The file of a host is joined with what other processes write there, kept whole
// when one of them is killed, and kept aside when it is broken. [Verify], [Migrate] and
// [Cache.Import] are what people do with such files. Entries stay bytes until somebody looks them
// up, so that a start costs one pass over the file; a list that has been tampered with is found
// then and is not served.
//
// What it leaves to others: whether a server is started, what a list means and what clients
// see is package upstream's; what makes a server's identity is package entry's.
package toolcache
