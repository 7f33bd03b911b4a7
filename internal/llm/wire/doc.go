// Package wire carries one request to one provider and its answer back: HTTP with deadlines that fit streams, frames cut
// from the bytes, failures put into classes. What stands in bodies is the matter of a [Codec], one for each API.
//
// A [Client] makes one attempt with one key and never retries, since who holds several keys knows better.
package wire
