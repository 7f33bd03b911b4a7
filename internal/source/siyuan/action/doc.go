// Package action describes the actions of the SiYuan tools. One [Action] value holds everything about an action: its
// arguments, the levels it needs, what it changes, whether it is dangerous, and what it returns. The JSON Schema, the
// signature, help pages, command line flags, the check of levels, the audit's class and the reference are all derived
// from it.
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
// A call goes through these steps: aliases and obvious types are corrected ([Action.Adapt]), arguments are decoded
// and checked for what the schema cannot express, every target of every [Need] is resolved and its level checked, and
// then the function runs. So the function may do to its targets what its Needs declare, and nothing else. Whatever
// else it comes across it must filter ([Request.Readable]).
//
// The packages of the tools implement the actions; the pipeline decides who may call them.
package action
