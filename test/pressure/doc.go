// Package pressure asks whether anything is lost where clients read more slowly than servers
// answer: over the pipes of `collie stdio`, over the bridge to a running `collie serve`, and over
// HTTP. Clients are raw, so that they read just as fast as a test wants. The stories print what
// they measured:
//
//	go test -tags stories -v ./test/pressure
package pressure
