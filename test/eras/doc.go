// Package eras asks whether a client of either protocol era can use a server of either era
// through Collie, in every direction that the protocol has: calls, progress, logs, questions
// of the server's, changes, subscriptions, completion, cancellation.
//
// The clients are the official Go SDK's, over stdio and over HTTP; the servers are fakemcp
// of each era, over stdio and over HTTP; between them runs the real program.
package eras
