// Package api is the HTTP side of the vault: routes, requests as SiYuan reads them and answers as SiYuan writes them.
//
// A family of endpoints is a package of its own beside this one with a function
//
//	func Register(mux *api.Mux)
//
// that adds its routes. A handler runs in one transaction of the workspace: a route added with [Mux.Read] sees a
// snapshot and must change nothing, one added with [Mux.Write] runs alone, and one added with [Mux.ReadFirst] runs alone
// only if it has to. What a write changed is kept only if it answers code 0; SiYuan sometimes keeps half of what failed,
// the vault never does.
//
// Answers, down to their wording, are those of the recordings of kernel 3.7.3.
package api
