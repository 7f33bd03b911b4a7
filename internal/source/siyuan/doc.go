// Package siyuan is the Source of the SiYuan tools: eleven tools that work in a person's notes,
// and a twelfth that is off by default. It is assembled from the folders below it:
//
//	kernel       the HTTP API of a SiYuan kernel
//	access       levels of notebooks, switches of tools
//	connection   which kernel, with which token
//	action       what an action is: one value says everything about it
//	content      what blocks hold: windows, exact edits, overwrites
//	safety       writes that run once, against the state that was seen, and can be undone
//	fs … mascot  one folder a tool, one file an action
//
// A call goes: the switches of now, the levels of now, every target resolved and checked, for a
// write the rules of safe writing, the action, the slim form of its result. What comes before,
// such as validation and the question to a person, is the pipeline's. The entry point is [New].
//
// What the tools say of themselves is paid for by every request of every client, so it is kept
// small: a description has about 50 tokens, what the tool is for and what its ids are, and at
// most 85, though a model would also take 200. What the rest could say (each argument, each rule,
// examples) is one call of help away, is needed for one action at a time, and would cost 1,500
// tokens a request in all eleven. TestSize holds the whole list to its budget.
package siyuan
