// Package eras tests that a client of either protocol era can use a server of either era through Collie, for
// everything that the protocol offers: calls, progress, logs, questions of the server, changes,
// subscriptions, completion, cancellation.
//
// The clients are those of the official Go SDK, over stdio and HTTP. The servers are fakemcp of each era,
// over stdio and HTTP. The real program runs in between.
package eras
