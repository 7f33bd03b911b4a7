// Package wire sends one request to one provider and reads its answer: HTTP with timeouts that suit streams, frames
// split from bytes, failures classified. What a request or response body contains is up to a [Codec], one for each API.
//
// A [Client] makes one attempt with one key and never retries: only its caller knows whether there are other keys.
package wire
