// Package action says what an action of the SiYuan tools is. One [Action] value is the only
// place that says it: its arguments, what it needs and touches, whether it is dangerous, what
// comes back. The JSON Schema, the signature, help pages, command line flags, the check of
// levels, the audit's class and the reference are all made of it.
//
//	type readArgs struct {
//		Path string `json:"path" about:"human path" req:"true"`
//	}
//
//	action.New(action.Spec{
//		Tool: "fs", Name: "read", Purpose: "Read a document as Markdown",
//		Needs: []action.Need{…},
//	}, func(ctx context.Context, r *action.Request, a readArgs) (any, error) { … })
//
// Running one goes: aliases and obvious types put right ([Action.Adapt]), arguments decoded and
// held against what the schema cannot say, every target of every [Need] resolved and its level
// checked, and only then the function. So a function may take for granted that it is allowed
// to do to its targets what its Needs say, and to nothing else: what it meets besides, it has
// to filter ([Request.Readable]).
//
// What an action does to the kernel is the tool folders'; who may call it is the pipeline's.
package action
