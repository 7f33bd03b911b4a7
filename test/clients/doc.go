// Package clients runs MCP clients that people use, as they come from npm, against Collie.
//
// Each starts with an empty home: `collie connect CLIENT` writes its settings, then the client works with the fake model
// of test/fakellm, which follows a script. The tests check which of Collie's tools the model is shown, from the first
// session on, and what their calls return. Another story checks the fake model against the SDKs of the model providers,
// and one uses every view with the clients of the official MCP SDKs for Go and TypeScript, in both eras. All have the
// build tag stories:
//
//	go test -tags stories -v ./test/clients              half a minute, as `make stories` runs it
//	go test -tags stories -v ./test/clients -args -full  each client connected in both ways, each view in each era: `make clients`
//
// package-lock.json pins the programs; nothing but 127.0.0.1 is reached once they are installed. The
// servers, and a Node that the SDKs run on, are those of test/conformance.
package clients
