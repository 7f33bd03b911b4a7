// Package api is the HTTP layer of the vault: it has the routes, parses requests as SiYuan does, and writes answers as
// SiYuan does.
//
// Each family of endpoints is a package of its own next to this one, with a function
//
//	func Register(mux *api.Mux)
//
// that adds its routes. A handler runs in one transaction of the workspace. A route added with [Mux.Read] sees a
// snapshot and must change nothing, one added with [Mux.Write] runs alone, and one added with [Mux.ReadFirst] runs
// alone only if it has to. The changes of a write are kept only if it answers code 0. SiYuan sometimes keeps half of a
// call that failed; the vault never does.
//
// Answers, including their wording, follow the recordings of kernel 3.7.3.
package api
